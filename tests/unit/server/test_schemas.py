"""The server beside its description: requests drawn from that, right and wrong ones, and what comes back.

`LINKTOPICS_EXAMPLES=1000 pytest -n 0 tests/unit/server/test_schemas.py` draws more of them than there is time for.

Seen to fail once against a server without a limit of `top`, with a number as a string among its answers, and without
415 among what is described.
"""

import logging
import os
from collections import Counter
from zlib import crc32

import pytest

from linktopics.explorer import Explorer
from linktopics.server.limits import Limits
from support.small_models import ASKED, TEXTS, small_model, small_network

for package, extra in (("starlette", "web"), ("schemathesis", "test"), ("jsonschema", "test")):
    pytest.importorskip(package, reason=f"{package} is not installed; it comes with linktopics[{extra}]")

import jsonschema  # noqa: E402
import schemathesis  # noqa: E402
from schemathesis.engine import Status, events, from_schema  # noqa: E402

from linktopics.server.app import create_app  # noqa: E402

FEW = 5
EXAMPLES = int(os.environ.get("LINKTOPICS_EXAMPLES", FEW))
SETTINGS = {
    "generation": {"max-examples": EXAMPLES, "deterministic": EXAMPLES == FEW, "mode": "all"},
    "request-timeout": 300,
    "checks": {"response_schema_conformance": {"enabled": False}},  # which takes prefixItems for a mistake
}
NO_SCHEMA_CAN_SAY = ["sort=topic needs topic=", "does not link to itself", "no word of the model's", "words; at most"]
"""Why the server refuses what its description allows."""


@schemathesis.check
def answers_are_as_described(ctx, response, case):
    """Compare an answer with its schema; whether its status is described is for another check."""
    told = case.operation.definition.raw["responses"].get(str(response.status_code), {}).get("content", {})
    if "application/json" in told:
        components = case.operation.schema.raw_schema["components"]
        schema = {**told["application/json"]["schema"], "components": components}
        try:
            jsonschema.Draft202012Validator(schema).validate(response.json())
        except jsonschema.ValidationError as error:
            raise AssertionError(error.message) from None


def known(value, names, most):
    """Return one of the names in the place of most that could be one: drawn at random, none would be found."""
    if not isinstance(value, str) or not 0 < len(value) <= most:
        return value
    number = crc32(value.encode("utf-8", "surrogatepass"))
    return value if number % 4 == 0 else names[number // 4 % len(names)]


def with_known_documents(schema):
    """Let requests ask for documents and words that are there."""

    @schema.hook
    def map_path_parameters(context, path_parameters):
        files = ["main.js", "lib/dom.js", "style.css"]
        for name, names, most in (("id", list(TEXTS), Limits().id), ("name", files, 100)):
            if path_parameters and name in path_parameters:
                path_parameters[name] = known(path_parameters[name], names, most)
        return path_parameters

    @schema.hook
    def map_body(context, body):
        if isinstance(body, dict):
            for name in ("source", "target"):
                if name in body:
                    body[name] = known(body[name], list(TEXTS), Limits().id)
            if isinstance(body.get("text"), str) and 0 < len(body["text"]) < 10_000:
                body["text"] = f"{body['text']} {ASKED}"
        return body

    return schema


def failures_of(recorder):
    """Return what failed in some requests, each with a command that asks again."""
    for number, checks in recorder.checks.items():
        for check in checks:
            if check.status == Status.FAILURE:
                answer = recorder.interactions[number].response.content.decode("utf-8", "replace")
                if check.name == "positive_data_acceptance" and any(said in answer for said in NO_SCHEMA_CAN_SAY):
                    continue
                asked = recorder.cases[number].value.as_curl_command()
                yield f"{check.name}: {check.failure_info.failure}\n{answer[:300]}\n{asked[:1000]}"


@pytest.mark.long
def test_what_is_described_is_what_is_answered(caplog):
    """All of schemathesis' checks, at the edges of what is described and at random."""
    app = create_app(Explorer(small_model().fit(small_network())))
    app.state.api.warm_up()
    config = schemathesis.Config.from_dict(SETTINGS)
    schema = with_known_documents(schemathesis.openapi.from_asgi("/openapi.json", app, config=config, timeout=300))
    wrong, answers, checked = set(), [], set()
    with caplog.at_level(logging.WARNING, "linktopics"):
        for event in from_schema(schema).execute():
            assert not isinstance(event, events.FatalError), event.exception
            if isinstance(event, events.NonFatalError):
                wrong.add(f"{event.label}: {event.value!r}")
            if isinstance(event, events.ScenarioFinished):
                recorder = event.recorder
                wrong.update(failures_of(recorder))
                checked |= {check.name for checks in recorder.checks.values() for check in checks}
                answers += [(recorder.label, one.response.status_code) for one in recorder.interactions.values()]
    assert not wrong, "\n\n".join(sorted(wrong))
    assert {"answers_are_as_described", "negative_data_rejection", "unsupported_method"} <= checked
    assert {status for _, status in answers} >= {200, 204, 400, 404, 405, 415, 422}
    assert not caplog.records
    asked = Counter(f"{label} {status}" for label, status in answers)
    print(f"{len(answers):,} requests", *(f"{n:6,} {what}" for what, n in sorted(asked.items())), sep="\n")
