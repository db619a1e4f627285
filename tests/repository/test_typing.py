"""Type hints as a user's own type checker sees them, in a folder of the user's, of the package as it is installed."""

import re
import subprocess
import sys

import pytest

import linktopics

PROGRAM = """
import io
import numpy as np
import pandas as pd
from numpy.typing import NDArray
import linktopics
from linktopics import (
    CacheWarning, Checkpoint, CheckpointWarning, DataError, DocumentNetwork, LinkSearchCV, LinktopicsError,
    MixingWarning, ModelError, NetworkWarning, RelationalTopicModel, SamplingError, UnseenWordsWarning, VariationalRTM,
    baselines, datasets, evaluate, features, interop, metrics, plots,
)
from linktopics.explorer import Explorer, write_report
from linktopics.features import Column, Degree, Intercept, PairFunction, PairMatrix, Similarity

reveal_type(linktopics.__version__)  # str

# Networks
network: DocumentNetwork = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
network = datasets.load_stdlib().subset([0, 1]).extended({"c": "cats"}, [("c", "a")])
reveal_type(DocumentNetwork(np.eye(2, dtype=int), [(0, 1)]))  # linktopics.network.network.DocumentNetwork
reveal_type(DocumentNetwork.from_jsonl("documents.jsonl"))  # linktopics.network.network.DocumentNetwork
reveal_type(DocumentNetwork.from_frames(pd.DataFrame(), pd.DataFrame()))  # linktopics.network.network.DocumentNetwork
reveal_type(DocumentNetwork.from_folder("vault"))  # linktopics.network.network.DocumentNetwork
reveal_type(DocumentNetwork.from_linqs("cora"))  # linktopics.network.network.DocumentNetwork
reveal_type(datasets.open_network("cora"))  # linktopics.network.network.DocumentNetwork
reveal_type(datasets.load_cora())  # linktopics.network.network.DocumentNetwork
reveal_type(datasets.load_citeseer())  # linktopics.network.network.DocumentNetwork
reveal_type(datasets.load_webkb())  # linktopics.network.network.DocumentNetwork
reveal_type(datasets.make_network(50))  # linktopics.network.network.DocumentNetwork
reveal_type(network.n_links)  # int
reveal_type(network.to_undirected().without_links().fingerprint())  # str
network.summary(io.StringIO())

# Models
others = [Column("year"), Degree(), Intercept(), PairMatrix("given", np.eye(3)), Similarity("tfidf", "own")]
model = RelationalTopicModel(n_topics=20, pair_features=["tfidf", *others], random_state=0)
same: RelationalTopicModel = model.fit(network, checkpoint="folder").resume(n_samples=5).extend(network)
model.fit(network, checkpoint=Checkpoint("folder", every=20, minutes=None)).save("folder")
loaded: RelationalTopicModel = RelationalTopicModel.load("folder", verify=True)
reveal_type(RelationalTopicModel.from_paper("Gibbs-gRTM"))  # linktopics.model.estimator.RelationalTopicModel
reveal_type(VariationalRTM(3).fit(network))  # linktopics.model.variational.VariationalRTM
topics: pd.DataFrame = loaded.topics(n_words=3, n_documents=2, coherence="npmi")
weights: NDArray[np.float64] = loaded.link_weights_
trace: dict[str, NDArray[np.float64]] = loaded.trace_
shares: NDArray[np.float64] = loaded.transform(["cats"])
suggested: pd.DataFrame = loaded.suggest_links("cats", top=3)
coherence: NDArray[np.float64] = loaded.coherence("umass")
reveal_type(loaded.predict_links(["cats"]))  # numpy.ndarray[Any, numpy.dtype[numpy.float64]]
reveal_type(loaded.word_probabilities([["a"]]))  # numpy.ndarray[Any, numpy.dtype[numpy.float64]]
reveal_type(loaded.topic_diversity())  # float
reveal_type(loaded.summary_text())  # str
tables: list[pd.DataFrame] = [loaded.suggest_links_for("a"), loaded.explain_link("a", "b"), loaded.diagnostics()]
tables += [loaded.predict_words(["a"]), evaluate(network, ["tfidf"]).summary()]  # pandas itself has no types
reveal_type(loaded.network_)  # linktopics.network.network.DocumentNetwork

# Measuring and choosing
reveal_type(evaluate(network, ["tfidf", "random"], folds=2))  # linktopics.evaluation.evaluation.Evaluation
reveal_type(LinkSearchCV(model, {"n_topics": [5, 10]}).fit(network))  # linktopics.evaluation.search.LinkSearchCV
reveal_type(baselines.BM25().fit(network).predict_links("cats"))  # numpy.ndarray[Any, numpy.dtype[numpy.float64]]
reveal_type(metrics.auc(np.eye(2), [(0, 1)]))  # float
reveal_type(metrics.link_ranks(np.eye(2), [(0, 1)]))  # numpy.ndarray[Any, numpy.dtype[numpy.float64]]
reveal_type(interop.pyldavis_input(model))  # dict[str, Any]
reveal_type(features.DEFAULT_FEATURES)  # tuple[str, str, str]
plots.weight_matrix(loaded)
plots.topic_graph(loaded)
reveal_type(Explorer(loaded).meta())  # dict[str, Any]
write_report(loaded, "report.html")

try:
    datasets.open_network("nowhere")
except (DataError, ModelError, SamplingError) as error:
    problem: LinktopicsError = error
warned: list[type[Warning]] = [CacheWarning, CheckpointWarning, MixingWarning, NetworkWarning, UnseenWordsWarning]
"""

MISTAKES = {
    "RelationalTopicModel(topics=20)": "call-arg",
    'RelationalTopicModel().fit([[1]]).topics("three")': "arg-type",
    "RelationalTopicModel.load(path=3)": "arg-type",
    'DocumentNetwork.from_texts(["a"], directed="yes")': "arg-type",
    "linktopics.RelationalTopicModell": "attr-defined",
    "linktopics.datasets.load_korra()": "attr-defined",
}


def test_the_program_uses_every_public_name():
    assert [name for name in linktopics.__all__ if not re.search(rf"\b{name}\b", PROGRAM)] == []


@pytest.mark.long
def test_what_a_type_checker_says(tmp_path):
    """One run for both files: mypy reads all of linktopics anew."""
    pytest.importorskip("mypy", reason="mypy is not installed; it comes with linktopics[dev]")
    (tmp_path / "right.py").write_text(PROGRAM)
    lines = ["import linktopics", "from linktopics import DocumentNetwork, RelationalTopicModel", *MISTAKES]
    (tmp_path / "wrong.py").write_text("\n".join(lines))
    options = ["--config-file", "", "--disable-error-code", "import-untyped", "--strict", "--follow-imports", "silent"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path / "cache"), "right.py", "wrong.py"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    said = result.stdout.splitlines()
    assert not [line for line in said if line.startswith("right.py") and ": note: Revealed type" not in line]
    found = dict(re.findall(r'^right\.py:(\d+): note: Revealed type is "(.*)"$', result.stdout, re.MULTILINE))
    for number, line in enumerate(PROGRAM.splitlines(), start=1):
        if line.startswith("reveal_type"):
            assert plain(found[str(number)]) == line.split("  # ")[1], line
    for number, kind in enumerate(MISTAKES.values(), start=3):
        assert any(line.startswith(f"wrong.py:{number}:") and f"[{kind}]" in line for line in said), result.stdout


def plain(revealed):
    """Return a type without what differs between versions of mypy and NumPy."""
    short = re.sub(r"\bbuiltins\.|typing\.|[?*]", "", revealed)
    short = short.replace("numpy._typing._64Bit", "_64Bit").replace("numpy.floating[_64Bit]", "numpy.float64")
    return re.sub(r"numpy\.ndarray\[.*?, numpy\.dtype", "numpy.ndarray[Any, numpy.dtype", short)
