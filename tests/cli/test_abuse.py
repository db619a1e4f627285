"""The server while all that benchmarks/abuse.py can do is done to it, once each and all at the same time.

A server that waits for ever for who does not listen was seen to be told of as one that hangs.
"""

import asyncio
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed; it comes with linktopics[web]")

if sys.platform != "linux":
    pytest.skip("looks at processes in /proc", allow_module_level=True)

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("there are no benchmarks beside the tests", allow_module_level=True)


@pytest.mark.long
def test_abuse_changes_nothing_for_the_others(model, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import abuse

    abuse.raise_limits()
    questions = abuse.questions_about(model, 200)
    with abuse.served(model) as server:
        answers = asyncio.run(abuse.ask_each(server.address, questions))
    assert {status for status, _ in answers} == {200}
    with abuse.served(model, "--jobs", "2") as server:
        asyncio.run(abuse.ask_each(server.address, questions[:1]))
        files, memory = server.open_files(), server.memory_mb("VmRSS")
        found = asyncio.run(abuse.abuse(server, questions, answers, 50, None))
        assert found.honest.wrong == []
        assert len(found.honest.seconds) > len(questions)
        assert found.unexpected() == {}
        assert found.killed == 2
        assert abuse.wait_for_quiet(server, files) <= files
        assert server.memory_mb("VmRSS") < memory + 500
        assert asyncio.run(abuse.ask_each(server.address, questions)) == answers
        assert server.log.read_text() == ""
        assert server.end() == (0, [])
        assert server.log.read_text() == ""
