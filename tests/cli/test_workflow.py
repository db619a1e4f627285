"""The whole workflow on the command line: data, fit, questions, options, interrupts, going on."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from linktopics import RelationalTopicModel
from linktopics.cli.app import app
from linktopics.sampler.runner import Chain
from linktopics.storage import RunWriter
from support.command_line import QUICK, asked, interrupt_at, manifest, raiser, run, succeed, write_network
from support.marks import some_long
from support.small_models import ASKED, LINKS, TEXTS, assert_same

pytestmark = pytest.mark.filterwarnings("always::linktopics.errors.NetworkWarning")


def test_info_of_data(data, tmp_path):
    found = asked("info", data)
    assert (found["documents"], found["links"], found["directed"]) == (10, 10, True)
    assert sum(found["dropped_links"].values()) == 0
    for of in ("tokens per document", "links per document"):
        assert sum(row["documents"] for row in found["distributions"] if row["of"] == of) == 10
    assert asked("info", data, "--stop-words=none")["words"] > found["words"]
    assert asked("info", data, "--min-documents=2")["words"] < found["words"]
    broken = Path(shutil.copytree(data, tmp_path / "broken"))
    with open(broken / "links.csv", "a", encoding="utf-8") as stream:
        stream.write("cat,nowhere\ncat,cat\n")
    assert asked("info", broken)["dropped_links"] == {"unknown_ends": 1, "self_links": 1, "duplicate_links": 0}
    plain, table = run("info", broken), run("info", broken, "--format=table")
    assert plain.stderr.startswith("linktopics: dropped 1 link with an unknown end; dropped 1 self link")
    assert table.stderr == ""  # the table says it, with examples
    assert "('cat', 'nowhere')" in table.stdout
    assert run("info", broken, "--strict").exit_code == 2


def test_fit_says_what_it_does_and_what_is_next(data, tmp_path):
    folder = tmp_path / ("a model in a folder " + "of a long name " * 6)
    said = succeed("fit", data, "-o", folder, *QUICK).stdout
    for part in ("10 documents", "3 topics", "2 chains of 7 sweeps", "saved in"):
        assert part in said
    assert "\x1b" not in said
    following = [shlex.split(line)[1:] for line in said.splitlines() if line.startswith("  linktopics ")]
    assert [words[:2] for words in following] == [[name, str(folder)] for name in ("topics", "suggest", "suggest")]
    for words in following[:2]:
        succeed(*words)
    found = asked("info", folder)
    assert (found["finished"], found["sweeps_done"], found["topics"]) == (True, [7, 7], 3)
    saved = manifest(folder)["parameters"]
    assert found["parameters"] == {**saved, "n_iter": saved["n_burn_in"]}  # under its earlier name, too


def test_the_same_seed_gives_the_same_model(data, model, tmp_path):
    succeed("fit", data, "-o", tmp_path / "again", *QUICK, "--jobs=1")
    succeed("fit", data, "-o", tmp_path / "other", *QUICK, "--seed=1")
    one, again, other = (RelationalTopicModel.load(path) for path in (model, tmp_path / "again", tmp_path / "other"))
    assert_same(one, again)
    assert (one.log_joint_ != other.log_joint_).any()


def test_topics(model):
    fitted = RelationalTopicModel.load(model)
    found = asked("topics", model, "--words=4", "--documents=2", "--coherence=umass")
    table = fitted.topics(4, n_documents=2, coherence="umass")
    assert [topic["topic"] for topic in found["topics"]] == table.index.tolist()
    for topic, row in zip(found["topics"], table.to_dict("records"), strict=True):
        assert topic["words"] == row["words"].split(", ")
        assert len(topic["words"]) == 4
        assert topic["documents"] == row["documents"]
        assert topic["coherence"] == row["coherence"]
    assert found["topic_diversity"] == fitted.topic_diversity()


def test_suggestions_for_a_text(model, tmp_path):
    (tmp_path / "text.txt").write_text(ASKED, encoding="utf-8")
    found = asked("suggest", model, "--text", ASKED, "--top=4", "--direction=out", "--interval=0.5")
    assert found == asked(
        "suggest", model, "--file", tmp_path / "text.txt", "--top=4", "--direction=out", "--interval=0.5"
    )
    assert found == asked(
        "suggest", model, "--file=-", "--top=4", "--direction=out", "--interval=0.5", input=f"\ufeff{ASKED}\n"
    )
    frame = RelationalTopicModel.load(model).suggest_links(ASKED, top=4, direction="out", interval=0.5)
    for name in ("id", "title", "probability", "lower", "upper"):
        assert [row[name] for row in found["suggestions"]] == frame[name].tolist()
    assert ["; ".join(row["why"]) for row in found["suggestions"]] == frame["why"].tolist()


def test_ranges_over_samples_are_called_what_they_are(model):
    shown = succeed("suggest", model, "--text", ASKED, "--interval=0.5", "--format=table").stdout
    assert "50% of samples" in shown
    assert "do not cover all uncertainty" in " ".join(shown.split())
    assert "interval" not in shown


def test_suggestions_either_way_are_between_the_larger_and_the_sum(model):
    found = {}
    for way in ("both", "out", "in"):
        told = asked("suggest", model, "--text", ASKED, "--top=99", "--direction", way)
        found[way] = {row["id"]: row["probability"] for row in told["suggestions"]}
    for id, either in found["both"].items():
        out, into = found["out"][id], found["in"][id]
        assert max(out, into) * (1 - 1e-9) <= either <= (out + into) * (1 + 1e-9)


@pytest.fixture(scope="module")
def with_columns(tmp_path_factory):
    """Fit a model that compares tags and years."""
    folder = tmp_path_factory.mktemp("columns")
    data = write_network(folder / "data", {name: name for name in TEXTS}, str.title)
    columns = ["--column=tags:overlap", "--column=year:difference"]
    succeed("fit", data, "-o", folder / "model", *QUICK, "--feature=none", *columns)
    return folder / "model"


def test_what_is_not_known_of_a_text_is_average(with_columns, tmp_path):
    for format in ("table", "plain", "csv", "json"):
        told = succeed("suggest", with_columns, "--text", ASKED, f"--format={format}").stderr
        assert "linktopics: Not known of the text, and treated as average: tags, year.\n" in told
    found = {}
    for tags in ("sky", "pet"):
        draft = tmp_path / f"{tags}.md"
        draft.write_text(f"---\ntags: [{tags}]\n---\n{ASKED}\n", encoding="utf-8")
        rows = asked("suggest", with_columns, "--file", draft, "--top=99")["suggestions"]
        found[tags] = {row["id"]: row["score"] for row in rows}
        assert "treated as average: year.\n" in succeed("suggest", with_columns, "--file", draft).stderr
    assert found["sky"] != found["pet"]


def test_undirected_links_are_counted_as_such(tmp_path):
    data = write_network(tmp_path / "data", {name: name for name in TEXTS}, str.title)
    told = succeed("fit", data, "-o", tmp_path / "model", *QUICK, "--undirected").stdout
    assert re.findall(r"(\w+) links?\b", told.partition("RelationalTopicModel")[0]) == ["undirected"]


def test_suggestions_tell_of_unknown_words(model):
    result = succeed("suggest", model, "--text", f"{ASKED} zebra")
    assert "not in the vocabulary and were left out: 'zebra'." in result.stderr
    assert "zebra" not in result.stdout


def test_suggestions_for_a_document(model):
    found = {way: asked("suggest", model, "--id=kitten", "--direction", way) for way in ("both", "out", "in")}
    suggested = {way: {row["id"] for row in rows["suggestions"]} for way, rows in found.items()}
    assert suggested["out"] == set(TEXTS) - {"kitten", "cat"}
    assert suggested["in"] == set(TEXTS) - {"kitten", "mouse", "milk", "wool"}
    assert suggested["both"] == suggested["out"] & suggested["in"]
    assert found["in"]["id"] == "kitten"


def test_words(model):
    found = asked("words", model, "--links=cat,kitten", "--links=milk", "--linked-by=mouse", "--top=3")
    frame = RelationalTopicModel.load(model).predict_words(["cat", "kitten", "milk"], linked_by=["mouse"], top=3)
    assert [(row["word"], row["probability"]) for row in found["words"]] == list(
        zip(frame["word"], frame["probability"], strict=True)
    )
    assert (found["links"], found["linked_by"]) == (["cat", "kitten", "milk"], ["mouse"])


def test_explanations(model):
    found = asked("explain", model, "kitten", "cat", "--top=3")
    frame = RelationalTopicModel.load(model).explain_link("kitten", "cat")
    for name in ("contribution", "part"):  # its name in earlier versions
        assert [row[name] for row in found["parts"]] == frame["contribution"].tolist()[:3]
    assert (found["parts_in_all"], found["linked"]) == (len(frame), True)
    assert found["score"] == pytest.approx(frame["contribution"].sum())
    assert asked("explain", model, "cat", "kitten")["linked"] is False
    other = asked("explain", model, "kitten", "cat", "--new-end=target")["score"]
    frame = RelationalTopicModel.load(model).explain_link("kitten", "cat", new_end="target")
    assert other == pytest.approx(frame["contribution"].sum())
    assert other != pytest.approx(found["score"])
    every = asked("explain", model, "kitten", "cat", "--top=99")["parts"]
    assert {row["feature"] for row in every} == {None, "tfidf", "tfidf-centroid", "degree"}
    assert all((row["feature"] is None) == (row["source_topic"] is not None) for row in every)


def test_a_vault(vault, tmp_path):
    folder = tmp_path / "model"
    assert asked("info", vault)["links"] == len(LINKS)
    succeed("fit", vault, "-o", folder, *QUICK, "--undirected")
    assert manifest(folder)["network"]["directed"] is False
    assert asked("info", folder)["directed"] is False
    found = asked("suggest", folder, "--id", "sky, night/orbit", "--top=20")
    assert len(found["suggestions"]) == len(TEXTS) - 2
    assert {"id": "kitten", "title": "The kitten"}.items() <= next(
        row.items() for row in found["suggestions"] if row["id"] == "kitten"
    )
    for pair in (("cat", "kitten"), ("kitten", "cat")):
        assert asked("explain", folder, *pair)["linked"] is True
    assert asked("words", folder, "--links", "sky, night/orbit", "--links=cat")["links"] == ["sky, night/orbit", "cat"]
    assert len(asked("topics", folder)["topics"]) == 3


# --------------------------------------------------------------------------------------------------------------------
# Options
# --------------------------------------------------------------------------------------------------------------------

OPTIONS = {
    "topics": (4, {"n_topics": 4}),
    "alpha": (2.5, {"alpha": 2.5}),
    "beta": (0.02, {"beta": 0.02}),
    "learn_alpha": ("per-topic", {"learn_alpha": "per-topic"}),
    "learn_beta": (True, {"learn_beta": True}),
    "seed_words": (["0:cats,kittens", "2:stars"], {"seed_words": [[0, ["cats", "kittens"]], [2, ["stars"]]]}),
    "seed_weight": (12, {"seed_weight": 12}),
    "loss": ("hinge", {"loss": "hinge"}),
    "weights": ("diagonal", {"weights": "diagonal"}),
    "link_cost": (3.0, {"link_cost": 3.0}),
    "nonlink_cost": (1.5, {"nonlink_cost": 1.5}),
    "negatives": (3, {"negatives": 3.0}),
    "calibration": ("none", {"calibration": None}),
    "margin": (0.5, {"margin": 0.5}),
    "weight_variance": (2.0, {"weight_variance": 2.0}),
    "feature": (["degree", "tfidf"], {}),
    "column": (
        ["year:difference", "tags:overlap"],
        {
            "pair_features": [
                *("degree", "tfidf"),
                {"kind": "Column", "column": "year", "compare": "difference"},
                {"kind": "Column", "column": "tags", "compare": "overlap"},
            ]
        },
    ),
    "directed": (False, {"directed": False}),
    "sampler": ("cached", {"sampler": "cached"}),
    "burn_in": (4, {"n_burn_in": 4}),
    "samples": (3, {"n_samples": 3}),
    "thin": (2, {"thin": 2}),
    "chains": (1, {"n_chains": 1}),
    "seed": (5, {"random_state": 5}),
    "jobs": (1, {"n_jobs": 1}),
    "shards": (2, {"n_shards": 2}),
    "engine": ("threads", {}),
    "checkpoint_every": (3, {}),
    "checkpoint_minutes": (99.0, {}),
    "min_documents": (2, {}),
    "max_share": (0.9, {}),
    "stop_words": ("none", {}),
    "strict": (True, {}),
}
"""Options of fit, a value of each that is not the default, and the parameters that then stand in model.json."""


def on_the_command_line(options):
    arguments = []
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(option)
        elif value is False:
            arguments.append(f"--un{name}")
        else:
            arguments += [f"{option}={one}" for one in (value if isinstance(value, list) else [value])]
    return arguments


def in_a_file(options, path):
    """Write settings as TOML, names with dashes and with underscores in turn."""
    lines = [
        f"{name.replace('_', '-') if number % 2 else name} = {json.dumps(value)}\n"
        for number, (name, value) in enumerate(options.items())
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_all_options_of_fit_are_looked_at():
    """The address of a cluster is, where it is not there, by tests of mistakes."""
    fit = typer.main.get_command(app).commands["fit"]
    others = {"data", "output", "config", "overwrite", "quiet", "check", "debug", "address"}
    assert {option.name for option in fit.params} - others == set(OPTIONS)


@pytest.mark.parametrize("way", ["command line", "file"])
def test_options_reach_the_model(way, data, tmp_path, monkeypatch):
    kept, keep = [], RunWriter.save_chain

    def keep_and_tell(self, chain: Chain):
        kept.append(chain.state.iteration)
        keep(self, chain)

    monkeypatch.setattr(RunWriter, "save_chain", keep_and_tell)
    given, folder = {name: value for name, (value, _) in OPTIONS.items()}, tmp_path / "model"
    if way == "file":
        settings = in_a_file({"data": str(data), "output": str(folder), **given}, tmp_path / "settings.toml")
        succeed("fit", "--config", settings, "--quiet")
    else:
        succeed("fit", data, "-o", folder, *on_the_command_line(given), "--quiet")
    found = manifest(folder)
    expected = {name: value for _, parameters in OPTIONS.values() for name, value in parameters.items()}
    assert found["parameters"] == {"intercept": False, "verbose": False, **expected}
    usual = RelationalTopicModel().get_params()
    assert all(usual[name] != value for name, value in expected.items())
    assert found["network"]["directed"] is False
    counter = {"min_df": 2, "max_df": 0.9, "stop_words": None}
    assert {name: found["vectorizer"][name] for name in counter} == counter
    assert kept == [3, 6, 9, 10]


def test_defaults_are_those_of_the_model(data, tmp_path, monkeypatch):
    monkeypatch.setattr(RelationalTopicModel, "fit", stop := raiser(KeyboardInterrupt))
    run("fit", data, "-o", tmp_path / "model")
    usual = RelationalTopicModel(random_state=0, n_jobs=-1).get_params()
    assert stop.called_on[0].get_params() == usual


def test_options_come_before_the_file(data, tmp_path):
    settings = in_a_file(
        {
            "output": str(tmp_path / "not here"),
            "topics": 5,
            "seed": 3,
            "feature": "degree",
            "seed-words": {"1": ["cats"]},
        },
        tmp_path / "settings.toml",
    )
    toml = settings.read_text().replace('{"1": ["cats"]}', '{1 = ["cats"]}')
    settings.write_text(f"{toml}negatives = 'auto'\n")
    succeed("fit", data, "--config", settings, "-o", tmp_path / "model", *QUICK)
    found = manifest(tmp_path / "model")["parameters"]
    assert {"n_topics": 3, "negatives": 2.0, "random_state": 3, "pair_features": ["degree"]}.items() <= found.items()
    assert found["seed_words"] == [[1, ["cats"]]]
    assert not (tmp_path / "not here").exists()


YEAR = {"kind": "Column", "column": "year", "compare": "equal"}


@pytest.mark.parametrize(
    ("arguments", "features"),
    [
        (["--feature=none"], None),
        (["--feature=none", "--column=year:equal"], [YEAR]),
        (["--column=year:equal"], ["tfidf", "tfidf-centroid", "degree", YEAR]),
    ],
)
def test_features(arguments, features, data, tmp_path):
    succeed("fit", data, "-o", tmp_path / "model", *QUICK, "--chains=1", *arguments)
    assert manifest(tmp_path / "model")["parameters"]["pair_features"] == features


def test_a_file_of_stop_words(data, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("Cats\n\nstars\n", encoding="utf-8")
    less, usual = asked("info", data, "--stop-words", words), asked("info", data, "--stop-words=none")
    assert less["words"] == usual["words"] - 2


# --------------------------------------------------------------------------------------------------------------------
# Going on
# --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "more", "sweeps", "n_samples"),
    [
        (["--samples=3"], {"n_samples": 3}, 10, 10),
        (["--burn-in=4"], {"n_burn_in": 4}, 13, 4),
        (["--burn-in=4", "--samples=1"], {"n_burn_in": 4, "n_samples": 1}, 12, 2),
    ],
)
def test_more_of_a_finished_run(arguments, more, sweeps, n_samples, model, copied):
    said = succeed("resume", copied, *arguments, "--quiet", "--jobs=1").stdout
    assert "from sweep 7 on" in said
    one, other = RelationalTopicModel.load(copied), RelationalTopicModel.load(model).resume(**more)
    assert_same(one, other)
    assert (one.log_joints_.shape[1], len(one.samples_)) == (sweeps, n_samples)


def test_an_interrupted_run_goes_on(data, tmp_path, monkeypatch):
    folder, whole = tmp_path / "model", tmp_path / "whole"
    succeed("fit", data, "-o", whole, *QUICK, "--chains=1")
    with monkeypatch.context() as patch:
        interrupt_at(5, patch)
        result = run("fit", data, "-o", folder, *QUICK, "--chains=1", "--checkpoint-every=2")
    assert result.exit_code == 130
    assert result.stderr.endswith(
        f"stopped after sweep 4 of 7 and saved in {folder}; continue with: linktopics resume {folder}\n"
    )
    assert result.stderr.count("\n") == 1
    found = asked("info", folder)
    assert (found["finished"], found["sweeps_done"], found["sweeps"]) == (False, [4], 7)
    assert "linktopics resume" in succeed("info", folder, "--format=table").stdout
    with monkeypatch.context() as patch:
        interrupt_at(2, patch)
        assert run("resume", folder, "--quiet", "--checkpoint-every=1").exit_code == 130
    assert asked("info", folder)["sweeps_done"] == [5]
    succeed("resume", folder, "--quiet")
    assert_same(RelationalTopicModel.load(folder), RelationalTopicModel.load(whole))


def test_an_interrupt_before_anything_is_kept(data, tmp_path, monkeypatch):
    monkeypatch.setattr(RelationalTopicModel, "fit", raiser(KeyboardInterrupt))
    result = run("fit", data, "-o", tmp_path / "model", *QUICK)
    assert (result.exit_code, result.stderr) == (130, "linktopics: interrupted before anything was saved.\n")


def default_signals():
    """Make a process take Ctrl-C, which processes in the background of a shell may have been told to ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def undisturbed(base, data):
    succeed("fit", data, "-o", base / "undisturbed", *QUICK, "--burn-in=300")
    return RelationalTopicModel.load(base / "undisturbed")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(("name", "code"), some_long([("SIGINT", 130), ("SIGTERM", 143)], [("SIGTERM", 143)]))
def test_signals(name, code, data, undisturbed, tmp_path):
    folder = tmp_path / "model"
    command = [sys.executable, "-m", "linktopics", "fit", data, "-o", folder, *QUICK, "--burn-in=300"]
    process = subprocess.Popen(
        [*map(str, command), "--checkpoint-every=1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=default_signals,
    )
    while process.poll() is None and not (
        (folder / "model.json").exists() and any(chain["iteration"] for chain in manifest(folder)["chains"])
    ):
        time.sleep(0.01)
    process.send_signal(getattr(signal, name))
    _, said = process.communicate(timeout=120)
    assert process.returncode == code, said
    done = [chain["iteration"] for chain in manifest(folder)["chains"]]
    assert 0 < max(done) < 302
    assert said == (
        f"linktopics: stopped after sweep {done[0]}, {done[1]} of 302 and saved in {folder}; "
        f"continue with: linktopics resume {folder}\n"
    )
    succeed("resume", folder, "--quiet")
    assert_same(RelationalTopicModel.load(folder), undisturbed)


def test_warmup(monkeypatch):
    fitted = []

    def fit(self, network):
        fitted.append((self.n_topics, self.weights, network.directed))
        return SimpleNamespace(suggest_links=lambda *_, **__: None)

    monkeypatch.setattr(RelationalTopicModel, "fit", fit)
    monkeypatch.setattr(RelationalTopicModel, "word_probabilities", lambda *_: None)
    said = succeed("warmup", "--topics=20", "--topics=3", "--topics=8").stdout
    assert re.sub(r"[\d.]+ s", "s", said) == "1 to 8 topics: s\n17 to 24 topics: s\n"
    assert set(fitted) == {(k, w, way) for k in (8, 24) for w in ("full", "diagonal") for way in (True, False)}


def test_suggestions_from_the_index(model, monkeypatch):
    """Of ten documents the shortlist is everyone."""
    exact = asked("suggest", model, "--text", ASKED, "--search=exact")
    assert asked("suggest", model, "--text", ASKED) == exact
    indexed = asked("suggest", model, "--text", ASKED, "--search=index")
    for one, two in zip(exact["suggestions"], indexed["suggestions"], strict=True):
        assert (one["id"], one["why"]) == (two["id"], two["why"])
        assert one["probability"] == pytest.approx(two["probability"], rel=1e-9)
    monkeypatch.setattr("linktopics.prediction.index.index_library", lambda: None)
    refused = run("suggest", model, "--text", ASKED, "--search=index")
    assert refused.exit_code == 2
    assert "pip install 'linktopics[index]'" in refused.stderr


def test_a_file_of_settings_may_say_iterations(data, tmp_path):
    """What burn-in was called at first."""
    (tmp_path / "settings.toml").write_text("iterations = 4\n", encoding="utf-8")
    quick = [one for one in QUICK if "burn-in" not in one]
    succeed("fit", data, "-o", tmp_path / "model", *quick, "--config", tmp_path / "settings.toml")
    assert manifest(tmp_path / "model")["parameters"]["n_burn_in"] == 4
