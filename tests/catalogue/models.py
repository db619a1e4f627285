"""Models on disk that are damaged, of another version, or hostile; tests/unit/storage/test_damaged_models.py has many more."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

import gzip
import json
import os

from catalogue.kinds import Group, Kind
from linktopics.storage.manifest import manifest_checksum


def manifest(change):
    """Change model.json, and let its checksum fit, as somebody would who means harm."""

    def damage(model):
        path = model / "model.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        found.pop("checksum")
        change(found)
        path.write_text(json.dumps({**found, "checksum": manifest_checksum(found)}), encoding="utf-8")

    return damage


def content(name, change):
    """Change the bytes of a file."""

    def damage(model):
        path = next(model.glob(name))
        path.write_bytes(change(path.read_bytes()))

    return damage


def swapped(model):
    one, other = (next(model.glob(f"samples-{number}-*")) for number in (0, 1))
    here = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(here)


def named(name):
    return manifest(lambda found: found["files"][0].update(file=name))


GROUP = Group(
    "Models",
    "A model is numbers and text: nothing in it is ever executed, and no file outside its folder is opened. Sizes, and "
    "checksums of files up to 64 MB, are compared before anything is used.",
    [
        Kind(
            "A folder that is not a model",
            says="...: the folder holds no model.json, so it is not a model.",
            command=("topics", "DATA"),
        ),
        Kind(
            "A model folder that does not exist",
            says="...: there is no such folder; check the path of the model.",
            command=("topics", "NEW"),
        ),
        Kind(
            "A model of a newer version",
            says=".../model: the model has format 99, and this version of linktopics reads up to 1; install a newer one (pip install --upgrade linktopics).",
            model=manifest(lambda found: found.update(format=99)),
        ),
        Kind(
            "Another kind of model",
            says=".../model: the model is a VariationalRTM, not a RelationalTopicModel.",
            model=manifest(lambda found: found.update(kind="VariationalRTM")),
        ),
        Kind(
            "A manifest that is cut short",
            says=".../model/model.json: the model is damaged (it is not JSON); restore it from a copy, or fit and save the model again.",
            model=content("model.json", lambda data: data[:-40]),
        ),
        Kind(
            "A manifest that is not an object",
            says=".../model/model.json: the model is damaged (it has no format number); restore it from a copy, or fit and save the model again.",
            model=content("model.json", lambda data: b"[]"),
        ),
        Kind(
            "A manifest a hundred thousand levels deep",
            says=".../model/model.json: the model is damaged (it is not JSON); restore it from a copy, or fit and save the model again.",
            model=content("model.json", lambda data: b"[" * 100_000),
        ),
        Kind(
            "A manifest that was edited",
            says=".../model/model.json: the model is damaged (its checksum does not match its content); restore it from a copy, or fit and save the model again.",
            model=content("model.json", lambda data: data.replace(b'"logistic"', b'"hinge"')),
        ),
        Kind(
            "Arrays that are cut short",
            says=".../model/samples-0-...safetensors: the model is damaged (it has ... bytes where ... were written); restore it from a copy, or fit and save the model again.",
            model=content("samples-0-*", lambda data: data[:-40]),
        ),
        Kind(
            "Arrays with a changed byte",
            says=".../model/network-...safetensors: the model is damaged (its checksum does not match its content); restore it from a copy, or fit and save the model again.",
            model=content("network-*", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        ),
        Kind(
            "Arrays that are swapped",
            says=".../model/samples-0-...safetensors: the model is damaged (its checksum does not match its content); restore it from a copy, or fit and save the model again.",
            model=swapped,
        ),
        Kind(
            "A file is missing",
            says=".../model/training-...safetensors: the model is damaged (it is missing); restore it from a copy, or fit and save the model again.",
            model=lambda model: os.unlink(next(model.glob("training-*"))),
        ),
        Kind(
            "A gzip file in place of arrays (a zip bomb)",
            says=".../model/network-...safetensors: the model is damaged (it has ... bytes where ... were written); restore it from a copy, or fit and save the model again.",
            model=content("network-*", lambda data: gzip.compress(bytes(2**20))),
        ),
        Kind(
            "A file name that leads out of the folder (../)",
            says=".../model/model.json: the model is damaged (files[0].file is '../../secret.safetensors'); restore it from a copy, or fit and save the model again.",
            model=named("../../secret.safetensors"),
        ),
        Kind(
            "A file name from the root of the disk",
            says=".../model/model.json: the model is damaged (files[0].file is '/etc/secret.safetensors'); restore it from a copy, or fit and save the model again.",
            model=named("/etc/secret.safetensors"),
        ),
        Kind(
            "A file name with a zero byte",
            says=".../model.json: the model is damaged (files[0].file is 'net\\x00work.safetensors'); restore it from a copy, or fit and save the model again.",
            model=named("net\0work.safetensors"),
        ),
        Kind(
            "An output folder that holds other files",
            says="...: the folder holds other files (such as documents.jsonl); choose an empty or a new folder.",
            command=("fit", "DATA", "-o", "DATA"),
        ),
    ],
)
