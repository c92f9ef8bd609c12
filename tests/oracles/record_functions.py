"""Write what Chainer's functions give for the cases of the oracle.

Run it with the Python of an environment that has Chainer 7.8.1, NumPy 1 and SciPy:

    python tests/oracles/record_functions.py

It writes tests/data/oracle/functions.json (per case and dtype: dtypes and shapes, or the error) and
functions.npz (in float32 the values of each case in the first of the dtypes that it can be run in,
end to end).
"""

import json
import sys
import warnings
from pathlib import Path

import chainer
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from oracles.cases import all_cases, run  # noqa: E402

TARGET = ROOT / "data" / "oracle"
DTYPES = ("float64", "float32", "float16")


def described(array):
    return None if array is None else f"{array.dtype.name}{list(array.shape)}"


def record(case, dtype, kept):
    """What comes out in one dtype; the values go to `kept`, unless another dtype's are there."""
    try:
        found = run(chainer, case, dtype)
    except Exception as error:
        return {"error": type(error).__name__}
    arrays = {what: [None if a is None else np.asarray(a) for a in found[what]] for what in found}
    if not kept:
        kept += [
            a.astype("float64").ravel() for part in arrays.values() for a in part if a is not None
        ]
    return {what: [described(a) for a in part] for what, part in arrays.items() if part}


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    chainer.config.dtype = np.dtype("float32")
    stream, records = [], {}
    for name, case in all_cases().items():
        kept = []
        records[name] = {dtype: record(case, dtype, kept) for dtype in DTYPES}
        stream += kept
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in records.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (TARGET / "functions.json").write_text(text, encoding="utf-8")
    flat = np.concatenate(stream).astype("float32")
    np.savez_compressed(TARGET / "functions.npz", values=flat)
    print(len(records), "cases,", flat.size, "values")


if __name__ == "__main__":
    main()
