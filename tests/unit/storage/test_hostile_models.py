"""Models of strangers whose checksums fit: they do nothing, take nothing and lead nowhere, or are refused."""

import json
import os
import shutil
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import NetworkWarning, RelationalTopicModel
from linktopics.cli.info import info
from linktopics.errors import LinktopicsError, ModelError, SamplingError
from linktopics.storage.folder import MANIFEST
from linktopics.storage.manifest import MAX_MANIFEST_BYTES
from support.changed_models import array, put, replace_file, seal
from support.small_models import ASKED, assert_same, small_model, small_network

load = RelationalTopicModel.load


@pytest.fixture(scope="module")
def fitted():
    return small_model(seed_words={0: ["cats"]}, pair_features=["tfidf", "topics-neighbours"]).fit(small_network())


@pytest.fixture
def saved(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "given" / "model")


def assert_refused(what, match):
    with pytest.raises(ModelError, match=match) as caught:
        what()
    message = str(caught.value)
    assert message.isprintable(), "it may be shown on a terminal"
    assert len(message) < 1000


# --- what a manifest says ---------------------------------------------------------------------------------------------

SAYS = {
    "many documents": (put("network", "n_documents", to=10**12), "n_documents is 1000000000000"),
    "no documents": (put("network", "n_documents", to=-1), "n_documents is -1"),
    "many words": (put("network", "n_words", to=2**30), "words or columns are missing"),
    "a share of words": (put("network", "n_words", to=16.0), r"n_words is 16\.0"),
    "direction in words": (put("network", "directed", to="yes"), "directed is 'yes'"),
    "a column twice": (put("network", "columns", to=["a", "a"]), "columns has a duplicate"),
    "columns in columns": (put("network", "columns", to=[["a"]]), r"columns\[0\] is list"),
    "a report of another kind": (put("network", "report", "n_self_links", to=[1]), "n_self_links is list"),
    "examples of another kind": (put("network", "report", "self_links", to=7), "self_links is 7"),
    "many topics": (put("settings", "n_topics", to=10**9), "n_topics is 1000000000"),
    "other topics": (put("settings", "n_topics", to=32767), "in place of float"),
    "an unknown loss": (put("settings", "loss", to="os.system"), "needs the loss 'os.system', which is not registered"),
    "alpha is no number": (put("settings", "alpha", to=float("nan")), "alpha is nan"),
    "infinite costs": (put("settings", "link_cost", to=float("inf")), "link_cost is inf"),
    "costs of many digits": (put("settings", "link_cost", to=10**400), "link_cost is 1000000000"),
    "large costs": (put("settings", "link_cost", to=10**18), "link_cost is 1000000000000000000"),
    "large costs of non-links": (put("settings", "nonlink_cost", to=1.1e9), r"nonlink_cost is 1100000000\.0"),
    "no variance": (put("settings", "weight_variance", to=1e-300), "weight_variance is 1e-300"),
    "a wide margin": (put("settings", "margin", to=1e30), r"margin is 1e\+30"),
    "many shards": (put("settings", "n_shards", to=10**9), "n_shards is 1000000000"),
    "many sweeps": (put("schedule", "n_burn_in", to=10**18), "n_burn_in is 1000000000000000000"),
    "many samples": (put("schedule", to={"n_burn_in": 1, "n_samples": 10**6, "thin": 10**6, "learn_alpha": None,
                                     "learn_beta": False}), "the schedule is of 1,000,000,000,001 sweeps"),
    "a schedule of something else": (put("schedule", "ta", to=1), "schedule: Object contains unknown field `ta`"),
    "settings of something else": (put("settings", "ta", to=1), "settings: Object contains unknown field `ta`"),
    "settings of another alphabet": (put("settings", "\ud800", to=1), "surrogates not allowed"),
    "settings that move the cursor": (put("settings", "\x1b[2J" * 999, to=1), r"unknown field `\?\[2J"),
    "no thinning": (put("schedule", "thin", to=0), "thin is 0"),
    "a chain beyond the schedule": (put("chains", 0, "iteration", to=9999), "more sweeps than the schedule"),
    "a chain behind its trace": (put("schedule", "n_burn_in", to=2), "more sweeps than the schedule"),
    "chains in disorder": (put("chains", 0, "number", to=1), "not numbered consecutively"),
    "a reference chain that is not there": (put("reference_chain", to=2), "the reference chain does not exist"),
    "a reference chain of no number": (put("reference_chain", to=True), "reference_chain is True"),
    "beta in words": (put("chains", 0, "beta", to="0.01"), "beta is '0.01'"),
    "no beta": (put("chains", 0, "beta", to=None), "has no beta"),
    "seconds in words": (put("chains", 0, "seconds", "topics", to="long"), r"seconds\[.*\]: Expected `float`, got"),
    "other seconds": (put("chains", 1, "seconds", to={}), "has timings of other steps than the first chain"),
    "a random state of another kind": (put("chains", 0, "rng", 0, "bit_generator", to="MT19937"), "MT19937"),
    "a random state that is too large": (put("chains", 0, "rng", 0, "state", "state", to=10**60), "inconsistent"),
    "a likelihood of many digits": (put("chains", 0, "log_links", to=10**400), "umber.* out of range"),
    "a random state below zero": (put("chains", 0, "rng", 0, "uinteger", to=-1), "inconsistent"),
    "no random state": (put("chains", 0, "rng", to=[]), "rng is list"),
    "random states of shards": (lambda manifest: manifest["chains"][0]["rng"].append(manifest["chains"][0]["rng"][0]),
                                "2 random generators in place of 1"),
    "seeds of many digits": (put("entropy", to=["9" * 4000]), r"entropy\[0\] is '9999"),
    "a seed below zero": (put("inference_seed", to=-1), "inference_seed is -1"),
    "features of no scale": (put("features", "scale", to=[0.0, 1.0]), r"scale\[0\] is 0\.0"),
    "fewer features": (put("features", "mean", to=[0.0]), "lists of different lengths"),
    "quantities twice": (put("quantities", to=["log joint", "log joint"]), "quantities has a duplicate"),
    "many jobs": (put("parameters", "n_jobs", to=10**9), "n_jobs is 1000000000"),
    "no jobs": (put("parameters", "n_jobs", to=0), "n_jobs is 0"),
    "parameters of other kinds": (put("parameters", "n_burn_in", to="all"), "'n_burn_in' parameter"),
    "a feature that is code": (put("parameters", "pair_features", to=[{"kind": "eval", "name": "x"}]),
                               "needs the kind of pair feature 'eval', which is not registered"),
    "a column that is none": (put("parameters", "pair_features", to=[{"kind": "Column", "column": [], "compare": ""}]),
                              "not described by strings"),
    "a file twice": (lambda manifest: manifest["files"].append(manifest["files"][0]), "it names a file twice"),
    "samples of two chains": (lambda manifest: manifest["chains"][1].update(samples=manifest["chains"][0]["samples"]),
                              "belongs to two chains"),
    "a size in words": (put("files", 0, "bytes", to="many"), r"files\[0\]\.bytes is 'many'"),
    "no size": (lambda manifest: manifest["files"][0].pop("bytes") and None, "missing required field `bytes`"),
    "a name that ends early": (put("files", 0, "file", to="a\0.safetensors"), r"file is 'a\\x00"),
    "a name that moves the cursor": (put("files", 0, "file", to="\x1b[2Ja\n.safetensors"), r"file is '\\x1b"),
    "a name of another alphabet": (put("files", 0, "file", to="\ud800.safetensors"), r"files\[0\]\.file is"),
    "a very long name": (put("files", 0, "file", to="a" * 10**6 + ".safetensors"), r"files\[0\]\.file is"),
    "a name in a folder": (put("files", 0, "file", to="a/b.safetensors"), r"files\[0\]\.file is"),
    "a name of another system": (put("files", 0, "file", to="..\\b.safetensors"), r"files\[0\]\.file is"),
    "a kind that moves the cursor": (put("kind", to="\x1b[2J\n" * 99), "not a RelationalTopicModel"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS)
def test_what_a_manifest_says(name, saved):
    change, match = SAYS[name]
    seal(saved, change)
    assert_refused(lambda: load(saved, unfinished=True), match)


@pytest.mark.parametrize("name", ["many documents", "many samples", "seconds in words", "a size in words"])
def test_a_manifest_that_is_only_shown(name, saved, capsys):
    seal(saved, SAYS[name][0])
    with pytest.raises(ModelError, match="damaged"):
        info(str(saved), "json")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("depth", [900, 990, 1_000, 5_000, 200_000])
def test_a_manifest_of_many_floors(depth, saved):
    (saved / MANIFEST).write_text('{"format": 1, "a": ' + "[" * depth + "]" * depth + "}")
    assert_refused(lambda: load(saved), "damaged")


def test_numbers_of_many_digits(saved):
    text = (saved / MANIFEST).read_text()
    (saved / MANIFEST).write_text(text.replace('"format": 1', '"format": 1' + "0" * 10**5))
    assert_refused(lambda: load(saved), "format|damaged")


# --- vectorizers ------------------------------------------------------------------------------------------------------

VECTORIZERS = {
    "input": ("filename", "it reads files"),
    "analyzer": ("os.system", "its analyzer is not one of scikit-learn's own"),
    "tokenizer": ("eval", "its tokenizer is not one of scikit-learn's own"),
    "preprocessor": ("builtins.exec", "its preprocessor is not one of scikit-learn's own"),
    "vocabulary": (["a"], "its vocabulary is not one of"),
    "token_pattern": (r"(\w+\s?)+$", "may take very long"),
    "ngram_range": ([1, 10**9], "sequences of 1000000000 words"),
    "dtype": ("object", "it counts in 'object'"),
    "stop_words": ([7], "its stop words are not words"),
    "lowercase": ("yes", "inconsistent"),
    "strip_accents": ("os.system", "inconsistent"),
}


@pytest.mark.parametrize("name", VECTORIZERS)
def test_a_vectorizer_that_does_more_than_count_words(name, saved):
    value, match = VECTORIZERS[name]
    seal(saved, put("vectorizer", name, to=value))
    assert_refused(lambda: load(saved), match)


@pytest.mark.parametrize("pattern", ["[", "(?P<a", "a{1,99999999999999999999}", 7, "(" * 5000])
def test_a_pattern_that_is_none(pattern, saved):
    seal(saved, put("vectorizer", "token_pattern", to=pattern))
    assert_refused(lambda: load(saved), "its token_pattern")


def test_such_a_vectorizer_is_brought_again(saved, fitted):
    seal(saved, put("vectorizer", "input", to="filename"))
    loaded = load(saved, vectorizer=fitted.network_.vectorizer)
    np.testing.assert_array_equal(loaded.transform(ASKED), fitted.transform(ASKED))


def test_such_a_vectorizer_is_not_saved(tmp_path):
    model = small_model().fit(small_network(vectorizer=CountVectorizer(token_pattern=r"(?:\w+)+\b")))
    with pytest.warns(NetworkWarning, match="token_pattern .* may take very long; to use the model with new texts"):
        model.save(tmp_path / "model")
    assert load(tmp_path / "model").network_.vectorizer is None


# --- arrays -----------------------------------------------------------------------------------------------------------


def alternating(arrays):
    """Let strings overlap: each second one is the whole text."""
    n, size = len(arrays["ids/ends"]), len(arrays["ids/text"])
    return save({**arrays, "ids/ends": np.where(np.arange(n) % 2, 0, size).astype(np.int64)})


def column(name, values):
    """Put JSON in place of a column."""
    data = np.frombuffer(json.dumps(values).encode(), np.uint8)
    return lambda arrays: save(
        {**{key: value for key, value in arrays.items() if not key.startswith(f"{name}/")}, f"{name}/json": data}
    )


ARRAYS = {
    "strings that overlap": ("network", alternating, "strings do not follow one another"),
    "strings that end early": ("network", array("ids/ends", lambda a: a // 2), "do not end where their text does"),
    "ends of another type": ("network", array("ids/ends", lambda a: a.astype(float)), "do not follow"),
    "a dict of ids": ("network", column("ids", {"a": 1}), "it is not a list"),
    "lists of ids": ("network", column("ids", [[n] for n in range(10)]), "not hashable"),
    "dicts of ids": ("network", column("ids", [{}] * 10), "it is not a list of plain values"),
    "the same id": ("network", column("ids", ["a"] * 10), "holds 'a' twice"),
    "a number of words": ("network", column("vocabulary", 7), "it is not a list"),
    "texts that are numbers": ("network", column("texts", list(range(10))), "not a string"),
    "words of another type": ("network", array("counts/words", lambda a: a.astype(np.float32)), "inconsistent"),
    "starts of another type": ("network", array("counts/starts", lambda a: a.astype(np.uint64)), "inconsistent"),
    "counts of another type": ("network", array("counts/values", lambda a: a.astype(np.int64)), "inconsistent"),
    "links of another type": ("network", array("links", lambda a: a.astype(np.float64)), "inconsistent"),
    "many tokens": ("network", array("counts/values", lambda a: a * 2**28), "assignments is an array"),
    "pairs of another type": ("training", array("source", lambda a: a.astype(np.int64)), "source is an array of int64"),
    "labels of another type": ("training", array("label", lambda a: a.astype(np.int8)), "label is an array of int8"),
    "topics of another type": ("samples-0", array("0/word_topic", lambda a: a.astype(float)), "of float64"),
    "weights without numbers": ("samples-1", array("0/weights", lambda a: a * np.nan), "not finite"),
    "alpha below zero": ("samples-0", array("1/alpha", lambda a: -a), "not positive"),
    "a longer trace": ("chain-0", array("trace", lambda a: np.tile(a, (9, 1))), "has a trace of 63 sweeps"),
    "a trace in a row": ("chain-0", array("trace", lambda a: a.reshape(-1)), "trace is an array"),
    "tokens of another type": ("chain-0", array("assignments", lambda a: a.astype(np.int8)), "assignments is an array"),
    "topics of a feature": (
        "training", array("fitted topics-neighbours/alpha", lambda a: a[:1]), "topics-neighbours/alpha is an array",
    ),
    "a seed of a feature below zero": (
        "training", array("fitted topics-neighbours/seed", lambda a: a - 2**62), "a seed is not negative",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name, saved):
    file, change, match = ARRAYS[name]
    replace_file(saved, file, change)
    assert_refused(lambda: load(saved), match)


@pytest.mark.parametrize("name", ["0/word_topic", "0/doc_topic"])
def test_topics_that_are_shown_are_numbers(name, saved):
    seal(saved, put("reference_chain", to=0))
    replace_file(saved, "samples-0", array(name, lambda a: a * np.nan))
    assert_refused(lambda: load(saved), "its topics are not finite")


@pytest.mark.parametrize(("name", "to"), [("0/doc_topic", np.inf), ("0/doc_topic", np.nan), ("0/weights", 1e300)])
def test_words_from_links_whose_scores_are_no_numbers(name, to, saved):
    replace_file(saved, "samples-0", array(name, lambda a: np.full_like(a, to)))
    seal(saved, put("reference_chain", to=1))
    model = load(saved)
    with pytest.raises(SamplingError, match="the scores of pairs are not finite"), np.errstate(all="ignore"):
        model.word_probabilities([["cat"]])


@pytest.mark.parametrize(
    "change",
    [
        put("calibration", "offset", to=-1e30),
        put("calibration", "offset", to=1e30),
        put("calibration", "curves", to={"out": {"knots": [0.0], "slopes": [1.0, 1.0], "level": -1e300}}),
        put("calibration", "curves", to={"out": {"knots": [0.0], "slopes": [1e300, 1e300], "level": 0.0}}),
    ],
)
def test_probabilities_that_vanish(change, saved):
    """They are all 0 or 1, or too small for a number, and candidates are still ranked."""
    seal(saved, change)
    assert len(load(saved).suggest_links(ASKED, top=3)) == 3


def unordered(values):
    return values[::-1]


STATES = {
    "pairs in disorder": ("training", array("source", unordered), "not in order"),
    "labels beyond one": ("training", array("label", lambda a: (a.view(np.uint8) + 7).view(bool)), "out of range"),
    "seed words that are not there": ("training", array("seeds/word", lambda a: a + 10**6), "out of range"),
    "seed words of no topic": ("training", array("seeds/topic", lambda a: a - 1), "out of range"),
    "seed words without end": ("training", array("seeds/amount", lambda a: a * np.inf), "not finite"),
    "features without numbers": ("training", array("features", lambda a: a * np.nan), "not finite"),
    "topics below zero": ("chain-0", array("assignments", lambda a: a - 1), "out of range"),
    "augmented variables below zero": ("chain-0", array("augmented", lambda a: -a), "not positive"),
}


@pytest.mark.parametrize("name", STATES)
def test_states(name, saved):
    file, change, match = STATES[name]
    replace_file(saved, file, change)
    model = load(saved)
    assert_refused(lambda: model.resume(n_samples=1), match)


def test_features_that_are_not_those_of_the_weights(saved):
    seal(saved, put("parameters", "pair_features", to=["tfidf", "tfidf-centroid"]))
    model = load(saved)
    assert_refused(lambda: model.predict_links(ASKED), "differ from those of the weights")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda a: a[:1], "norm is an array"),
        (lambda a: a * np.nan, "negative, or not finite"),
        (lambda a: -a, "negative, or not finite"),
    ],
)
def test_lengths_of_a_feature(change, match, tmp_path):
    small_model(pair_features=["tfidf-centroid"]).fit(small_network()).save(tmp_path / "model")
    replace_file(tmp_path / "model", "training", array("fitted tfidf-centroid/norm", change))
    assert_refused(lambda: load(tmp_path / "model").predict_links(ASKED), match)


def test_arrays_at_odd_places(saved, fitted):
    """Kernels read whole words, so such arrays are copied."""
    (path,) = saved.glob("samples-0-*")
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    odd = (size + 3).to_bytes(8, "little") + data[8 : 8 + size] + b"   " + data[8 + size :]
    replace_file(saved, "samples-0", odd)
    loaded = load(saved)
    assert all(getattr(loaded.samples_[0], name).flags.aligned for name in ("word_topic", "doc_topic", "weights"))
    assert_same(loaded, fitted)


def test_words_that_only_a_number_speaks_of(tmp_path):
    """Without names of words and without samples, nothing in the files is as large as the number of words."""
    network = small_network()
    small_model(pair_features=None).fit(network.counts, links=network.links).save(tmp_path / "model")

    def change(manifest):
        manifest["network"]["n_words"] = 10**9
        manifest["schedule"]["n_burn_in"] += 50
        for chain in manifest["chains"]:
            chain["samples"] = []

    seal(tmp_path / "model", change)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match="1,000,000,000 words, of which documents have only the first"):
            load(tmp_path / "model", unfinished=True).resume()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


# --- files ------------------------------------------------------------------------------------------------------------


def in_time(what):
    """Call something that might wait for ever."""
    found = []

    def call():
        try:
            what()
        except LinktopicsError as error:
            found.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive(), "it waits"
    (error,) = found
    raise error


SPECIAL = {
    "a pipe": os.mkfifo if hasattr(os, "mkfifo") else None,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes among files")
@pytest.mark.parametrize("start", [MANIFEST, "network", "samples-0"])
@pytest.mark.parametrize("name", SPECIAL)
def test_files_that_are_none(name, start, saved):
    (path,) = saved.glob(f"{start}*")
    path.unlink()
    SPECIAL[name](path)
    assert_refused(lambda: in_time(lambda: load(saved)), f"{path.name}.*cannot be read|{path.name}.*missing")


def test_a_manifest_that_is_too_large_is_not_read(saved):
    os.truncate(saved / MANIFEST, 2**40)  # which takes no room on disk
    assert_refused(lambda: load(saved), f"not a file of up to {MAX_MANIFEST_BYTES:,} bytes")


def test_a_header_that_is_too_large_is_not_read(saved):
    (path,) = saved.glob("network-*")
    text = path.read_bytes()[8:]
    replace_file(saved, "network", (2**25).to_bytes(8, "little") + b" " * 2**25 + text)
    assert_refused(lambda: load(saved), "its header is too large")


def tree(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_links_in_a_folder_are_not_written_through(saved, tmp_path, fitted):
    """A model may be made of links to files; going on replaces the links, and leaves alone where they lead."""
    linked = tmp_path / "linked"
    linked.mkdir()
    for path in saved.iterdir():
        (linked / path.name).symlink_to(path)
    outside = tree(saved)
    model = load(linked)
    assert_same(model, fitted)
    model.resume(n_samples=1, checkpoint=linked)
    assert tree(saved) == outside
    assert len(load(linked).samples_) == 6
    assert not any(path.is_symlink() for path in linked.glob("*.json"))


def test_going_on_writes_nothing_outside_the_folder(saved, tmp_path):
    (tmp_path / "given" / "network-00000000.safetensors").write_bytes(b"beside, with a name like ours")
    (saved / "sub").mkdir()
    beside = {path: data for path, data in tree(tmp_path).items() if saved not in path.parents}
    model = load(saved)
    with pytest.raises(LinktopicsError, match="holds other files"):
        model.resume(n_samples=1, checkpoint=saved)
    (saved / "sub").rmdir()
    model.resume(n_samples=1, checkpoint=saved)
    assert {path: data for path, data in tree(tmp_path).items() if saved not in path.parents} == beside


AUDITED = """
import sys
from linktopics import RelationalTopicModel

def ask():
    model = RelationalTopicModel.load(sys.argv[1], verify=True)
    model.transform(sys.argv[2]), model.suggest_links(sys.argv[2], top=3), model.explain_link("cat", "milk")

ask()  # what is imported and compiled once is no matter
REFUSED = ("exec", "compile", "import", "marshal.", "pickle.", "subprocess.", "os.", "socket.", "shutil.", "ctypes.dl")
READING = ("os.listdir", "os.scandir", "os.putenv", "os.fwalk", "os.walk")
found = []

def watch(event, arguments):
    if event == "open" and (arguments[2] or 0) & 3:
        found.append((event, arguments))
    elif event.startswith(REFUSED) and event not in READING:
        found.append((event, str(arguments)[:200]))

sys.addaudithook(watch)
ask()
print(found)
"""


def test_loading_and_asking_execute_and_write_nothing(saved):
    """Python tells of all that is compiled, imported, unpickled, started, connected to, removed or opened to write."""
    before = tree(saved)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", AUDITED, str(saved), ASKED], env=environment, capture_output=True, text=True
    )
    assert ran.stdout == "[]\n", ran.stderr
    assert tree(saved) == before
