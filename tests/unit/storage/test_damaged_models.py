"""Damaged models: every damage is told in a sentence, and nothing but our own errors gets through."""

import contextlib
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import save
from scipy.sparse import csr_array

from linktopics import DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.features import PairMatrix
from linktopics.storage import folder as folders
from linktopics.storage.folder import MANIFEST, ModelFolder
from support.changed_models import array, put, replace_file, seal
from support.small_models import TEXTS, assert_same, small_model, small_network

load = RelationalTopicModel.load
MATRIX = PairMatrix(csr_array(np.eye(len(TEXTS))[::-1]), list(TEXTS), "matrix")


@pytest.fixture(scope="module")
def fitted():
    columns = {"year": [*range(len(TEXTS) - 1), None], "kind": ["a", "b"] * 5}
    return small_model(pair_features=["tfidf", "topics-neighbours", MATRIX]).fit(small_network(columns=columns))


def assert_refused(folder, match="", **options):
    with pytest.raises((ModelError, DataError), match=match) as caught:
        load(folder, **options)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


# --- by accident ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(7))
def test_a_damaged_file(number, saved):
    path = sorted(saved.iterdir())[number]
    data = path.read_bytes()
    places = (0, 9, 100, len(data) - 1) if path.name == MANIFEST else range(0, len(data), 499)
    flips = [flipped(data, at) for at in places]
    for damaged in (data[:-1], b"", data + b"\0", data[::-1], *flips):
        path.write_bytes(damaged)
        assert_refused(saved, f"{path.name}: the model is damaged")
    path.unlink()
    assert_refused(saved, "holds no model.json" if path.name == MANIFEST else f"{path.name}: .*it is missing")
    path.mkdir()
    assert_refused(saved, f"{path.name}: ")


def test_every_byte_of_the_manifest_counts(saved):
    sound = ModelFolder(saved).read_manifest()
    data = (saved / MANIFEST).read_bytes()
    for at in range(0, len(data), 31):
        (saved / MANIFEST).write_bytes(flipped(data, at))
        with contextlib.suppress(ModelError):
            assert ModelFolder(saved).read_manifest() == sound, "but for the last digit of a number"


UNSOUND = ["network", "training", "chain-0"]


@pytest.mark.parametrize("file", ["samples-0", *UNSOUND])
def test_large_files_are_not_compared_with_their_checksums(file, saved, monkeypatch):
    """A damaged header is found out all the same, or does no harm before a model is asked."""
    monkeypatch.setattr(folders, "CHECKSUM_MAX_BYTES", 0)
    (path,) = saved.glob(f"{file}-*.safetensors")
    data = path.read_bytes()
    for at in range(0, 8 + int.from_bytes(data[:8], "little"), 3):
        path.write_bytes(flipped(data, at))
        with contextlib.suppress(ModelError):
            load(saved)
    assert_refused(saved, "damaged", verify=True)


MANIFESTS = {
    "empty": (b"", "it is not JSON"),
    "no text": (b"\xff\xfe", "it is not JSON"),
    "too deep": (b"[" * 100_000, "it is not JSON"),
    "cut off": (b"{", "it is not JSON"),
    "a list": (b"[]", "it has no format number"),
    "no format": (b"{}", "it has no format number"),
    "a format in words": (b'{"format": "1"}', "it has no format number"),
    "a newer format": (b'{"format": 2}', "format 2, and this version of linktopics reads up to 1; install a newer one"),
    "no checksum": (b'{"format": 1}', "its checksum does not match"),
    "no checksum but null": (b'{"format": 1, "checksum": null}', "its checksum does not match"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_of_another_kind(name, saved):
    content, message = MANIFESTS[name]
    (saved / MANIFEST).write_bytes(content)
    assert_refused(saved, message)


def test_an_edited_parameter(saved):
    text = (saved / MANIFEST).read_text()
    assert text.count('"n_jobs": null') == 1
    (saved / MANIFEST).write_text(text.replace('"n_jobs": null', '"n_jobs": 2'))
    assert_refused(saved, "its checksum does not match")


# --- with checksums that fit ------------------------------------------------------------------------------------------


def test_layout_and_order_of_the_manifest_do_not_matter(saved, fitted):
    seal(saved, lambda manifest: dict(reversed(manifest.items())))
    assert_same(load(saved), fitted)


SEALED = {
    "another kind": (put("kind", to="VariationalRTM"), "is a VariationalRTM, not a RelationalTopicModel"),
    "no kind": (put("kind", to=None), "kind is None: Expected `str`, got `null`"),
    "newer": (put("format", to=2), "install a newer one"),
    "a path upwards": (put("files", 0, "file", to="../network.safetensors"), r"files\[0\]\.file is '../network"),
    "a path from the root": (put("files", 0, "file", to="/network.safetensors"), r"files\[0\]\.file is"),
    "no arrays": (put("files", 0, "file", to="model.json"), r"files\[0\]\.file is"),
    "an unknown file": (put("files", 0, "file", to="network.safetensors"), "it does not list the file network-"),
    "another network": (put("network_file", to="training.safetensors"), r"it does not list the file training\.s"),
    "another vectorizer": (put("vectorizer", "colour", to="red"), "does not know: 'colour'"),
    "a vectorizer in two lines": (put("vectorizer", "co\nlour", to="red"), r"does not know: 'co\\nlour'"),
    "no settings": (put("settings", to={}), "settings: Object missing required field `n_topics`"),
    "other settings": (put("settings", "colour", to="red"), "settings: Object contains unknown field `colour`"),
    "another schedule": (put("schedule", to=[]), "schedule is list"),
    "no parameters": (put("parameters", to={}), "are inconsistent"),
    "half a chain": (put("chains", 0, to={}), r"chains\[0\]: Object missing required field `number`"),
    "fewer documents": (put("network", "n_documents", to=9), "are inconsistent"),
    "fewer words": (put("network", "n_words", to=3), "are inconsistent"),
}
WRONGLY_SEALED = {
    "no files": (put("files", to=None), "damaged"),
    "files without names": (put("files", to=[{}]), "damaged"),
    "a column that is not there": (put("network", "columns", to=["year", "kind", "more"]), "damaged"),
    "no chain": (put("chains", to=[]), "damaged"),
    "a chain from elsewhere": (put("chains", 0, "state", "file", to="../elsewhere.safetensors"), "damaged"),
    "samples from elsewhere": (put("chains", 0, "samples", 0, "file", to="../elsewhere.safetensors"), "damaged"),
    "another generator": (put("chains", 0, "rng", 0, "bit_generator", to="MT19937"), "damaged"),
    "another seed": (put("entropy", to=["seven"]), "damaged"),
    "fewer quantities": (put("quantities", to=["topic entropy"]), "damaged"),
    "an unknown parameter": (put("parameters", "colour", to="red"), "damaged"),
    "an unknown feature": (
        put("parameters", "pair_features", to=["colour"]),
        "the pair feature 'colour', which is not",
    ),
}


@pytest.mark.parametrize("name", SEALED | WRONGLY_SEALED)
def test_a_manifest_that_was_changed_with_its_checksum(name, saved):
    for path in saved.glob("chain-0-*" if "chain" in name else "samples-0-*"):
        shutil.copy(path, saved.parent / "elsewhere.safetensors")
    change, message = (SEALED | WRONGLY_SEALED)[name]
    seal(saved, change)
    assert_refused(saved, message)


def header(change):
    """Return how to change the header of a file of arrays."""

    def changed(data):
        size = int.from_bytes(data[:8], "little")
        text = change(data[8 : 8 + size].decode().rstrip()).encode()
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text + data[8 + size :]

    return changed


HEADERS = {
    "a huge header": lambda data: (2**62).to_bytes(8, "little") + data[8:],
    "a header beyond the file": lambda data: len(data).to_bytes(8, "little") + data[8:],
    "no header": lambda data: bytes(8) + data[8:],
    "not even a length": lambda data: data[:5],
    "nothing": lambda data: b"",
    "no JSON": header(lambda text: text[:-1]),
    "a list": header(lambda text: "[]"),
    "no arrays": header(lambda text: "{}"),
    "an unknown type": header(lambda text: re.sub(r'"dtype":"\w+"', '"dtype":"X7"', text)),
    "a type that we do not write": header(lambda text: re.sub(r'"dtype":"[FIU]64"', '"dtype":"C64"', text)),
    "other shapes": header(lambda text: text.replace('"shape":[', '"shape":[2,')),
    "other places": header(lambda text: re.sub(r"\[0,(\d+)\]", r"[8,\1]", text)),
    "a negative place": header(lambda text: text.replace('"data_offsets":[0,', '"data_offsets":[-8,')),
}


@pytest.mark.parametrize("file", ["network", "training", "chain-1", "samples-0"])
@pytest.mark.parametrize("name", HEADERS)
def test_headers(name, file, saved):
    (path,) = saved.glob(f"{file}-*.safetensors")
    replace_file(saved, file, HEADERS[name](path.read_bytes()))
    assert_refused(saved, "damaged")


def test_arrays_that_are_named_twice(saved, fitted):
    """The same twice may be taken for once; two of one name are refused."""
    (path,) = saved.glob("samples-0-*")
    data = path.read_bytes()
    replace_file(saved, "samples-0", header(lambda text: text[:-1] + "," + text[1:])(data))
    with contextlib.suppress(ModelError):
        assert_same(load(saved), fitted)
    replace_file(saved, "samples-0", header(lambda text: text.replace("1/doc_topic", "0/doc_topic"))(data))
    assert_refused(saved, "damaged")


def cut_off(arrays, ending):
    return {name: values[:-1].copy() for name, values in arrays.items() if name.endswith(ending)}


ARRAYS = {
    "fewer documents": ("network", array("counts/starts", lambda a: a[:-1])),
    "documents out of order": ("network", array("counts/starts", lambda a: np.where(np.arange(len(a)) == 3, 2**30, a))),
    "words out of range": ("network", array("counts/words", lambda a: a + 1000)),
    "negative words": ("network", array("counts/words", lambda a: a - 1)),
    "fewer counts": ("network", array("counts/values", lambda a: a[1:])),
    "links out of range": ("network", array("links", lambda a: a + 5)),
    "links in a row": ("network", array("links", lambda a: a.reshape(-1))),
    "no counts": ("network", lambda arrays: save({"links": arrays["links"]})),
    "no trace": ("chain-0", lambda arrays: save({"weights": arrays["weights"]})),
    "no samples": ("samples-1", lambda arrays: save({"log_joint": arrays["log_joint"]})),
}
UNCHECKED_ARRAYS = {
    "links of three ends": ("network", array("links", lambda a: np.column_stack([a, a[:, 0]]))),
    "negative counts": ("network", array("counts/values", lambda a: -a)),
    "counts that start later": ("network", array("counts/starts", lambda a: np.maximum(a, 1))),
    "no ids": ("network", lambda arrays: save({k: v for k, v in arrays.items() if not k.startswith("ids")})),
    "fewer ids": ("network", array("ids/ends", lambda a: a[:-1])),
    "ids that are no text": ("network", array("ids/text", lambda a: a | 0x80)),
    "a smaller vocabulary": ("network", array("vocabulary/ends", lambda a: a[:-1])),
    "a column that is no JSON": ("network", lambda arrays: save({**arrays, **cut_off(arrays, "/json")})),
    "topics of other words": ("samples-0", array("0/word_topic", lambda a: a[:-1])),
    "topics of other documents": ("samples-0", array("0/doc_topic", lambda a: a[:-1])),
    "weights of other topics": ("samples-0", array("0/weights", lambda a: a[:2, :2])),
    "weights of other features": ("samples-0", array("0/feature_weights", lambda a: a[:1])),
    "alpha of other topics": ("samples-0", array("1/alpha", lambda a: a[:2])),
    "a trace of other quantities": ("chain-0", array("trace", lambda a: a[:, 1:])),
    "a matrix that is none": ("training", array("feature 2/columns", lambda a: a + 1000)),
    "a feature of other topics": ("training", array("fitted topics-neighbours/word_topic", lambda a: a[1:])),
}


@pytest.mark.parametrize("name", ARRAYS | UNCHECKED_ARRAYS)
def test_arrays_of_other_shapes(name, saved):
    replace_file(saved, *(ARRAYS | UNCHECKED_ARRAYS)[name])
    assert_refused(saved, "damaged")


STATES = {
    "fewer tokens": ("chain-0", array("assignments", lambda a: a[:-1])),
    "tokens of no topic": ("chain-0", array("assignments", lambda a: a + 3)),
    "fewer weights": ("chain-0", array("weights", lambda a: a[:2, :2])),
    "fewer augmented variables": ("chain-0", array("augmented", lambda a: a[:-1])),
    "a shorter stream": ("chain-0", array("streams", lambda a: a[:, :1])),
    "a shorter alpha": ("chain-0", array("alpha", lambda a: a[:2])),
    "pairs out of range": ("training", array("source", lambda a: a + 5)),
    "fewer targets": ("training", array("target", lambda a: a[:-1])),
    "fewer features": ("training", array("features", lambda a: a[:, :-1])),
}


@pytest.mark.parametrize("name", STATES)
def test_states_of_other_shapes(name, saved):
    replace_file(saved, *STATES[name])
    with pytest.raises(ModelError, match="damaged"):
        load(saved).resume(n_samples=1)
