"""Models on disk that were changed by somebody who can compute checksums."""

import hashlib
import json

import numpy as np
from safetensors.numpy import load_file, save

from linktopics.storage.folder import MANIFEST
from linktopics.storage.manifest import manifest_checksum


def seal(folder, change):
    """Change model.json so that its checksum fits."""
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest.pop("checksum", None)
    manifest = change(manifest) or manifest
    manifest["checksum"] = manifest_checksum(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def replace_file(folder, start, data):
    """Put other bytes in place of a file, and let sizes and checksums in model.json fit."""
    (path,) = folder.glob(f"{start}-*.safetensors")
    data = data(load_file(path)) if callable(data) else data
    path.write_bytes(data)

    def change(manifest):
        entries = [*manifest["files"]]
        for chain in manifest["chains"]:
            entries += [chain["state"], *chain["samples"]]
        for entry in entries:
            if entry["file"] == path.name:
                entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())

    seal(folder, change)


def put(*path, to):
    """Return how to change a value of the manifest."""

    def change(manifest):
        for key in path[:-1]:
            manifest = manifest[key]
        manifest[path[-1]] = to

    return change


def array(name, change):
    """Return how to change an array of a file."""
    return lambda arrays: save({**arrays, name: np.ascontiguousarray(change(arrays[name]))})
