"""The page docs/developer/how-to-add.md: its examples, followed as they stand, each command in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.small_models import LINKS, TEXTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/developer/how-to-add.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r'^```python title="([\w.]+)"\n(.*?)^```$', PAGE, flags=re.M | re.S))
PLUGINS = ["squared_loss.py", "hits_at_5.py", "read_tsv.py", "length_feature.py"]
QUICK = ["--topics=3", "--burn-in=5", "--samples=2", "--chains=1"]

IN_PYTHON = """
import json
import numpy as np
import hits_at_5, length_feature, read_tsv, squared_loss
from linktopics import RelationalTopicModel
from linktopics.datasets import make_network, open_network
from linktopics.evaluation import LinkSearchCV, document_folds, evaluate
from linktopics.evaluation.baselines import BM25, TfidfCosine
from linktopics.evaluation.metrics import link_ranks

network = open_network("toy.tsv")
settings = {"n_burn_in": 5, "n_samples": 2, "thin": 1, "n_chains": 1, "negatives": 2, "random_state": 0}
model = RelationalTopicModel(3, loss="squared", pair_features=["tfidf", "length"], **settings).fit(network)
model.save("from-python")

larger = make_network(60, 3, 40, mean_length=10, mean_degree=4, random_state=0)
results = evaluate(larger, {"ours": model, "tfidf": TfidfCosine()}, folds=2)
results.to_csv("folds.csv")
linked = np.zeros((60, 60), bool)
linked[tuple(larger.links.T)] = linked[tuple(larger.links.T[::-1])] = True
shares = []
for train, test in document_folds(60, 2):
    scores = TfidfCosine().fit(larger.subset(train)).predict_links(larger.counts[test])
    shares.append(float(np.mean(link_ranks(scores, linked[np.ix_(test, train)]) <= 5)))
search = LinkSearchCV(BM25(), {"k1": [0.1, 9.0]}, folds=2, metric="hits_at_5").fit(larger)

scores = np.array([-1.5, 0.25, 2.0])
losses = []
for label in (True, False):
    loss = squared_loss.SquaredLoss(np.full(3, label), np.full(3, 3.0))
    linear, quadratic = loss.gaussian(loss.draw(scores, np.random.default_rng(0)))
    one = squared_loss.SquaredLoss(np.array([label]), np.array([3.0]))
    gaussian = linear * scores - quadratic * scores**2 / 2
    losses.append((gaussian - [one.log_likelihood(score[None]) for score in scores]).tolist())
print(json.dumps({
    "probabilities": model.predict_links(network.subset([0, 7])).tolist(),
    "lengths": network.lengths.tolist(),
    "weights": model.feature_weights_.tolist(),
    "found": results.folds["hits_at_5"].tolist(),
    "shares": shares,
    "tried": search.results_["hits_at_5"].tolist(),
    "best": search.best_score_,
    "losses": losses,
}))
"""
LATER = """
import json
import length_feature, squared_loss
from linktopics import RelationalTopicModel

model = RelationalTopicModel.load("from-python", verify=True)
reasons = model.explain_link("kitten", "star").set_index("feature")
print(json.dumps({
    "probabilities": model.predict_links(model.network_.subset([0, 7])).tolist(),
    "settings": [model.loss, *model.pair_features],
    "columns": model.feature_names_,
    "detail": reasons.loc["length", "detail"],
    "resumed": len(model.resume(n_samples=1).samples_),
}))
"""


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


def python(folder, code):
    """Run code in a process of its own, and return what it prints, which is JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_all_of_them_in_python(folder):
    """Registered by `import`: fitted with, saved, loaded in another process, evaluated, and what each of them computes.

    Seen to fail against a loss whose `linear` lacks the cost, a metric of four candidates or one that is better when
    lower, and a feature of other numbers each time or one that tells another length.
    """
    first, later = python(folder, IN_PYTHON), python(folder, LATER)
    assert later["probabilities"] == first["probabilities"]
    assert later["settings"] == ["squared", "tfidf", "length"]
    assert later["columns"] == ["tfidf", "length"]
    assert later["resumed"] == 3
    assert first["weights"][1] != 0
    names = list(TEXTS)
    kitten, star = (first["lengths"][names.index(name)] for name in ("kitten", "star"))
    assert later["detail"] == f"{kitten} and {star} words"
    for differences in first["losses"]:  # the Gaussian form and the likelihood differ by a constant
        assert differences == pytest.approx([differences[0]] * 3)
    assert first["found"][2:] == pytest.approx(first["shares"])
    assert 0 < min(first["found"]) <= max(first["found"]) < 1
    assert first["best"] == max(first["tried"]) > min(first["tried"])
    columns, *rows = (folder / "folds.csv").read_text(encoding="utf-8").splitlines()
    found = [float(row.split(",")[columns.split(",").index("hits_at_5")]) for row in rows]
    assert found == pytest.approx(first["found"])


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


def test_the_metric(folder):
    table = succeed(
        folder, "evaluate", "toy.tsv", "--model=tfidf", "--model=linktopics", *QUICK, "--folds=2", "--jobs=2"
    )
    assert "hits@5 %" in table


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
