"""The page docs/developer/how-to-add.md: its examples, followed as they stand, each command in a process of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from linktopics.registry import FEATURES, LOSSES, METRICS, READERS, Registry, extensions
from support.small_models import LINKS, TEXTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/developer/how-to-add.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r'^```python title="([\w.]+)"\n(.*?)^```$', PAGE, flags=re.M | re.S))
PLUGINS = ["squared_loss.py", "hits_at_5.py", "read_tsv.py", "length_feature.py"]
QUICK = ["--topics=3", "--burn-in=5", "--samples=2", "--chains=1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Save the examples, and data in the example's form."""
    folder = tmp_path_factory.mktemp("how-to-add")
    for name, code in EXAMPLES.items():
        (folder / name).write_text(code, encoding="utf-8")
    lines = [f"{name}\t{text}\t{' '.join(b for a, b in LINKS if a == name)}\n" for name, text in TEXTS.items()]
    (folder / "toy.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


def linktopics(folder, *arguments, plugins=PLUGINS):
    given = [word for name in plugins for word in ("--plugin", folder / name)]
    return subprocess.run(
        [sys.executable, "-m", "linktopics", *map(str, given), *map(str, arguments)],
        capture_output=True, text=True, encoding="utf-8", cwd=folder, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


def succeed(folder, *arguments, plugins=PLUGINS):
    done = linktopics(folder, *arguments, plugins=plugins)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def model(folder):
    options = ["--loss=squared", "--feature=tfidf", "--feature=length", "--thin=1", "--negatives=2", "--quiet"]
    succeed(folder, "fit", "toy.tsv", "-o", "model", *QUICK, *options)
    return folder / "model"


def test_all_examples_are_followed():
    assert set(EXAMPLES) == {*PLUGINS, "ids.py"}


def test_the_reader(folder):
    assert f"{len(TEXTS)}" in succeed(folder, "info", "toy.tsv", plugins=["read_tsv.py"])
    (folder / "bad.tsv").write_text("a\tb\n", encoding="utf-8")
    done = linktopics(folder, "info", "bad.tsv", plugins=["read_tsv.py"])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "bad.tsv:1: there are 2 columns" in done.stderr


def test_the_loss_and_the_feature_in_a_fresh_process(folder, model):
    assert "length" in succeed(folder, "info", model)
    suggested = succeed(folder, "suggest", model, "--text", "cats purr and sleep", "--format=json")
    assert "words" in suggested
    assert "length" in succeed(folder, "explain", model, *LINKS[0])


@pytest.mark.long
def test_a_model_says_what_it_needs(folder, model):
    for plugins, needed in (
        ([], "needs the loss 'squared'"),
        (["squared_loss.py"], "needs the pair feature 'length'"),
    ):
        done = linktopics(folder, "topics", model, plugins=plugins)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert needed in done.stderr
        assert "--plugin MODULE" in done.stderr


@pytest.mark.long
def test_the_metric(folder):
    table = succeed(
        folder, "evaluate", "toy.tsv", "--model=tfidf", "--model=linktopics", *QUICK, "--folds=2", "--jobs=2"
    )
    assert "hits@5 %" in table


@pytest.mark.long
def test_help_lists_what_plugins_register(folder):
    shown = succeed(folder, "fit", "--help")
    words = " ".join(re.sub(r"[^\w,.:()-]", " ", shown).split())  # as they were before the table broke the lines
    assert "logistic, hinge, squared" in words
    assert "intercept, length, or none" in words
    assert "folders, tsv" in words


def test_the_command(folder):
    """Put the module beside the others, in a copy of the package, and its name into the tuple."""
    package = folder / "copy" / "linktopics"
    shutil.copytree(ROOT / "src/linktopics", package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(folder / "ids.py", package / "cli")
    app = package / "cli/app.py"
    app.write_text(app.read_text(encoding="utf-8").replace('"info", ', '"info", "ids", ', 1), encoding="utf-8")

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "linktopics", *arguments],
            capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(package.parent)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert re.search(r"^ +ids +List the ids of the documents\.$", run("--help"), flags=re.M)
    assert "linktopics ids my-folder" in run("ids", "--help")
    assert run("--plugin", "read_tsv.py", "ids", "toy.tsv").splitlines() == list(TEXTS)


@pytest.mark.parametrize(
    ("plugin", "told"),
    [("nothing.py", "cannot be imported"), ("no.such.module", "cannot be imported"), ("broken.py", "1 / 0")],
)
def test_plugins_that_cannot_be_imported(folder, plugin, told):
    (folder / "broken.py").write_text("raise ValueError('1 / 0')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "linktopics", "--plugin", plugin, "info", "stdlib"],
        capture_output=True, text=True, cwd=folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("registry", [LOSSES, METRICS, READERS, FEATURES], ids=lambda one: one.kind)
def test_the_table_of_names_is_that_of_the_modules(registry):
    """Every name in the table is registered by its module, which then adds nothing else."""
    for name in registry:
        assert registry[name] is not None
    ours = {name for name, (_, module) in registry._found.items() if module.startswith("linktopics.")}
    assert ours == set(registry._modules)


def test_a_registry_of_ones_own_is_nothing_that_other_processes_need():
    """Seen to fail where every registry was sent to processes, which do not know it."""
    Registry("shape", {}).add("square", 4, "shapes")
    assert "shape" not in extensions()
