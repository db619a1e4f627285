r"""Readers as targets. Several files in one input stand after lines of their names: ``\x00name``."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linktopics import DocumentNetwork

MAX_FILES = 12


# --------------------------------------------------------------------------------------------------------------------
# Files in bytes
# --------------------------------------------------------------------------------------------------------------------


def join(files: dict[str, bytes]) -> bytes:
    """Put files into one input."""
    return b"".join(b"\0" + name.encode() + b"\n" + content for name, content in files.items())


def split(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Give the files of an input; names lead nowhere but into the folder."""
    for part in data.split(b"\0")[:MAX_FILES]:
        name, _, content = part.partition(b"\n")
        parts = re.sub(rb"[^\w./ -]", b"", name)[:60].decode("latin-1").split("/")
        path = "/".join([one for one in parts if one.strip(". ")][:3])
        if path:
            yield path, content


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of an input into a folder; those whose name ends in .gz! are compressed first."""
    for name, content in split(data):
        path = folder / name.removesuffix("!")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(content, 1) if name.endswith("!") else content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue  # the name of a folder, or below a file


def looked_at(network: DocumentNetwork) -> str:
    """Look at a network in all the ways that cost little: what is wrong with it shows."""
    assert network.counts.shape == (network.n_documents, network.n_words)
    assert len(set(map(str, network.ids.tolist()))) <= len(network.ids) == network.n_documents
    assert network.counts.nnz == 0 or network.counts.data.min() > 0
    assert network.n_links == 0 or 0 <= network.links.min() <= network.links.max() < network.n_documents
    assert (network.links[:, 0] != network.links[:, 1]).all()
    network.fingerprint(), str(network.report), network.summary(io.StringIO()), network.subset([0])
    return repr(network)


# --------------------------------------------------------------------------------------------------------------------
# Targets
# --------------------------------------------------------------------------------------------------------------------


def jsonl(data: bytes, folder: Path) -> str:
    """Read documents.jsonl and links.csv; a field is a column where the last byte is odd."""
    unpack(data, folder)
    columns = ["year"] if data[-1:] and data[-1] % 2 else []
    return looked_at(DocumentNetwork.from_jsonl(folder, columns=columns))


def linqs(data: bytes, folder: Path) -> str:
    unpack(data, folder)
    return looked_at(DocumentNetwork.from_linqs(folder))


def ldac(data: bytes, folder: Path) -> str:
    unpack(data, folder)
    return looked_at(DocumentNetwork.from_ldac(folder, links_reversed=len(data) % 2 == 1))


def notes(data: bytes, folder: Path) -> str:
    unpack(data, folder)
    return looked_at(DocumentNetwork.from_folder(folder))


def opening(data: bytes, folder: Path) -> str:
    from linktopics.datasets import open_network

    unpack(data, folder)
    path = next((path for path in folder.iterdir() if path.is_file()), folder) if len(data) % 5 == 0 else folder
    return looked_at(open_network(path))


def texts(data: bytes, folder: Path) -> str:
    """Read stop words, and a text to ask about, as the command line does."""
    from linktopics.cli.options import _vectorizer
    from linktopics.cli.suggest import _read_text

    path = folder / ("text.md" if len(data) % 2 else "words.txt")
    path.write_bytes(data)
    text = _read_text(path)[0]
    vectorizer = _vectorizer({"stop_words": str(path)})
    return looked_at(DocumentNetwork.from_texts(["some plain words", text], vectorizer=vectorizer))


def config(data: bytes, folder: Path) -> Any:
    """Read a file of settings, and check them as far as `linktopics fit` does before it reads data."""
    from linktopics.cli import fit, runs
    from linktopics.features import resolve_features
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.storage.folder import ModelFolder

    path = folder / "settings.toml"
    path.write_bytes(data)
    chosen = fit.read_config(path)
    model = RelationalTopicModel(**fit.settings_of(chosen))
    runs.check_settings(model)
    runs.training_options(chosen, ModelFolder(folder / "model"))
    fit._columns(chosen)
    resolve_features(model.pair_features, model.intercept)
    return chosen


def results(data: bytes, folder: Path) -> Any:
    """Read the file of an evaluation that goes on."""
    from linktopics.evaluation.folds import ResultFile

    path = folder / "results.jsonl"
    path.write_bytes(data)
    with ResultFile(path) as file:
        return file.finished


def evaluation(data: bytes, folder: Path) -> Any:
    """Read the result of an evaluation that a report shows."""
    from linktopics.explorer.overview import describe_quality

    path = folder / "results.csv"
    path.write_bytes(data)
    found = describe_quality(path)
    json.dumps(found, allow_nan=False)
    return found


def archive(data: bytes, folder: Path) -> Any:
    """Unpack a tar archive, gzipped here unless it is already, as a download is unpacked."""
    from linktopics.datasets._download import _unpack

    packed = data if data[:2] == b"\x1f\x8b" else gzip.compress(data, 1)
    sums = {"a.content": "0" * 64, "a.cites": "0" * 64}
    return _unpack(io.BytesIO(packed), "https://example.org/a.tgz", sums, "do it by hand")


def cache(data: bytes, folder: Path) -> Any:
    """Read what stands in the cache of the standard library."""
    import os

    from linktopics.datasets import stdlib
    from linktopics.datasets._cache import read_json

    (folder / "stdlib.json").write_bytes(data)
    os.environ["LINKTOPICS_CACHE"] = str(folder)
    return stdlib._decode(read_json("stdlib.json"))


TARGETS: dict[str, Callable[[bytes, Path], Any]] = {
    one.__name__: one
    for one in (jsonl, linqs, ldac, notes, opening, texts, config, results, evaluation, archive, cache)
}


# --------------------------------------------------------------------------------------------------------------------
# Inputs to begin with
# --------------------------------------------------------------------------------------------------------------------

DOCUMENTS = [
    {"id": "a", "text": "apple pie and jam", "title": "A", "label": "x", "year": 1990},
    {"id": 2, "text": "plum pie", "year": None},
    {"id": "ç\u0301😀", "text": "", "label": 1.5, "year": [1, "b"]},
]
LINES = "\n".join(map(json.dumps, DOCUMENTS)).encode()
CSV = b'source,target,kind\na,2,x\n"2","a","quoted, ""so"""\n'
CONTENT, CITES = b"p1\t1\t0\t1\tfruit\np2\t0\t1\t1\tnut\np3 2 0 0 nut\n", b"p1\tp2\np3 p1\n"
LDAC = {
    "documents.txt": b"2 0:1 1:2\n\n1 2:1\n0:3 2:1\n", "vocab.txt": b"apple\npie\njam\n", "links.txt": b"0 1\n2 0\n",
    "titles.txt": b"A\nB\nC\nD\n", "ids.txt": b"a\tx\nb\tx\nc\ty\nd\ty\n",
}  # fmt: skip
NOTES = {
    "one.md": b"---\ntitle: One\naliases: [First, \"the 1st\"]\ntags:\n  - a/b\n---\n# Heading\n[[two#part|shown]] and "
    b"[three](sub/three.md 'x') ![[picture.png]] <b>bold</b> `code` ((0123))\n",
    "two.txt": b"plain text\n    [[One]] https://example.org/x\n",
    "sub/three.md": b"alias:: drei, tri\n- list\n\t- [[../one]]\n\n> quote [[First]]\n\n[ref]: two.txt\n[x][ref]\n",
}  # fmt: skip
TOML = b"""data = "cora"
output = "model"
topics = 5
seed-words = {0 = ["red", "green"]}
feature = ["tfidf", "degree"]
column = ["year:difference"]
alpha = 1.5
learn_alpha = "symmetric"
negatives = "auto"
max-share = 0.5
stop-words = "none"
engine = "threads"
jobs = 2
[other]
"""


def _tar(names: list[str], **changes: Any) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=changes.pop("format", tarfile.USTAR_FORMAT)) as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            for key, value in changes.items():
                setattr(member, key, value)
            if member.isreg():
                member.size = 5
                tar.addfile(member, io.BytesIO(b"a 1 b"))
            else:
                tar.addfile(member)
    return stream.getvalue().rstrip(b"\0") + bytes(1024)


def _archives() -> list[bytes]:
    names = ["x/a.content", "x/a.cites"]
    kinds = [{"type": tarfile.SYMTYPE, "linkname": "/etc/hostname"}, {"type": tarfile.LNKTYPE, "linkname": "x/a.cites"}]
    pax = {"format": tarfile.PAX_FORMAT, "pax_headers": {"path": "x/a.content", "size": "5", "GNU.sparse.map": "0,5"}}
    return [_tar(names), *(_tar(names, **kind) for kind in kinds), _tar(names, **pax), gzip.compress(_tar(names))]


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "jsonl": lambda: [
        join({"documents.jsonl": LINES, "links.csv": CSV}),
        join({"documents.jsonl.gz!": LINES, "links.csv": b"\xef\xbb\xbfsource,target\r\na,2\r\n"}) + b"\n1",
        join({"documents.jsonl.gz": gzip.compress(LINES)[:-5], "links.csv": CSV}),
    ],
    "linqs": lambda: [join({name: CONTENT, "x.cites": CITES}) for name in ("x.content", "x.content.gz!")],
    "ldac": lambda: [join(LDAC), join({"a.dat": LDAC["documents.txt"], "cites.txt": b"1\t0\n"})],
    "notes": lambda: [join(NOTES), *(join({"a.md": content, "b.md": b"[[a]]"}) for content in NOTES.values())],
    "opening": lambda: [
        join(LDAC), join(NOTES), join({"documents.jsonl": LINES, "links.csv": CSV}),
        join({"x.content": CONTENT, "x.cites.gz!": CITES}), join({"x.content": CONTENT}),
    ],
    "texts": lambda: [b"the\nand\n", b"\xef\xbb\xbfder\r\ndie\r\n", NOTES["one.md"], gzip.compress(b"the\nand\n")],
    "config": lambda: [TOML.removesuffix(b"[other]\n"), TOML, *(line + b"\n" for line in TOML.splitlines()[:-1])],
    "results": lambda: [_result(), b'{"key": "ab", "model": "tfidf", "fold": 1, "auc": null}\n'],
    "evaluation": lambda: [b"model,fold,auc,link_rank\ntfidf,1,0.5,3\ntfidf,2,0.75,\nlda,1,0.5,2\n", _result()],
    "archive": _archives,
    "cache": lambda: [b'[[["ast", "Trees", "parse trees"], ["re", "x", "y"]], [["ast", "re"]]]', b"[[], []]"],
}  # fmt: skip


def _result() -> bytes:
    from linktopics.evaluation.folds import RESULT_KEY

    whole = json.dumps({RESULT_KEY: "ab", "model": "tfidf", "auc": 0.5})
    return f'{whole}\n{{"{RESULT_KEY}": "c'.encode()
