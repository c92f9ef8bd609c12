"""The example that learns to write: a process of its own, on the real text, for a few batches."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "topics" / "train_transformer.py"


def finish(out, *arguments):
    command = [sys.executable, str(EXAMPLE), "--out", str(out), "--batchsize", "8", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


@pytest.mark.slow
def test_it_learns_writes_and_goes_on(tmp_path):
    first = finish(tmp_path, "--iterations", "20", "--write", "0", "--check", "6")
    assert first.returncode == 0, first.stderr
    log = json.loads((tmp_path / "log").read_text())
    bits = [entry["validation/main/bits"] for entry in log]
    assert bits[-1] < bits[0] < 8 and len(log) == 10

    second = finish(tmp_path, "--iterations", "22", "--write", "30", "--resume", "--check", "0.1")
    assert second.returncode == 1 and "at most 0.1 bits" in second.stderr
    assert "Resumed from" in second.stderr
    written = second.stdout.partition("goes on by itself:\n\n")[2]
    assert len(written.rstrip("\n")) >= 100  # what it was given, and 30 characters of its own


def test_a_directory_that_is_none_is_told_in_one_line(tmp_path):
    done = finish(EXAMPLE)
    assert done.returncode == 1 and "expected out to be a directory" in done.stderr
    assert len(done.stderr.splitlines()) == 1
