"""What a folder of a model holds."""

import json
import os

from linktopics.storage.folder import MANIFEST


def snapshot(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def assert_only_what_is_named(folder):
    named = [entry["file"] for entry in json.loads((folder / MANIFEST).read_text())["files"]]
    assert sorted(os.listdir(folder)) == sorted([MANIFEST, *named])
