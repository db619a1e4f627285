"""Three short texts, and files that are written for tests."""

import gzip

TEXTS = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}


def write_files(folder, files):
    """Write name -> text or bytes (gzipped where the name says so) and give the folder."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path, data = folder / name, content.encode() if isinstance(content, str) else content
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder
