"""Data and models on disk, for the tests of the command line."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.command_line import ODD, QUICK, succeed, write_network
from support.small_models import LINKS, TEXTS


@pytest.fixture(autouse=True)
def plain_output(monkeypatch):
    """Let nothing around the tests ask for colours or other widths."""
    for name in ("FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    return tmp_path_factory.mktemp("command-line")


@pytest.fixture(scope="session")
def data(base):
    return write_network(base / "data", {name: name for name in TEXTS}, str.capitalize)


@pytest.fixture(scope="session")
def model(base, data):
    """Fit a model, which tests leave as it is."""
    succeed("fit", data, "-o", base / "model", *QUICK)
    return base / "model"


@pytest.fixture
def copied(model, tmp_path):
    """Copy the model, to be changed."""
    return Path(shutil.copytree(model, tmp_path / "copy"))


@pytest.fixture(scope="session")
def odd(base):
    """Write data, and fit a model of them, whose ids and titles are as odd as can be."""
    folder = write_network(base / "odd", ODD, lambda name: f"[red]{name}[/red]\t\x1b[1mof\n{ODD[name]}")
    succeed("fit", folder, "-o", base / "odd-model", *QUICK)
    return SimpleNamespace(data=folder, model=base / "odd-model")


@pytest.fixture(scope="session")
def vault(base):
    folder = base / "vault"
    (folder / "sky, night").mkdir(parents=True)
    for number, (name, text) in enumerate(TEXTS.items()):
        links = " ".join(f"[[{target}]]" for source, target in LINKS if source == name)
        place = folder / "sky, night" if number > 4 else folder
        (place / f"{name}.md").write_text(f"# The {name}\n\n{text}. {links}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def contents_before(model):
    """Return what is in the folder of the model before it is served."""
    from support.serving import contents

    return contents(model)


@pytest.fixture(scope="module")
def server(model, contents_before):
    from support.serving import served

    with served(model, jobs=2) as (process, address):
        yield process, address
