"""Run the test cases for single operators that come with onnx, and write the table of onnx.md."""

import io
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

import core
import core.links as L
from core.errors import CheckpointError

PAGE = Path(__file__).parent / "onnx.md"
BEGIN, END = "<!-- cases: written by onnx_cases.py -->\n", "<!-- end of cases -->"
DRAWN = ("training_dropout", "bernoulli")
"""Parts of names of cases whose results another generator has drawn."""

NARROW = {"float16": 2**-10, "bfloat16": 2**-7}
"""Dtypes whose rounding is larger than the tolerance of cases, and how large it is."""


def _array(x):
    return numpy_helper.to_array(x) if isinstance(x, TensorProto) else x


def _compare(found, expected, case):
    if expected is None:
        np.testing.assert_equal(found, None, case.name)
    elif isinstance(expected, (list, tuple)):
        np.testing.assert_equal(len(found), len(expected), case.name)
        for one, other in zip(found, expected, strict=True):
            _compare(one, other, case)
    else:
        got = np.asarray(getattr(found, "array", found))
        other = np.asarray(_array(expected))
        if other.dtype.kind in "OUS":
            np.testing.assert_equal(got.tolist(), other.astype("O").tolist(), case.name)
            return
        np.testing.assert_equal((got.shape, got.dtype), (other.shape, other.dtype), case.name)
        rtol = max(case.rtol, 4 * NARROW.get(other.dtype.name, 0))
        if other.dtype.kind not in "biufc" or other.dtype.name.startswith("float8"):
            got, other = got.astype("d"), other.astype("d")
        atol = max(case.atol, 1e-7)
        np.testing.assert_allclose(got, other, rtol=rtol, atol=atol, err_msg=case.name)


def outcome(case):
    """'passed', 'refused' or 'drawn'; raises where the result is another."""
    for inputs, expected in case.data_sets:
        try:
            model = L.ONNXModel(io.BytesIO(case.model.SerializeToString()))
            with core.no_backprop_mode():
                found = model(*map(_array, inputs))
        except CheckpointError:
            return "refused"
        if any(part in case.name for part in DRAWN):
            return "drawn"
        _compare(found if isinstance(found, tuple) else (found,), expected, case)
    return "passed"


def outcomes():
    """How many have which outcome, by the domain and the version of the operator."""
    found = defaultdict(Counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_model_tests(kind="node"):
            (*_, opset) = sorted([(o.domain, o.version) for o in case.model.opset_import])
            found[opset][outcome(case)] += 1
    return dict(sorted(found.items()))


def table(found):
    """The lines of the table."""
    total = sum(found.values(), Counter())
    lines = [
        f"Cases of onnx {onnx.__version__}, by the opset that brought the operator as it is:",
        "",
        "| opset | cases | pass | refused by name | drawn otherwise |",
        "|---|---|---|---|---|",
    ]
    named = [(f"{domain or 'ai.onnx'} {version}", row) for (domain, version), row in found.items()]
    for name, row in [*named, ("all", total)]:
        cells = [row.total(), *[row[each] for each in ("passed", "refused", "drawn")]]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "".join(f"{line}\n" for line in lines)


def page(text, found):
    """The page with the table as it should be."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{table(found)}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), outcomes()), encoding="utf-8")
