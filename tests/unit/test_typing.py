"""Type hints as a user's own type checker sees them."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from linktopics import DocumentNetwork, RelationalTopicModel, datasets, evaluate, plots
from linktopics.features import Column

network: DocumentNetwork = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
network = datasets.load_stdlib().subset([0, 1]).extended({"c": "cats"}, [("c", "a")])
model = RelationalTopicModel(n_topics=20, pair_features=["tfidf", Column("year")], random_state=0)
same: RelationalTopicModel = model.fit(network, checkpoint="folder").resume(n_samples=5).extend(network)
model.save("folder")
loaded: RelationalTopicModel = RelationalTopicModel.load("folder", verify=True)
topics: pd.DataFrame = loaded.topics(n_words=3, n_documents=2, coherence="npmi")
weights: NDArray[np.float64] = loaded.link_weights_
trace: dict[str, NDArray[np.float64]] = loaded.trace_
shares: NDArray[np.float64] = loaded.transform(["cats"])
suggested: pd.DataFrame = loaded.suggest_links("cats", top=3)
coherence: NDArray[np.float64] = loaded.coherence("umass")
plots.weight_matrix(loaded)
"""

MISTAKES = {
    "RelationalTopicModel(topics=20)": "call-arg",
    'RelationalTopicModel().fit([[1]]).topics("three")': "arg-type",
    "RelationalTopicModel.load(path=3)": "arg-type",
    'DocumentNetwork.from_texts(["a"], directed="yes")': "arg-type",
}


def test_what_a_type_checker_says(tmp_path):
    """One run for both files: mypy reads all of linktopics anew."""
    pytest.importorskip("mypy", reason="mypy is not installed; it comes with linktopics[dev]")
    (tmp_path / "right.py").write_text(PROGRAM)
    lines = ["from linktopics import DocumentNetwork, RelationalTopicModel", *MISTAKES]
    (tmp_path / "wrong.py").write_text("\n".join(lines))
    options = ["--config-file", "", "--disable-error-code", "import-untyped", "--strict", "--follow-imports", "silent"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(tmp_path / "cache"), "right.py", "wrong.py"],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    said = result.stdout.splitlines()
    assert not [line for line in said if line.startswith("right.py")]
    for number, kind in enumerate(MISTAKES.values(), start=2):
        assert any(line.startswith(f"wrong.py:{number}:") and f"[{kind}]" in line for line in said), result.stdout
