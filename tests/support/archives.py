"""A data set of two documents, and archives of it."""

import io
import tarfile

TOY = {"cora.content": b"p1\t1\t0\tfruit\np2\t1\t1\tfruit\n", "cora.cites": b"p1\tp2\np1\tp1\n"}


def archive(files, folder="cora/"):
    """Pack files into a tgz."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def put(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
