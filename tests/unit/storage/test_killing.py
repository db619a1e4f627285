"""Runs that are killed, at any moment, go on to the model that they would have come to.

Seen to fail against a manifest that is written in place, files that are removed before the manifest is renamed, and a
state without its random numbers.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "support" / "killing.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.long
def test_killed_at_twenty_random_moments(tmp_path):
    """In memory where there is such a folder: writing is the same there, and nobody waits for the disk."""
    folder = next((path for path in ("/dev/shm",) if os.access(path, os.W_OK)), str(tmp_path))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # and no threads of its own before a fork
    command = [sys.executable, str(SCRIPT), "--times", "20", "--folder", folder]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = [line.partition(":")[0] for line in done.stdout.splitlines() if "fit, " in line]
    assert set(kinds) == {"serial", "chains in threads", "shards in threads"}, done.stdout
