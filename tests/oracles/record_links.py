"""Write what Chainer's links give for the cases of `link_cases`, and what they save.

Run it with the Python of an environment that has Chainer 7.8.1 and NumPy 1:

    python tests/oracles/record_links.py

It writes tests/data/oracle/links.npz; tests/oracles/test_links_against_chainer.py reads it.
"""

import sys
import warnings
from pathlib import Path

import chainer
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from oracles.link_cases import CASES, run  # noqa: E402


def main():
    warnings.simplefilter("ignore")
    chainer.disable_experimental_feature_warning = True
    found = {}
    for name in CASES:
        found.update({f"{name}:{key}": value for key, value in run(name, chainer).items()})
    np.savez_compressed(ROOT / "data" / "oracle" / "links.npz", **found)


if __name__ == "__main__":
    main()
