"""fit and resume with --check."""

from linktopics import SamplingError
from linktopics.sampler import Sampler
from support.command_line import QUICK, run, succeed, write_network
from support.small_models import TEXTS


def test_fit_and_resume_have_the_switch(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(Sampler, "check", lambda self: calls.append(self.state.iteration))
    data, model = write_network(tmp_path / "data", dict(zip(TEXTS, TEXTS, strict=True)), str), tmp_path / "model"
    succeed("fit", data, "-o", model, *QUICK, "--chains=1", "--jobs=1", "--check")
    assert calls == [1, 2, 3, 4, 5, 6, 7]
    succeed("resume", model, "--samples=1", "--quiet", "--check")
    assert calls[7:] == [8]
    succeed("resume", model, "--samples=1", "--quiet")
    assert len(calls) == 8

    def fail(self):
        raise SamplingError("the check after iteration 10 failed: so it is.")

    monkeypatch.setattr(Sampler, "check", fail)
    found = run("resume", model, "--samples=1", "--quiet", "--check")
    assert found.exit_code == 2
    assert found.stderr == "linktopics: the check after iteration 10 failed: so it is.\n"
