"""The scripts in examples/ run as their page says, print what they promise and leave the files they name."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.marks import some_long

FOLDER = Path(__file__).resolve().parents[2] / "examples"
if not FOLDER.is_dir():
    pytest.skip("examples/ is not here: an installed package or a source archive has none", allow_module_level=True)

SAYS = {
    "standard_library": [
        r"links +[\d,]+ directed",
        r"RelationalTopicModel: 8 topics",
        r"From what others import to what imports others.*\n( +[+-]\d+\.\d +[+-]\d+\.\d  \w+, .*: \w+.*\n){8}\n",
        r"should import\n(  [\w.]+ +[01]\.\d\d  .*\n){10}and may be imported by\n(  [\w.]+ +[01]\.\d\d  .*\n){3}",
        r"loaded again: the suggestions are the same",
    ],
    "see_also": [
        r"links +[\d,]+ undirected",
        r"link_rank +median_rank +mrr +hits_at_20 +auc",
        r"\nlinktopics( +\d+\.\d+){5}\nTF-IDF( +\d+\.\d+){5}\nTF-IDF centroid( +\d+\.\d+){5}\n",
        r"hits_at_20: linktopics is better than TF-IDF centroid in [012] of 2 folds",
        r"Suggested links\n(  [01]\.\d{3}  numpy\.\S+ +scipy\.\S+ +[01]\.\d\d .*\n){4,}",
    ],
    "installed_packages": [
        r"RelationalTopicModel: 5 topics",
        r"features +tfidf [+-].*, shared authors [+-]",
        r"\d+ of the first \d+ keep their main topic \(\d+ in a model fitted anew\)",
        r"  numbers: .*\n  types: .*\n  terminal: .*\n  pictures: .*\n  tools: .*\n",
        r"It may require\n(  \S+ +[01]\.\d\d  .*\n){6}",
        r"DiGraph with \d+ nodes" if find_spec("networkx") else "networkx is not installed",
    ],
}

LEAVES = {
    "standard_library": ["stdlib-model", "topics.png", "weights.png"],
    "see_also": ["see-also-folds.csv"],
    "installed_packages": ["packages.graphml"] if find_spec("networkx") else [],
}

STARTS = {".png": b"\x89PNG", ".csv": b"model,fold,link_rank", ".graphml": b"<?xml"}


@pytest.mark.parametrize("name", some_long(SAYS, ["see_also", "installed_packages"]))
@pytest.mark.long
def test_example(name, tmp_path, shared_cache):
    environment = {
        **os.environ,
        "LINKTOPICS_CACHE": str(shared_cache),
        "MPLBACKEND": "agg",
        "PYTHONUTF8": "1",
    }
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", "--quick"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=600,  # with kernels to compile, on a busy machine
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [promise for promise in SAYS[name] if not re.search(promise, done.stdout)] == [], done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == LEAVES[name]
    for path in filter(Path.is_file, tmp_path.iterdir()):
        assert path.read_bytes().startswith(STARTS[path.suffix]), path.name


def test_page_and_tests_know_all_examples():
    there = {path.stem for path in FOLDER.glob("*.py")}
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert there == set(SAYS)
    assert there == set(re.findall(r"^## \[(\w+)\.py\]\(\1\.py\)$", page, re.MULTILINE))
    assert [file for name in there for file in LEAVES[name] if file not in page] == []
