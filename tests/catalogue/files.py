"""Files and folders that are not what they should be, and encodings."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

import gzip
import os
from pathlib import Path

from catalogue.kinds import CSV, JSONL, TEXTS, Group, Kind, jsonl, write
from linktopics import DocumentNetwork


def documents(content):
    return {"documents.jsonl": content, "links.csv": CSV}


def ldac(links):
    return {"documents.txt": "0:1\n1:2\n0:3 1:1\n", "links.txt": links}


def pointing(target):
    """Make a folder whose documents are a symbolic link."""

    def make(folder: Path) -> None:
        write(folder, {"links.csv": CSV})
        os.symlink(target, folder / "documents.jsonl")

    return make


def pipe(folder: Path) -> None:
    write(folder, {"links.csv": CSV})
    os.mkfifo(folder / "documents.jsonl")


def unreadable(folder: Path) -> None:
    """Make a file that may not be read; root may read all, but not memory that is not there."""
    write(folder, documents(JSONL))
    (folder / "documents.jsonl").chmod(0)
    if os.access(folder / "documents.jsonl", os.R_OK):
        (folder / "documents.jsonl").unlink()
        os.symlink("/proc/self/mem", folder / "documents.jsonl")


def circles(folder: Path) -> None:
    write(folder, {"one.md": "cats purr [[two]]", "two.md": "stars shine"})
    os.symlink(".", folder / "round")


def same(network: DocumentNetwork) -> bool:
    """Tell whether a network is that of the plain files."""
    linked = network.ids[network.links].tolist()
    return network.texts.tolist() == list(TEXTS.values()) and linked == [["mouse", "cat"], ["moon", "star"]]


PACKED = gzip.compress(JSONL.encode())
BOMB = gzip.compress(bytes(2**22)) * 3
EVERY_PLANE = "Καλημέρα мир 世界 𐌰𐌱 𠀀𠀁 𰻝𰻞 🐈 \U000e0041 \U000f0000 \U0010fffd"
READ_ALIKE = "Read as usual."

GROUP = Group(
    "Files and folders",
    "Wherever a file is named, a folder, a pipe or a device is refused: a pipe may never end. Standard input is `--file -`.",
    [
        Kind(
            "A path that does not exist",
            says="'...' is not a built-in data set, file or folder...; pass stdlib, cora, citeseer, webkb, a .content file, or a folder that holds documents.jsonl and links.csv, or ...",
            command=("info", "NEW"),
        ),
        Kind(
            "A path that is too long",
            says="'...' is not a built-in data set, file or folder...; pass stdlib, cora, citeseer, webkb, a .content file, or a folder that holds documents.jsonl and links.csv, or ...",
            command=("info", "x" * 5000),
        ),
        Kind(
            "A zero byte in a path",
            says="docu...ments.jsonl: cannot be read (...); check the path and its permissions.",
            call=lambda _: DocumentNetwork.from_jsonl("docu\0ments.jsonl"),
        ),
        Kind(
            "An output path that is too long",
            says="...: the folder cannot be read (...).",
            command=("fit", "DATA", "-o", "x" * 5000),
        ),
        Kind(
            "A file in place of a folder",
            says=".../documents.jsonl: pass a .content file, or a folder that holds documents.jsonl and links.csv, or ...",
            command=("info", "DATA/documents.jsonl"),
        ),
        Kind(
            "A file in place of a folder of notes",
            says=".../a.md: is a file; pass the folder that holds it.",
            call=lambda folder: DocumentNetwork.from_folder(write(folder, {"a.md": ""}) / "a.md"),
        ),
        Kind(
            "A folder in place of a file",
            says=".../documents.jsonl: this is a folder, not a file; give the path of a file.",
            files={"documents.jsonl/inside": "", "links.csv": CSV},
        ),
        Kind(
            "A folder in place of a text",
            says="...: this is a folder, not a file; give the path of a file.",
            command=("suggest", "MODEL", "--file", "DATA"),
        ),
        Kind(
            "An empty folder",
            says="...: no known format matches (found: nothing); pass a folder that holds documents.jsonl and links.csv, or ...",
            files={},
        ),
        Kind(
            "No file of links",
            says="...: the links are missing; put links.csv beside the documents.",
            files={"documents.jsonl": JSONL},
        ),
        Kind(
            "Two forms in one folder",
            says="...: more than one known format matches (found: documents.jsonl, links.csv, toy.content); pass a folder that holds documents.jsonl and links.csv, or ...",
            files={**documents(JSONL), "toy.content": "p1\t1\tx\n"},
        ),
        Kind(
            "A file both plain and as .gz",
            says="...: the folder holds both documents.jsonl and documents.jsonl.gz; keep one.",
            files={**documents(JSONL), "documents.jsonl.gz": PACKED},
        ),
        Kind(
            "LDA-C: two files of links",
            says="...: the folder holds both links.txt and cites.txt; keep one.",
            files={**ldac("0 1\n"), "cites.txt": "1 0\n"},
        ),
        Kind(
            "LDA-C: two files of documents",
            says="...: the folder holds both documents.txt and ap.dat; keep one.",
            files={**ldac("0 1\n"), "ap.dat": "0:1\n"},
        ),
        Kind(
            "Hidden files of another form",
            files={**documents(JSONL), ".x.dat": "", "._toy.content": b"\0\5"},
            gives="Hidden files are ignored.",
            holds=same,
        ),
        Kind(
            "An empty file of documents",
            says=".../documents.jsonl: there are no documents in it; give one JSON object per line.",
            files=documents(""),
        ),
        Kind(
            "An empty file of links",
            says=".../links.csv:1: the header has no 'source' (it has: nothing); begin with: source,target (with commas between columns).",
            files={"documents.jsonl": JSONL, "links.csv": ""},
        ),
        Kind(
            "A symbolic link that leads to itself",
            says=".../documents.jsonl: cannot be read (...); check the path and its permissions.",
            files=pointing("documents.jsonl"),
        ),
        Kind(
            "A symbolic link to a file that does not exist",
            says=".../documents.jsonl: there is no such file; check the path.",
            files=pointing("nowhere.jsonl"),
        ),
        Kind(
            "A folder of notes with a symbolic link to itself",
            files=circles,
            gives="Each note is read once: symbolic links to folders are not followed.",
            holds=lambda network: len(network) == 2,
        ),
        Kind(
            "A pipe in place of a file",
            says=".../documents.jsonl: this is a device or a pipe, not a file; give the path of a file.",
            files=pipe,
        ),
        Kind(
            "A device in place of a file (/dev/zero)",
            says=".../documents.jsonl: this is a device or a pipe, not a file; give the path of a file.",
            files=pointing("/dev/zero"),
        ),
        Kind(
            "A device in place of a text",
            says="/dev/zero: this is a device or a pipe, not a file; give the path of a file.",
            command=("suggest", "MODEL", "--file", "/dev/zero"),
        ),
        Kind(
            "A file that may not be read",
            says=".../documents.jsonl: cannot be read (...); check the path and its permissions.",
            files=unreadable,
        ),
        Kind(
            "A path with spaces, other scripts and a line break",
            fitted=True,
            files=lambda folder: write(folder / "my notes\nüber 数据 🐈", documents(JSONL)),
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "A gzipped file without .gz in its name",
            files=documents(PACKED),
            gives="Unpacked and read: its first bytes show what it is.",
            holds=same,
        ),
        Kind(
            ".gz in the name of a file that is not gzipped",
            says=".../documents.jsonl.gz: the name ends in .gz but the content is not gzipped; rename or compress it.",
            files={"documents.jsonl.gz": JSONL, "links.csv": CSV},
        ),
        Kind(
            "A gzip file that is cut short",
            says=".../documents.jsonl:1: the gzip file is cut short at or after this line; copy or download it again.",
            files=documents(PACKED[:-12]),
        ),
        Kind(
            "A gzip file with damaged bytes",
            says=".../documents.jsonl:1: the gzip file is damaged (...) at or after this line; copy or download it again.",
            files=documents(PACKED[:40] + bytes(9) + PACKED[49:]),
        ),
        Kind(
            "A gzip file with other bytes after its end",
            says=".../documents.jsonl:1: the gzip file is damaged (...) at or after this line; copy or download it again.",
            files=documents(PACKED + b"and more"),
        ),
        Kind(
            "Several gzip files, one after the other in one",
            files=documents(PACKED + gzip.compress(jsonl(more="cats").encode())),
            gives="All are read, as by gunzip.",
            holds=lambda network: network.ids.tolist() == [*TEXTS, "more"],
        ),
        Kind(
            "A zip bomb: a small gzip file of very many zeros",
            says=".../documents.jsonl: the gzip file has ... bytes and holds more than ...; if that is expected, unpack it (gunzip) and pass the plain file.",
            files=documents(BOMB),
            limit=2**23,
        ),
    ],
)

ENCODINGS = Group(
    "Encodings and characters",
    "Files are UTF-8.",
    [
        Kind(
            "A byte order mark",
            files={"documents.jsonl": "\ufeff" + JSONL, "links.csv": "\ufeff" + CSV},
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "UTF-16",
            says=".../documents.jsonl:1: the file looks like UTF-16; save it as UTF-8.",
            files=documents(JSONL.encode("utf-16")),
        ),
        Kind(
            "UTF-16 without byte order mark",
            says=".../documents.jsonl:1: the file looks like UTF-16; save it as UTF-8.",
            files=documents(JSONL.encode("utf-16-le")),
        ),
        Kind(
            "UTF-32",
            says=".../documents.jsonl:1: the file looks like UTF-32; save it as UTF-8.",
            files=documents(JSONL.encode("utf-32")),
        ),
        Kind(
            "Latin-1",
            says=".../documents.jsonl:5: byte 0xe9 is not UTF-8; save the file as UTF-8.",
            files=documents((JSONL + '{"id": "é", "text": "café"}\n').encode("latin-1")),
        ),
        Kind(
            "Bytes that are not UTF-8, in links",
            says=".../links.csv:4: byte 0xc3 is not UTF-8; save the file as UTF-8.",
            files={"documents.jsonl": JSONL, "links.csv": CSV.encode() + b"cat,\xc3\x28\n"},
        ),
        Kind(
            "Half a surrogate pair, as bytes",
            says=".../documents.jsonl:5: byte 0xed is not UTF-8; save the file as UTF-8.",
            files=documents(JSONL.encode() + b'{"id": "x", "text": "\xed\xa0\x80"}\n'),
        ),
        Kind(
            "Half a surrogate pair, escaped in JSON",
            fitted=True,
            files=documents(JSONL + r'{"id": "x\ud800", "text": "cats \ud83d"}' + "\n"),
            gives="Read as it is; models keep it, and terminals show a question mark.",
            holds=lambda network: network.ids[4] == "x\ud800",
        ),
        Kind(
            "Lines that end in CR LF",
            files={"documents.jsonl": JSONL.replace("\n", "\r\n"), "links.csv": CSV.replace("\n", "\r\n")},
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "Lines that end in CR alone",
            files={"documents.jsonl": JSONL.replace("\n", "\r"), "links.csv": CSV.replace("\n", "\r")},
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "Mixed line ends, in links",
            says=".../links.csv:2: there is a CR within the line; end all lines in LF or CR LF.",
            files={"documents.jsonl": JSONL, "links.csv": CSV.replace("cat\n", "cat\r")},
        ),
        Kind(
            "Mixed line ends, in links of LDA-C",
            says=".../links.txt:1: there is a CR within the line; end all lines in LF or CR LF.",
            files=ldac("0 1\r1 2\r\n2 0\r\n"),
        ),
        Kind(
            "Mixed line ends, in LINQS",
            says=".../toy.content:1: there is a CR within the line; end all lines in LF or CR LF.",
            files={"toy.content": "1 1 0 7\r2 1 1 7\n", "toy.cites": ""},
        ),
        Kind(
            "Numbers of documents in other digits, with signs or underscores",
            says=".../links.txt:2: '1_0 +1' is not a link; a line is: source target, both document numbers from 0.",
            files=ldac("0 1\n1_0 +1\n"),
        ),
        Kind(
            "No line end after the last line",
            files={"documents.jsonl": JSONL[:-1], "links.csv": CSV[:-1]},
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "Blank lines",
            files={"documents.jsonl": "\n \n" + JSONL.replace("\n", "\n\n"), "links.csv": CSV.replace("\n", "\n\n")},
            gives=READ_ALIKE,
            holds=same,
        ),
        Kind(
            "Letters of all planes of Unicode",
            fitted=True,
            files=documents(JSONL + jsonl({"id": "𝒜", "text": EVERY_PLANE})),
            gives="Read as they are; words consist of letters.",
            holds=lambda network: (
                network.texts[4] == EVERY_PLANE and {"世界", "𐌰𐌱", "𠀀𠀁", "𰻝𰻞"} <= set(network.vocabulary)
            ),
        ),
        Kind(
            "Accents written in two ways",
            files={
                "documents.jsonl": jsonl(
                    {"id": "caf\u00e9", "text": "cats"}, {"id": "cafe\u0301", "text": "cats purr"}
                ),
                "links.csv": "source,target\ncaf\u00e9,cafe\u0301\n",
            },
            gives="Two ids; a link means the one that is written in the same way.",
            holds=lambda network: network.links.tolist() == [[0, 1]],
        ),
        Kind(
            "Control characters in texts",
            files=documents(
                jsonl(
                    cat="cats\0 \x01purr\x1b[31m\x7f\x85\u2028 sleep",
                    mouse="mice fear cats",
                    star="stars",
                    moon="moons",
                )
            ),
            gives="Read as they are; they end words.",
            holds=lambda network: network.counts[0].sum() == 3,
        ),
        Kind(
            "Control characters in ids",
            fitted=True,
            files={
                "documents.jsonl": jsonl({"id": "a\x1b[1mb", "text": "cats"}, {"id": "\x07\n", "text": "cats purr"}),
                "links.csv": 'source,target\na\x1b[1mb,"\x07\n"\n',
            },
            gives="Read as they are; what is shown on a terminal has spaces instead.",
            holds=lambda network: network.links.tolist() == [[0, 1]],
        ),
        Kind(
            "Zero bytes in texts and ids, escaped in JSON",
            files=documents(JSONL + jsonl({"id": "a\0b", "text": "cats\0purr"})),
            gives="Read as they are.",
            holds=lambda network: network.ids[4] == "a\0b" and network.counts[4].sum() == 2,
        ),
        Kind(
            "A zero byte in a line of JSON",
            says=".../documents.jsonl:1: not JSON: ...; give one JSON object per line.",
            files=documents(JSONL.replace("purr", "pu\0rr")),
        ),
        Kind(
            "Text from right to left",
            files=documents(JSONL + jsonl({"id": "‮abc‬", "text": "שלום עולם नमस्ते"})),
            gives="Read as it is.",
            holds=lambda network: "שלום" in network.vocabulary,
        ),
    ],
)
