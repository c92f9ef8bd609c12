"""Write what Chainer 3.0.0 gives where it matters to programs of that time.

Run it with the Python of an environment that has Chainer 3.0.0, NumPy 1, SciPy, and the names that
Python and NumPy had then (`collections.Iterable`, `numpy.bool`, ...):

    python tests/oracles/record_version_3.py

It writes to tests/data/oracle/version_3.json: of functions and operators the labels of what they
put into the graph, the dtypes that mixed ones give, and what hooks are told of them; of function
classes attributes, outputs and gradients.
"""

import json
import sys
import warnings
from pathlib import Path

import chainer
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from oracles import classes, hooks, labels, mixed  # noqa: E402
from oracles.cases import run  # noqa: E402


def of_class(case):
    try:
        found = {"attributes": classes.attributes(classes.construct(chainer.functions, case))}
        arrays = run(chainer, case, "float32")
    except Exception as error:
        return {"error": type(error).__name__}
    for what in ("outputs", "gradients"):
        found[what] = [None if a is None else described(np.asarray(a)) for a in arrays[what]]
    return found


def described(array):
    numbers = [round(x, 6) for x in array.astype("float64").ravel().tolist()]
    return [array.dtype.name, list(array.shape), [x if x == x else None for x in numbers]]


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found = {
        "labels": labels.of(chainer),
        "mixed": mixed.of(chainer),
        "hooks": hooks.of(chainer),
        "classes": {name: of_class(case) for name, case in classes.CASES.items()},
    }
    sections = []
    for section, records in found.items():
        lines = [f"{json.dumps(key)}: {json.dumps(record)}" for key, record in records.items()]
        sections.append(f"{json.dumps(section)}: {{\n" + ",\n".join(lines) + "\n}")
    text = "{\n" + ",\n".join(sections) + "\n}\n"
    (ROOT / "data" / "oracle" / "version_3.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
