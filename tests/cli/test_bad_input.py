"""The catalogue of bad input: each kind gives a right result, or one sentence, and leaves nothing behind."""

import importlib
import re
import shutil
import warnings
from pathlib import Path

import pytest

from catalogue import GROUPS, pattern
from catalogue.kinds import write
from linktopics.datasets import open_network
from support.command_line import files, refusal, succeed

SMALL = ["--topics=3", "--burn-in=1", "--samples=1", "--thin=1", "--chains=1", "--quiet"]
KINDS = {f"{group.title}: {kind.what}": kind for group in GROUPS for kind in group.kinds}
REFUSED = {name: kind for name, kind in KINDS.items() if kind.says}
READ = {name: kind for name, kind in KINDS.items() if not kind.says}


def names(chosen):
    return [pytest.param(name, id=re.sub(r"[^\w ]+", "", name.partition(": ")[2] + " " + name[:4])) for name in chosen]


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def prepare(kind, here, data, model, monkeypatch):
    """Make what a kind needs, and return the commands to try."""
    if kind.limit is not None:
        monkeypatch.setattr("linktopics.readers.files.MAX_UNPACKED_BYTES", kind.limit)
    given = here
    if kind.files is not None:
        made = kind.files(here) if callable(kind.files) else write(here, kind.files)
        given = here if made is None else made
    if kind.model is not None:
        kind.model(shutil.copytree(model, here / "model"))
        return [["topics", here / "model"]]
    if not kind.command:
        fit = ["fit", given, "-o", here.parent / "new", *SMALL]
        return [["info", given], *([fit] if kind.says or kind.told or kind.fitted else [])]
    places = {"DATA": data, "MODEL": model, "NEW": here.parent / "new", "HERE": given}
    return [[re.sub(r"^(DATA|MODEL|NEW|HERE)\b", lambda part: str(places[part[0]]), one) for one in kind.command]]


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@pytest.mark.parametrize("name", names(REFUSED))
def test_it_is_refused_in_one_sentence(name, here, data, model, monkeypatch):
    kind = REFUSED[name]
    if kind.call is not None:
        with pytest.raises(ValueError, match=rf"\A{pattern(kind.says).pattern}\Z"):
            kind.call(here)
        assert list(here.iterdir()) == [] or "notes" in name
        return
    commands = prepare(kind, here, data, model, monkeypatch)
    before = files(here), files(data), files(model)
    for command in commands:
        said = refusal(command).removeprefix("linktopics: ").rstrip("\n")
        assert pattern(kind.says).fullmatch(said), said
    assert (files(here), files(data), files(model)) == before
    assert not (here.parent / "new").exists()


@pytest.mark.filterwarnings("always::linktopics.errors.NetworkWarning")
@pytest.mark.parametrize("name", names(READ))
def test_it_is_read_right(name, here, data, model, monkeypatch):
    kind = READ[name]
    if kind.call is not None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert kind.holds(kind.call(here))
        said = " ".join(str(warning.message) for warning in caught)
        assert kind.told in said if kind.told else not said
        return
    commands = prepare(kind, here, data, model, monkeypatch)
    for command in commands:
        result = succeed(*command)
        assert "Warning" not in result.stderr
        if kind.told:
            expected = kind.told if command[0] == "fit" or "no links" not in kind.told else "0 directed"
            assert expected in " ".join((result.stderr + result.stdout).split())
        else:
            assert result.stderr == ""
    if kind.command:
        assert kind.holds(result.stdout)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert kind.holds(open_network(commands[0][1]))
    if len(commands) > 1:
        succeed("topics", here.parent / "new")


@pytest.mark.filterwarnings("always::linktopics.errors.NetworkWarning")
def test_what_was_dropped_is_told_with_examples(here, data, model, monkeypatch):
    kind = KINDS["Links (links.csv): Links to nowhere"]
    (_, folder), _ = prepare(kind, here, data, model, monkeypatch)
    assert "dropped 2 links with an unknown end: ('mouse', 'dog'), ('cow', 'cat')." in succeed("info", folder).stdout


def test_there_are_many_kinds_and_no_two_of_one_name():
    assert len(KINDS) == sum(len(group.kinds) for group in GROUPS)
    assert len(KINDS) >= 60
    for name, kind in KINDS.items():
        assert bool(kind.says) != bool(kind.gives), name


def test_the_page_is_what_the_catalogue_makes(monkeypatch):
    tools = Path(__file__).resolve().parents[2] / "tools"
    if not tools.is_dir():
        pytest.skip("tools/ is not here: an installed package or a source archive has none")
    monkeypatch.syspath_prepend(str(tools))
    made = importlib.import_module("make_bad_input")
    assert made.page() == made.PAGE.read_text(encoding="utf-8"), "run python tools/make_bad_input.py"
