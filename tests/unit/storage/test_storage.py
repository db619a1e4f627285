"""Models on disk: they come back as they were, also those of earlier versions; what cannot be saved is named."""

import contextlib
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from linktopics import DataError, DocumentNetwork, NetworkWarning, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.features import FEATURES, Column, PairFeature, PairFunction, PairMatrix, similarity, vectors
from linktopics.storage import folder as folders
from linktopics.storage import run_writer
from linktopics.storage.folder import MANIFEST
from linktopics.storage.manifest import FORMAT
from support.model_folders import assert_only_what_is_named, snapshot
from support.small_models import (
    LINKS,
    TEXTS,
    answers,
    assert_same,
    attributes,
    small_model,
    small_network,
)

load = RelationalTopicModel.load
NAMES = list(TEXTS)
N = len(NAMES)


# --- what comes back --------------------------------------------------------------------------------------------------


NUMBERS = {
    "n_topics": np.int8(12), "n_burn_in": np.int8(100), "n_samples": np.int8(20), "thin": np.int8(10),
    "n_chains": np.int64(1), "n_shards": np.int16(1), "link_cost": np.int64(4), "nonlink_cost": np.float32(1),
    "weight_variance": np.float32(10), "margin": np.float32(1), "alpha": np.float32(3), "beta": np.float32(0.01),
    "learn_beta": np.bool_(True), "intercept": np.bool_(False), "seed_weight": np.int32(5), "negatives": np.float32(2),
    "n_jobs": np.int64(1),
}  # fmt: skip


def test_numbers_of_numpy_are_parameters(tmp_path):
    """In all that is kept they are Python's, and sums of them do not overflow."""
    network = small_network()
    given = small_model(**NUMBERS).fit(network, checkpoint=tmp_path / "model")
    plain = {
        name: np.asarray(value, dtype=float if name == "alpha" else None).item() for name, value in NUMBERS.items()
    }
    assert given.link_weights_.shape == (12, 12)
    assert len(given.samples_) == 20
    assert_same(load(tmp_path / "model"), small_model(**plain).fit(network))


def test_more_samples_than_one_file_takes(tmp_path, monkeypatch):
    monkeypatch.setattr(run_writer, "SAMPLES_PER_FILE", 3)
    model = small_model(n_chains=1, n_samples=7).fit(small_network())
    model.save(tmp_path / "model")
    assert len(list((tmp_path / "model").glob("samples-0-*"))) == 3
    assert_same(load(tmp_path / "model"), model)


def test_headers_of_full_files_can_be_read():
    longest = {"dtype": "F64", "shape": [2**40] * 2, "data_offsets": [2**60] * 2}
    entry = len(f'"{run_writer.SAMPLES_PER_FILE}/{max(run_writer.SAMPLE_ARRAYS, key=len)}": {longest}, ')
    assert run_writer.SAMPLES_PER_FILE * len(run_writer.SAMPLE_ARRAYS) * entry < folders.MAX_HEADER_BYTES


@pytest.mark.parametrize(
    "limits", [{"n_jobs": 1024, "margin": 1e9}, {"n_jobs": -1024, "link_cost": 1e-9, "weight_variance": 1e-9}]
)
def test_what_can_be_fitted_can_be_loaded(limits, tmp_path):
    """The limits of parameters are those of models on disk."""
    model = small_model(**limits).fit(small_network())
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model"), model)


def same_length(sources, targets):
    return np.array([len(a) == len(b) for a, b in zip(sources, targets, strict=True)])


EVERY_PLANE = [f"{chr(0x10000 * plane + 0xA1)}\t\0{chr(0x10000 * plane + 0xFFFD)}" for plane in range(17)]
STRANGE = ["", " ", *EVERY_PLANE, "\ud800", "e\u0301", "\r\n", "\u2028"]
COLUMNS = {
    "year": [1990, None, 1992.5, *range(1993, 2000)],
    "venue": ["A", "B", None, *"ABABABA"],
    "authors": [["Ann", "Bo"], ["Bo"], [], None, ["Zoë", 3], *(["Ann"],) * 5],
    "open": [True, False] * 5,
    "weight": [0.1, float("nan"), -0.0, *np.linspace(0, 1e300, 7).tolist()],
    "anything": [None, "a", 1, 2.5, True, [None, ["b"]], float("inf"), 2**70, "", []],
}
COMPARED = [Column("year", "difference"), Column("venue"), Column("authors", "overlap")]
SQUARE = PairMatrix(csr_array(np.eye(N + 2, dtype=np.float32)[::-1]), ids=["extra", *NAMES, 7], name="both")
PLAIN = {"pair_features": None}
WITH_TEXTS = {
    "directed": ({}, {}),
    "undirected": ({"directed": False}, {}),
    "made undirected": ({}, {"directed": False}),
    "diagonal, intercept": ({}, {"weights": "diagonal", "intercept": True}),
    "hinge, cached": ({}, {"loss": "hinge", "sampler": "cached", "margin": 0.5, "link_cost": 3.0}),
    "paper": ({}, {**PLAIN, "n_chains": 1, "negatives": 0.3}),
    "no links": ({"links": None}, {}),
    "every feature": ({}, {"pair_features": [*FEATURES]}),
    "columns": (
        {"columns": COLUMNS, "labels": list("AB") * 5, "titles": ["One", None, *"abcdefgh"]},
        {"pair_features": COMPARED},
    ),
    "undirected columns": ({"columns": COLUMNS, "directed": False}, {"pair_features": tuple(COMPARED[:1])}),
    "matrix": ({}, {"pair_features": ["tfidf", SQUARE]}),
    "function": ({}, {"pair_features": [PairFunction(same_length, "length")]}),
    "ids are numbers": ({"ids": range(50, 50 + N), "labels": [1.5, 2] * 5, "titles": range(N)}, PLAIN),
    "ids are mixed": ({"ids": [1, "1", 2.5, "\U0001f600", -(2**70), *NAMES[5:]]}, PLAIN),
    "ids are large": ({"ids": [2**63 + number for number in range(N)]}, PLAIN),
    "strange strings": (
        {
            "ids": STRANGE[:N],
            "titles": STRANGE[-N:],
            "labels": STRANGE[5:15],
            "columns": {"\0\U0010fffd": STRANGE[-N:]},
        },
        PLAIN,
    ),
    "stop words": ({"vectorizer": CountVectorizer(token_pattern=r"\S+", lowercase=False, stop_words=["and"])}, PLAIN),
    "pairs of words": ({"vectorizer": CountVectorizer(ngram_range=(1, 2), min_df=2, max_df=0.9)}, PLAIN),
    "letters": ({"vectorizer": CountVectorizer(analyzer="char_wb", dtype=np.uint8, max_features=20)}, PLAIN),
    "words given": (
        {"vectorizer": CountVectorizer(vocabulary=["stars", "kittens", "cats", "planets", "moons"])},
        PLAIN,
    ),
    "seed words": (
        {},
        {**PLAIN, "seed_words": {2: ["cats", "purr"], np.int64(0): ("stars",)}, "seed_weight": np.int32(20)},
    ),
    "listed seed words": ({}, {**PLAIN, "seed_words": [["cats"], ["stars", "moons"]]}),
    "learned priors": ({}, {**PLAIN, "learn_alpha": "per-topic", "learn_beta": True}),
    "generator": ({}, {**PLAIN, "random_state": np.random.default_rng(3), "n_chains": 3}),
}


@contextlib.contextmanager
def only_reading(folder, monkeypatch):
    """Fail when something is unpickled, when the folder is changed, or when the topics of a feature are learned."""

    def never(*_, **__):
        raise AssertionError("this must not be called")

    before = snapshot(folder)
    with monkeypatch.context() as patch:
        for module, name in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (vectors, "run_chains")):
            patch.setattr(module, name, never)
        yield
    assert snapshot(folder) == before


def check_round_trip(model, folder, monkeypatch, functions=None, words=False):
    expected, fitted = answers(model, words), attributes(model)
    model.save(folder)
    with only_reading(folder, monkeypatch):
        loaded = load(folder, functions=functions, verify=True)
        assert_same(answers(loaded, words), expected)
        loaded.save(folder.parent / "again")
    assert_same(load(folder.parent / "again", functions=functions), fitted)
    for path in folder.iterdir():
        assert path.name == MANIFEST or load_file(path)
    for name, value in model.get_params().items():
        if name not in ("pair_features", "random_state", "seed_words"):
            assert getattr(loaded, name) == value, name
    assert_same(loaded.resume(n_samples=1), model.resume(n_samples=1))
    return loaded


@pytest.mark.filterwarnings("ignore::linktopics.errors.UnseenWordsWarning")
@pytest.mark.parametrize("name", WITH_TEXTS)
def test_round_trip(name, tmp_path, monkeypatch):
    network, parameters = WITH_TEXTS[name]
    model = small_model(**parameters).fit(small_network(**network))
    words = name in ("directed", "undirected", "diagonal, intercept", "hinge, cached")
    loaded = check_round_trip(model, tmp_path / "model", monkeypatch, {"length": same_length}, words)
    assert loaded.random_state == (0 if model.random_state == 0 else None)
    if name in ("directed", "columns", "matrix", "listed seed words"):
        assert_same(clone(loaded).fit(loaded.network_), clone(model).fit(model.network_))


COUNTS = small_network().counts
PAIRS = small_network().links
WITH_COUNTS = {
    "counts": lambda model: model.fit(COUNTS.toarray(), links=PAIRS),
    "seed words by number": lambda model: model.set_params(seed_words={0: [1, 2]}).fit(COUNTS, links=PAIRS),
    "words": lambda model: model.fit(DocumentNetwork(COUNTS, PAIRS, vocabulary=map(str, range(COUNTS.shape[1])))),
    "one topic": lambda model: model.set_params(n_topics=1).fit(COUNTS, links=PAIRS),
    "subset": lambda model: model.fit(small_network().subset(range(9, 0, -1))),
    "frame": lambda model: model.fit(pd.DataFrame(COUNTS.toarray()).add_prefix("w"), links=PAIRS),
}


@pytest.mark.parametrize("name", WITH_COUNTS)
def test_round_trip_of_counts(name, tmp_path, monkeypatch):
    check_round_trip(WITH_COUNTS[name](small_model()), tmp_path / "model", monkeypatch)


def is_mapped(array):
    """Tell whether the numbers of an array are in a mapped file."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def test_features_and_weights_are_not_mapped(tmp_path):
    """Arrays begin in files at multiples of 8 bytes and in memory at multiples of 16.

    On processors that an OpenBLAS does not know its products depend on that in the last digit, and a run that is
    resumed would not be the same as one that was not interrupted.
    """
    small_model(pair_features="default").fit(small_network()).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    run = loaded._run
    read = [run.load_corpus().features, *(getattr(s, name) for s in loaded.samples_ for name in ("weights", "alpha"))]
    read += [s.feature_weights for s in loaded.samples_] + [chain.state.augmented for chain in run.chains]
    assert [array.ctypes.data % 16 for array in read] == [0] * len(read)
    assert not any(map(is_mapped, read))
    assert all(is_mapped(sample.doc_topic) for sample in loaded.samples_)


def test_words_of_every_plane(tmp_path):
    vectorizer = CountVectorizer(token_pattern=r"[^ ]+", lowercase=False)
    texts = [" ".join(STRANGE), *(f"cats {word}" for word in EVERY_PLANE)]
    model = small_model().fit(DocumentNetwork.from_texts(texts, [(0, 1), (1, 2), (2, 0)], vectorizer=vectorizer))
    model.save(tmp_path / "model")
    assert set(EVERY_PLANE) < set(model.network_.vocabulary)
    assert_same(load(tmp_path / "model"), model)
    np.testing.assert_array_equal(load(tmp_path / "model").transform(texts[:3]), model.transform(texts[:3]))


def test_report_comes_back(tmp_path):
    links = [*LINKS, ("cat", "cat"), ("kitten", "cat"), ("cat", "dog"), (("a", 1), None)]
    with pytest.warns(NetworkWarning, match="dropped"):
        network = small_network(links=links, vectorizer=CountVectorizer(vocabulary=["cats", "stars", "purr"]))
    model = small_model().fit(network)
    model.save(tmp_path / "model")
    report = load(tmp_path / "model").network_report_
    assert report == model.network_report_
    assert report.n_empty_documents > 0
    assert report.unknown_ends == (("cat", "dog"), (("a", 1), None))


def test_names_of_columns_do_not_collide(tmp_path):
    columns = {"a": NAMES, "a/text": list(range(N)), "a/json": NAMES[::-1], "b": [None, *NAMES[1:]], "b/json": NAMES}
    model = small_model().fit(small_network(columns=columns))
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model"), model)


def test_values_of_numpy(tmp_path):
    columns = {"year": [None, *np.arange(1, N)], "venue": [*np.array(NAMES)], "weight": [*np.linspace(0, 1, N)]}
    network = small_network([*np.arange(N)], columns=columns)
    small_model(pair_features=[Column("year", "difference"), Column("venue")]).fit(network).save(tmp_path / "model")
    loaded = load(tmp_path / "model").network_
    assert loaded.ids.tolist() == list(range(N))
    assert {name: values.tolist() for name, values in loaded.columns.items()} == columns


def test_numbers_of_many_digits(tmp_path):
    features = [PairMatrix(np.eye(N, dtype=np.longdouble)[::-1], NAMES)]
    model = small_model(pair_features=features).fit(small_network())
    model.save(tmp_path / "model")
    assert_same(answers(load(tmp_path / "model")), answers(model))


def test_stop_words_in_a_set(tmp_path):
    network = small_network(vectorizer=CountVectorizer())
    network.vectorizer.stop_words = {"purr", "shine"}  # after fitting, where scikit-learn wants a list
    model = small_model().fit(network)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").transform(["cats purr"]), model.transform(["cats"]))


def test_what_is_loaded_is_on_disk_until_needed(tmp_path):
    small_model(pair_features=["topics-neighbours"]).fit(small_network()).save(tmp_path / "model")
    run = (loaded := load(tmp_path / "model"))._run
    loaded.transform("cats purr")
    assert callable(run.features.source)
    loaded.predict_links("cats purr")
    assert not callable(run.features.source)
    assert run.corpus is None


def test_what_takes_long_to_find_again_is_kept(tmp_path, monkeypatch):
    """A first answer about a large network would wait for it. Models of before it was kept are read, too."""
    model = small_model(pair_features=["tfidf", "tfidf-centroid", "degree"]).fit(small_network())
    expected = model.predict_links("cats purr")
    model.save(tmp_path / "model")
    vars(model._run.features.features[1]).pop("norm")
    model.save(tmp_path / "before")
    np.testing.assert_array_equal(load(tmp_path / "before").predict_links("cats purr"), expected)
    monkeypatch.setattr(similarity, "sums_of_rows", None)
    np.testing.assert_array_equal(load(tmp_path / "model").predict_links("cats purr"), expected)


def test_a_folder_that_cannot_be_written_is_read(tmp_path):
    model = small_model().fit(small_network())
    model.save(tmp_path / "model")
    for path in (*(tmp_path / "model").iterdir(), tmp_path / "model"):
        path.chmod(0o555)
    assert_same(answers(load(tmp_path / "model")), answers(model))
    (tmp_path / "model").chmod(0o755)


def test_a_loaded_model_can_be_pickled_and_saved_over_itself(tmp_path):
    model = small_model().fit(small_network())
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_same(pickle.loads(pickle.dumps(loaded)), model)
    loaded.save(tmp_path / "model", overwrite=True)
    assert_same(load(tmp_path / "model"), model)
    assert_same(loaded, model)


# --- what cannot be saved ---------------------------------------------------------------------------------------------


def test_functions_have_to_be_brought_again(tmp_path):
    model = small_model(pair_features=["degree", PairFunction(same_length, "same length")]).fit(small_network())
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    new = small_network().subset([0, 1])
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    for ask in (lambda: loaded.predict_links(new), lambda: loaded.explain_link("cat", "milk")):
        with pytest.raises(DataError, match=r"'same length' is a function.*functions=\{'same length': function\}"):
            ask()


def test_vectorizers_that_are_code(tmp_path):
    network = small_network(vectorizer=CountVectorizer(tokenizer=str.split, token_pattern=None))
    model = small_model().fit(network)
    with pytest.warns(NetworkWarning, match=r"tokenizer is a function.*vectorizer=") as caught:
        model.save(tmp_path / "model")
    assert caught[0].filename == __file__
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(network), model.transform(network))
    with pytest.raises(DataError, match="vectorizer"):
        loaded.transform("cats purr")
    loaded = load(tmp_path / "model", vectorizer=network.vectorizer)
    assert_same(answers(loaded), answers(model))
    model.network_.vectorizer = TfidfVectorizer()
    with pytest.warns(NetworkWarning, match="TfidfVectorizer is not scikit-learn's CountVectorizer"):
        model.save(tmp_path / "other")


class Own(PairFeature):
    name = "own"

    def fit(self, network, settings, seed):
        return FEATURES["degree"].fit(network, settings, seed)


UNFIT = {
    "ids are tuples": ({"ids": [("a", number) for number in range(N)]}, {}, "ids holds .'a', 0., a tuple"),
    "ids are bytes": ({"ids": [bytes([number]) for number in range(N)]}, {}, "ids holds .*, a bytes"),
    "dates": ({"columns": {"day": [pd.Timestamp("2020-01-01")] * N}}, {}, "day'? holds .*, a Timestamp"),
    "sets": ({"columns": {"tags": [{"a"}] * N}}, {}, "tags'? holds {'a'}, a set"),
    "a set in a list": ({"columns": {"tags": [[{"a"}]] * N}}, {}, "tags'? holds .*, a list"),
    "a feature of its own kind": ({}, {"pair_features": [Own()]}, "'own' is of the class Own, which is not registered"),
    "a matrix": ({}, {"pair_features": [PairMatrix(np.eye(2), ["cat", ("a", 1)])]}, "ids holds .'a', 1., a tuple"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_cannot_be_saved(name, fitted, tmp_path):
    network, parameters, message = UNFIT[name]
    network, model = small_network(**network), small_model(**{**PLAIN, **parameters})
    folder = tmp_path / "model"
    for attempt in (lambda: model.fit(network).save(folder), lambda: model.fit(network, checkpoint=folder)):
        with pytest.raises(DataError, match=message) as caught:
            attempt()
        assert str(caught.value).count("\n") == 0
        with pytest.raises(ModelError, match=r"no such folder|not a model"):
            load(folder)
    fitted.save(folder)
    load(folder, verify=True)
    assert_only_what_is_named(folder)


# --- models of earlier versions ---------------------------------------------------------------------------------------


DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("path", sorted(DATA.glob("model-*.json")), ids=lambda path: path.stem)
def test_models_of_earlier_versions_are_read(path, tmp_path):
    """Made by tests/data/make_model.py, and kept as long as their format is read."""
    expected = json.loads(path.read_text())
    shutil.copytree(path.with_suffix(""), tmp_path / "model")
    model = load(tmp_path / "model", verify=True)
    found = model.suggest_links(expected["text"], top=len(expected["ids"]))
    assert found["id"].tolist() == expected["ids"]
    assert (found["probability"] < expit(found["score"])).all()
    # Probabilities were not calibrated, and either way they were averages over those of each sample.
    samples, own = model.samples_, []
    for sample in samples:
        model.samples_ = [sample]
        own.append(expit(model.predict_links(expected["text"], expected["ids"], raw=True)[0]))
    model.samples_ = samples
    np.testing.assert_allclose(np.mean(own, axis=0), expected["probabilities"], rtol=0, atol=1e-6)
    assert len(model.resume(n_samples=1).samples_) == 2 * model.n_chains


def test_there_is_a_model_of_every_format():
    assert {path.stem for path in DATA.glob("model-*.json")} == {f"model-{n}" for n in range(1, FORMAT + 1)}
