"""Write what Chainer 3.0.0 makes of the probes in tests/data/behaviour, below each of them.

Run it with the Python (3.6) of an environment that has Chainer 3.0.0, NumPy 1 and h5py:

    python tests/oracles/record_behaviour.py
"""

import sys
from pathlib import Path

import chainer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from oracles.behaviour import FOLDER, outcomes, read

for path in sorted(FOLDER.glob("*.txt")):
    shared, probes = read(path)
    for probe in probes:
        found = outcomes(chainer, shared, probe)
        probe.recorded = found.get(probe.head, found)
    text = "\n".join([shared.rstrip("\n") + "\n", *(probe.text() for probe in probes)])
    path.write_text(text, encoding="utf-8")
