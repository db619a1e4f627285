"""Lines of files, plain or gzipped; what cannot be read is named, with its line."""

import gzip

import numpy as np
import pytest

from linktopics.errors import DataError
from linktopics.readers.files import read_lines
from support.files import write_files


def test_read_lines_plain_gzip_bom_and_line_ends(tmp_path):
    text = "\ufeffone\r\ntwo\u2028still two\n\nfour"
    write_files(tmp_path, {"a.txt": text, "b.txt.gz": text})
    (tmp_path / "by_magic.txt").write_bytes((tmp_path / "b.txt.gz").read_bytes())
    for name in ("a.txt", "b.txt.gz", "by_magic.txt"):
        assert read_lines(tmp_path / name) == ["one", "two\u2028still two", "", "four"]


def test_read_lines_errors(tmp_path):
    with pytest.raises(DataError, match=r"nothing.txt: there is no such file"):
        read_lines(tmp_path / "nothing.txt")
    with pytest.raises(DataError, match="this is a folder, not a file"):
        read_lines(tmp_path)
    write_files(tmp_path, {"latin.txt": "fine\ncaf\xe9\n".encode("latin-1")})
    with pytest.raises(DataError, match=r"latin.txt:2: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        read_lines(tmp_path / "latin.txt")
    (tmp_path / "fake.gz").write_bytes(b"plain")
    with pytest.raises(DataError, match=r"fake.gz: the name ends in .gz but the content is not gzipped"):
        read_lines(tmp_path / "fake.gz")


def test_gzip_cut_short_or_damaged(tmp_path):
    rng = np.random.default_rng(0)
    whole = gzip.compress("\n".join(map(str, rng.integers(0, 10**9, 500_000))).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut.gz:\d{4,}: the gzip file is cut short.*download it again"):
        read_lines(tmp_path / "cut.gz")
    (tmp_path / "bad.gz").write_bytes(whole[:1000] + b"\xff" * 1000 + whole[2000:])
    with pytest.raises(DataError, match=r"bad.gz:\d+: the gzip file is damaged"):
        read_lines(tmp_path / "bad.gz")
