"""Fitting with a cache of compiled kernels that is damaged, full or relative, in processes of their own."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from linktopics.kernels import counts, likelihood, polya_gamma
from support.command_line import QUICK

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture
def cache(model, tmp_path):
    """Copy what was compiled for the model, which took half a minute, to a folder for $NUMBA_CACHE_DIR."""
    folder = tmp_path / "cache" / f"kernels_{hashlib.sha1(str(Path(counts.__file__).parent).encode()).hexdigest()}"
    folder.mkdir(parents=True)
    compiled = Path(counts.add_up._cache.cache_path)
    for path in [*compiled.glob("*.nbi"), *compiled.glob("*.nbc")]:
        shutil.copy(path, folder)
    return tmp_path / "cache"


def fit(data, folder, cache, **more):
    """Fit a model in a working directory; return the one line on standard error, and the output."""
    command = [sys.executable, "-m", "linktopics", "fit", str(data), "-o", "model", *QUICK]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    assert (folder / "model" / "model.json").exists()
    (line,) = done.stderr.splitlines()
    return line, done.stdout


def files_of(cache, function, ending="nb?"):
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    found = [*cache.rglob(f"*{name}-*.{ending}")]
    assert found
    return found


@pytest.mark.long
def test_damaged(data, cache, tmp_path):
    for path in files_of(cache, counts.add_up, "nbi"):
        os.truncate(path, 0)
    for path in files_of(cache, likelihood.log_rising, "nbc"):
        os.truncate(path, 1000)
    line, _ = fit(data, tmp_path, cache)
    assert line.startswith(f"linktopics: The cache of compiled code in {cache}")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of files")
@pytest.mark.long
def test_full(data, cache, tmp_path):
    import resource

    for path in files_of(cache, polya_gamma.add_polya_gamma):
        path.unlink()
    limit = 50_000  # bytes, more than any file of the model has, and less than this kernel
    line, _ = fit(data, tmp_path, cache, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert "File too large" in line
    assert str(cache) in line


@pytest.mark.long
def test_relative(data, cache, tmp_path):
    for path in cache.rglob("*.nbi"):
        path.write_bytes(b"cbuiltins\nprint\n(Vread\ntR.")  # a pickle that does something
    line, output = fit(data, tmp_path, "cache")
    assert line.startswith("linktopics: NUMBA_CACHE_DIR is the relative path 'cache', which is ignored")
    assert "read" not in output.splitlines()
