"""Write what Chainer's functions give for the cases of the oracle.

Run it with the Python of an environment that has Chainer 7.8.1, NumPy 1 and SciPy:

    python tests/oracles/record_functions.py

It writes to tests/data/oracle: functions.json (per case and dtype: dtypes and shapes, or an error),
functions.npz (in float32 the values of each case in the first of the dtypes that it can be run in,
end to end), and functions_spoilt.json (what two cases of each function give for arguments that do
not fit).
"""

import json
import sys
import warnings
from collections import Counter
from pathlib import Path

import chainer
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from oracles.cases import SPOILS, all_cases, run, run_spoilt  # noqa: E402

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


def record_spoilt(case, dtype):
    """For each way to spoil a case: what comes out, the error, or None if it cannot be done."""
    found = {}
    for how in SPOILS:
        try:
            outputs = run_spoilt(chainer, case, dtype, how)
        except Exception as error:
            found[how] = type(error).__name__
        else:
            found[how] = outputs and [described(np.asarray(y)) for y in outputs]
    return found


def write(name, records):
    lines = [f"{json.dumps(key)}: {json.dumps(found)}" for key, found in records.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (TARGET / name).write_text(text, encoding="utf-8")


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    chainer.config.dtype = np.dtype("float32")
    stream, records, spoilt, used = [], {}, {}, Counter()
    for name, case in all_cases().items():
        kept = []
        records[name] = {dtype: record(case, dtype, kept) for dtype in DTYPES}
        stream += kept
        used[case.name] += bool(kept)
        if kept and used[case.name] <= 2:
            dtype = next(d for d, found in records[name].items() if "error" not in found)
            spoilt[name] = record_spoilt(case, dtype)
    write("functions.json", records)
    write("functions_spoilt.json", spoilt)
    flat = np.concatenate(stream).astype("float32")
    np.savez_compressed(TARGET / "functions.npz", values=flat)
    print(len(records), "cases,", flat.size, "values,", len(spoilt), "cases to spoil")


if __name__ == "__main__":
    main()
