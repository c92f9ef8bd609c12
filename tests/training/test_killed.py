"""Real processes, killed with SIGKILL at drawn moments: resumed, they end with the same bits."""

import json
import os
import pickle
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
import stopping

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes by /proc"),
]

PATH = os.pathsep.join(str(Path(__file__).parents[up]) for up in (0, 2))  # tests and what they test

SCRIPT = """
import json, pickle, sys, time
from pathlib import Path
import stopping

def tell(trainer):
    print(trainer.updater.iteration, flush=True)
    time.sleep(0.02)

if __name__ == "__main__":
    out, config = Path(sys.argv[1]), json.loads(sys.argv[2])
    trainer = stopping.build(config, out)
    trainer.extend(tell, trigger=stopping.always, priority=1000)
    stopping.run(config, trainer)
    (out.parent / "result").write_bytes(pickle.dumps(stopping.result(trainer, out)))
"""

EXTENSIONS = [
    ("Evaluator", "half an epoch"),
    ("LogReport", "3"),
    ("ExponentialShift", "1"),
    ("ParameterStatistics", "3"),
    ("draw", "max"),
]
CONFIGURATIONS = {
    "serial": {
        "iterator": "serial",
        "hooks": True,
        "extensions": [*EXTENSIONS, ("PlotReport", "epoch")],
    },
    "numpy": {"iterator": "sampler", "seed": "numpy", "stop": "early", "snapshots": 2},
    "float16": {
        "iterator": "own generator",
        "dtype": "float16",
        "optimizer": "AMSGrad",
        "snapshots": 3,
        "writer": "ProcessQueueWriter",
    },
    "thread": {"iterator": "thread", "optimizer": "RMSpropGraves", "writer": "ThreadWriter"},
    "parallel processes": {"updater": "processes", "iterator": "in order"},
    "process": {"iterator": "process", "optimizer": "LBFGS"},
}


class Process:
    """A training in a process of its own; everything that it starts bears the same mark."""

    def __init__(self, script, out, config):
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(out), json.dumps(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # To load numba takes each process most of a second, and has no state of a training.
            env={**os.environ, "PYTHONPATH": PATH, "MARK": self.mark, "PLUGRAD_COMPILED": "0"},
        )

    def kill_at(self, iteration, delay):
        """Let it come to that iteration, wait a little, kill it. Whether it was still running."""
        for line in self.process.stdout:
            if int(line) >= iteration:
                break
        time.sleep(delay)
        self.process.kill()
        _, told = self.process.communicate()
        assert "damaged" not in told and "Traceback" not in told, told
        return self.process.returncode == -9

    def finish(self):
        _, told = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, told

    def left_behind(self, patience=10):
        """The processes that bear the mark and do not end by themselves."""
        end = time.monotonic() + patience
        while (left := list(marked(self.mark))) and time.monotonic() < end:
            time.sleep(0.05)
        return left


def marked(mark):
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found = f"MARK={mark}".encode() in path.read_bytes()
        except OSError:  # it has ended, or is not ours
            continue
        if found:
            yield path.parent.name


def shared_files(processes):
    """The shared memory that iterators in these processes have left."""
    prefixes = tuple(f"plugrad-{each.process.pid}-" for each in processes)
    return [path.name for path in Path("/dev/shm").iterdir() if path.name.startswith(prefixes)]


def result(root):
    return pickle.loads((root / "result").read_bytes())


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_killed_again_and_again_it_ends_with_the_same_bits(tmp_path, name):
    config = {**stopping.PLAIN, "extensions": EXTENSIONS, **CONFIGURATIONS[name]}
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for root in ("whole", "killed"):
        (tmp_path / root).mkdir()
    whole = Process(script, tmp_path / "whole" / "out", config)
    whole.finish()
    began = [whole]
    draw, killed = random.Random(name), 0
    for iteration in sorted(draw.sample(range(1, 12), 2)):
        stopped = Process(script, tmp_path / "killed" / "out", config)
        began.append(stopped)
        killed += stopped.kill_at(iteration, draw.random() * 0.05)
        assert stopped.left_behind() == []
    assert killed
    last = Process(script, tmp_path / "killed" / "out", config)
    last.finish()
    assert last.left_behind() == []
    assert stopping.differences(result(tmp_path / "killed"), result(tmp_path / "whole")) == []
    assert shared_files([*began, last]) == []
