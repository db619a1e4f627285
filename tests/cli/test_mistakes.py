"""Mistakes: each ends in one sentence and the exit code 2, and leaves everything as it was."""

import os
import shutil
from pathlib import Path

import pytest

from linktopics import RelationalTopicModel
from support.changed_models import put, seal
from support.command_line import QUICK, files, interrupt_at, manifest, raiser, refusal, run, succeed

FIT = ["fit", "DATA", "-o", "NEW", *QUICK]

MISTAKES = {
    "no data": (["fit", "-o", "NEW"], "name the data"),
    "unknown data": (["fit", "nowhere", "-o", "NEW"], "'nowhere' is not a built-in data set, file or folder"),
    "data nearly named": (["info", "coar"], "did you mean 'cora'?"),
    "no output": (["fit", "DATA"], "say where the model goes: -o FOLDER"),
    "output taken": (["fit", "DATA", "-o", "DATA"], "the folder holds other files (such as documents.jsonl)"),
    "output is a file": (["fit", "DATA", "-o", "FILE"], "is a file"),
    "a model there": (["fit", "DATA", "-o", "MODEL"], "there is a model already"),
    "a feature": ([*FIT, "--feature=tfidff"], "'tfidff' is not one of 'tfidf', 'tfidf-neighbours'"),
    "a column": ([*FIT, "--column=year"], "the column 'year' cannot be read; write NAME:equal"),
    "another column": ([*FIT, "--column=yaer:equal"], "no document has the field 'yaer'; there are: id, text"),
    "seed words": ([*FIT, "--seed-words=cats"], "write the topic's number and its words: 0:red,green"),
    "unknown seed word": ([*FIT, "--seed-words=0:zebra"], "the seed word 'zebra' is not in the vocabulary"),
    "seed words of no topic": ([*FIT, "--seed-words=9:cats"], "names topic 9; topics are numbered from 0 to 2"),
    "negatives": ([*FIT, "--negatives=many"], "negatives is 'many'; it must be auto or a number"),
    "loss": ([*FIT, "--loss=nonsense"], "'nonsense' is not one of 'logistic', 'hinge'"),
    "alpha": ([*FIT, "--alpha=-1"], "alpha"),
    "topics": ([*FIT, "--topics=0"], "Invalid value for '--topics'"),
    "stop words": ([*FIT, "--stop-words=nowhere.txt"], "nowhere.txt: there is no such file"),
    "max share": ([*FIT, "--max-share=0"], "max-share is 0.0; it must be a share of the documents, above 0"),
    "max share above 1": ([*FIT, "--max-share=2"], "Invalid value for '--max-share'"),
    "columns of counts": (["fit", "LINQS", "-o", "NEW", "--column=year:equal"], "there are no fields such as 'year'"),
    "counts to count": (["info", "LINQS", "--min-documents=2"], "the data are word counts"),
    "no links": (["fit", "UNLINKED", "-o", "NEW"], "the links are missing; put links.csv beside the documents"),
    "notes without links": (["fit", "NOTES", "-o", "NEW"], "no links were found between the 2 text files"),
    "no settings": ([*FIT, "--config=nowhere.toml"], "nowhere.toml: there is no such file"),
    "a model that is nowhere": (["topics", "NEW"], "there is no such folder; check the path of the model"),
    "not a model": (["topics", "DATA"], "the folder holds no model.json, so it is not a model"),
    "a damaged model": (["topics", "DAMAGED"], "the model is damaged (its checksum does not match its content)"),
    "a damaged manifest": (["info", "TORN"], "the model is damaged (it is not JSON)"),
    "an unfinished model": (["topics", "UNFINISHED"], "the model is not finished (its chains did 0"),
    "a finished model": (["resume", "MODEL"], "the run is finished; add burn-in with --burn-in N, or samples"),
    "no text": (["suggest", "MODEL"], "one of --text, --file and --id"),
    "text and id": (["suggest", "MODEL", "--text=cats", "--id=cat"], "one of --text, --file and --id"),
    "an empty text": (["suggest", "MODEL", "--text", " \n"], "the text is empty"),
    "nothing on standard input": (["suggest", "MODEL", "--file=-"], "the text is empty"),
    "unknown words": (
        ["suggest", "MODEL", "--text=zebra zoo"],
        "the text 'zebra zoo' has no word of the model's vocabulary",
    ),
    "no file": (["suggest", "MODEL", "--file=nowhere.txt"], "nowhere.txt: there is no such file"),
    "a text for counts": (["suggest", "COUNTED", "--text=cats"], "fitted to word counts and cannot read texts"),
    "an unknown id": (["suggest", "MODEL", "--id=kiten"], "no document has the id 'kiten'; did you mean 'kitten'"),
    "an id like no other": (["suggest", "MODEL", "--id=qqqqqq"], "no document has the id 'qqqqqq'; ids are like 'cat'"),
    "unknown ids of words": (["words", "MODEL", "--links=cat,mose"], "'mose'; did you mean 'mouse'"),
    "words of nothing": (["words", "MODEL"], "say which documents are linked"),
    "words of no ids": (["words", "MODEL", "--links", ","], "no id was given"),
    "an unknown source": (["explain", "MODEL", "kat", "mouse"], "no document has the id 'kat'; did you mean 'cat'"),
    "the same twice": (["explain", "MODEL", "cat", "cat"], "source and target are both 'cat'"),
    "one end": (["explain", "MODEL", "cat"], "Missing argument 'TARGET'"),
    "coherence": (["topics", "MODEL", "--coherence=nonsense"], "'nonsense' is not one of 'npmi', 'umass', 'cv'"),
    "format": (["topics", "MODEL", "--format=xml"], "'xml' is not one of 'auto', 'table', 'plain', 'csv', 'json'"),
    "rows": (["suggest", "MODEL", "--id=cat", "--top=0"], "Invalid value for '--top'"),
    "search": (["suggest", "MODEL", "--id=cat", "--search=fast"], "Invalid value for '--search'"),
    "samples": (["resume", "MODEL", "--samples=0"], "Invalid value for '--samples'"),
}
SETTINGS = {
    "broken": ("topics = \n", "not TOML: Invalid value (at line 1"),
    "no such option": ("topicz = 3\n", "there is no option 'topicz'; did you mean 'topics'?"),
    "nothing like it": ("zzzz = 3\n", "there is no option 'zzzz'; see linktopics fit --help"),
    "not for a file": ("overwrite = true\n", "there is no option 'overwrite'"),
    "encoding": (b"stop-words = '\xff'\n", "the file is not UTF-8"),
    "topics": ("topics = 'many'\n", "topics"),
    "loss": ("loss = 'nonsense'\n", "loss"),
    "feature": ("feature = 3\n", "feature"),
    "column": ("column = 3\n", "column"),
    "seed words": ("seed-words = 3\n", "seed"),
    "a table of seed words": ("seed-words = {0 = 3}\n", "write the topic's number and its words"),
    "a seed word": ("seed-words = {0 = 'zebra'}\n", "the seed word 'zebra' is not in the vocabulary"),
    "output": ("output = 3\n", "output"),
    "checkpoints": ("checkpoint-every = 'often'\n", "checkpoint"),
    "jobs": ("jobs = 0\n", "jobs"),
    "shards": ("shards = 0\n", "shards must be an int in the range [1, 32768]"),
    "engine": ("engine = 'cluster'\n", "engine is 'cluster'; it must be threads or ray"),
    "address": ("address = 'auto'\n", "--address is that of a Ray cluster; give --engine ray"),
    "min documents": ("min-documents = 0.5\n", "min-documents is 0.5; it must be a whole number of at least 1"),
    "max share": ("max-share = 5\n", "max-share is 5; it must be a share of the documents"),
    "stop words": ("stop-words = ['a', 'b']\n", "stop-words is ['a', 'b']; it must be english, none or"),
    "strict": ("strict = 'no'\n", "strict is 'no'; it must be true or false"),
}


@pytest.fixture(scope="session")
def places(base, data, model):
    """Make files and folders, by the names that `MISTAKES` has for them; NEW is where nothing is."""
    damaged, torn = (Path(shutil.copytree(model, base / name)) for name in ("damaged", "torn"))
    file = next(damaged.glob("network-*"))
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    (torn / "model.json").write_text("{")
    unfinished = base / "unfinished"
    with pytest.MonkeyPatch.context() as patch:
        interrupt_at(1, patch)
        assert run("fit", data, "-o", unfinished, *QUICK, "--chains=1").exit_code == 130
    unlinked, notes, linqs = base / "unlinked", base / "notes", base / "linqs"
    for folder in (unlinked, notes, linqs):
        folder.mkdir()
    shutil.copy(data / "documents.jsonl", unlinked)
    (notes / "one.md").write_text("cats purr")
    (notes / "two.md").write_text("stars shine")
    (linqs / "toy.content").write_text("p1\t1\t0\tx\np2\t1\t1\tx\np3\t0\t1\ty\n")
    (linqs / "toy.cites").write_text("p1\tp2\np2\tp3\n")
    succeed("fit", linqs, "-o", base / "counted", *QUICK, "--topics=2", "--negatives=1")
    names = {"DATA": data, "MODEL": model, "FILE": data / "links.csv", "DAMAGED": damaged, "TORN": torn}
    more = {"UNFINISHED": unfinished, "UNLINKED": unlinked, "NOTES": notes, "LINQS": linqs, "COUNTED": base / "counted"}
    return {**names, **more}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name, places, base, tmp_path):
    arguments, sentence = MISTAKES[name]
    before = files(base)
    given = {**places, "NEW": tmp_path / "new"}
    assert sentence in refusal([given.get(part, part) for part in arguments])
    assert files(base) == before
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", SETTINGS)
def test_mistakes_in_settings(name, data, tmp_path):
    content, sentence = SETTINGS[name]
    settings = tmp_path / "settings.toml"
    settings.write_bytes(content if isinstance(content, bytes) else content.encode())
    given = [one for one in QUICK if name != "topics" or "topics" not in one]
    output = [] if name == "output" else ["-o", tmp_path / "new"]
    assert sentence in refusal(["fit", data, *output, *given, "--config", settings])
    assert os.listdir(tmp_path) == ["settings.toml"]


def test_a_model_is_replaced_if_asked_for(data, copied):
    before = manifest(copied)
    succeed("fit", data, "-o", copied, *QUICK, "--seed=1", "--overwrite")
    assert manifest(copied)["parameters"]["random_state"] == 1
    assert len(list(copied.iterdir())) == 1 + len(manifest(copied)["files"])
    assert before["parameters"]["random_state"] == 0


def test_a_model_stays_if_the_next_cannot_be_fitted(data, copied):
    before = files(copied)
    assert run("fit", data, "-o", copied, *QUICK, "--overwrite", "--seed-words=0:zebra").exit_code == 2
    assert files(copied) == before


def test_a_model_stays_if_the_next_is_interrupted(data, copied, monkeypatch):
    before = files(copied)
    monkeypatch.setattr(RelationalTopicModel, "fit", raiser(KeyboardInterrupt))
    result = run("fit", data, "-o", copied, *QUICK, "--overwrite")
    assert result.exit_code == 130
    assert result.stderr == f"linktopics: interrupted before anything was saved; the model in {copied} is unchanged.\n"
    assert files(copied) == before


def test_files_of_others_stay(data, tmp_path):
    (tmp_path / "weights.safetensors").write_text("somebody's")
    result = run("fit", data, "-o", tmp_path, *QUICK)
    assert (tmp_path / "weights.safetensors").read_text() == "somebody's"
    assert result.exit_code == 2
    assert "holds other files" in result.stderr


def test_a_cluster_that_is_not_there(places, tmp_path):
    """Nothing is left behind by a fit that could not begin, and the model that cannot go on is unchanged."""
    cluster = ["--engine=ray", "--address=127.0.0.1:9", "--quiet"]
    before = manifest(places["MODEL"])
    for arguments in (["fit", places["DATA"], "-o", tmp_path / "new"], ["resume", places["MODEL"], "--samples=1"]):
        result = run(*arguments, *cluster)
        assert result.exit_code == 2
        assert result.stderr.startswith("linktopics: no Ray cluster was found at address '127.0.0.1:9' (")
    assert not (tmp_path / "new").exists()
    assert manifest(places["MODEL"]) == before


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("change", "format", "sentence"),
    [
        (put("schedule", "more", to=1), "auto", "the model is damaged ("),
        (
            put("parameters", "alpha", to=nested(900)),
            "json",
            "nested too deeply: the model is damaged",
        ),
    ],
)
def test_info_of_a_hostile_model(change, format, sentence, copied):
    """Somebody who can compute checksums made it."""
    seal(copied, change)
    assert sentence in refusal(["info", copied, "--format", format])
