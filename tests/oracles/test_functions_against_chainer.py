"""Functions give what Chainer gives: values, gradients, dtypes, shapes and refusals."""

import json
import warnings
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
from oracles.cases import all_cases, run, run_on_arrays, run_spoilt
from oracles.differences import DIFFERENCES, SPOILT, known, may_differ
from oracles.families.math import multiplied
from signatures import signatures

import core
import core.functions

DATA = Path(__file__).parents[1] / "data" / "oracle"
CASES = all_cases()
RECORDS = json.loads((DATA / "functions.json").read_text(encoding="utf-8"))
SPOILT_RECORDS = json.loads((DATA / "functions_spoilt.json").read_text(encoding="utf-8"))
TOLERANCES = {"float64": 2e-6, "float32": 2e-4}
NOTHING = np.zeros(0)


def size(description):
    """How many elements an array has that is described as `float32[2, 3]`."""
    if description is None:
        return 0
    return int(np.prod(json.loads(description[description.index("[") :])))


def recorded_values():
    """For each case the dtype of the values, and by what they are of: the values, end to end."""
    stream, start, found = np.load(DATA / "functions.npz")["values"], 0, {}
    for name, records in RECORDS.items():
        dtype = next((d for d, r in records.items() if "error" not in r), None)
        parts = {}
        for what, described in records.get(dtype, {}).items():
            stop = start + sum(map(size, described))
            parts[what], start = stream[start:stop], stop
        found[name] = dtype, parts
    assert start == stream.size
    return found


VALUES = recorded_values()


def computed(name, dtype):
    """What comes out here, described as in the records, and the values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = run(core, CASES[name], dtype)
    described, values = {}, {}
    for what, part in found.items():
        arrays = [None if a is None else np.asarray(a) for a in part]
        described[what] = [None if a is None else f"{a.dtype}{list(a.shape)}" for a in arrays]
        flat = [a.astype("float64").ravel() for a in arrays if a is not None]
        values[what] = np.concatenate([*flat, NOTHING])
    return described, values


def differences(name, dtype):
    of, expected = VALUES[name]
    record = RECORDS[name][dtype]
    if "error" in record and of is not None:
        return set()  # a dtype that Chainer has not for this function
    try:
        described, values = computed(name, dtype)
    except Exception:
        return set() if "error" in record else {"refused here"}
    if "error" in record:
        return {"refused there"}
    found = set()
    for what, part in record.items():
        if described[what] != part:
            shapes = [[d and d[d.index("[") :] for d in each] for each in (described[what], part)]
            found.add("dtypes" if shapes[0] == shapes[1] else what)
        elif dtype == of:
            near = {"rtol": TOLERANCES[of], "atol": TOLERANCES[of], "equal_nan": True}
            if not np.allclose(values[what], expected[what], **near):
                found.add(what)
    return found


def test_the_records_are_of_these_cases():
    assert list(RECORDS) == list(CASES), "run tests/oracles/record_functions.py again"


def test_the_differences_are_of_cases_that_there_are():
    patterns = [pattern for _, names, _ in DIFFERENCES + SPOILT for pattern in names.split()]
    assert not [p for p in patterns if not any(fnmatchcase(name, p) for name in CASES)]


def test_every_argument_of_every_function_is_in_some_case():
    known = signatures()
    left = {name: set(signature.parameters) for name, signature in known.items()}
    for case in CASES.values():
        if case.call is not None:
            left[case.name].clear()
            continue
        left[case.name] -= set(known[case.name].bind(*case.args, **case.settings).arguments)
    assert not {name: names for name, names in left.items() if names}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    found = set.union(*[differences(name, dtype) for dtype in RECORDS[name]])
    assert found == known(name)


@pytest.mark.parametrize("name", CASES)
def test_arrays_serve_as_variables_do(name):
    of, expected = VALUES[name]
    if of is None or {"outputs", "refused here"} & known(name) or CASES[name].call is multiplied:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        outputs = run_on_arrays(core, CASES[name], of)
    flat = [np.asarray(y, "float64").ravel() for y in outputs if y is not None]
    near = {"rtol": TOLERANCES[of], "atol": TOLERANCES[of]}
    np.testing.assert_allclose(np.concatenate([*flat, NOTHING]), expected["outputs"], **near)


def spoilt(name, how):
    """What comes out of a spoilt case: descriptions of arrays, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = run_spoilt(core, CASES[name], VALUES[name][0], how)
    except Exception as error:
        return error
    return outputs and [f"{np.asarray(y).dtype}{list(np.shape(y))}" for y in outputs]


@pytest.mark.parametrize("name", SPOILT_RECORDS)
def test_arguments_that_do_not_fit_are_refused_by_both(name):
    for how, expected in SPOILT_RECORDS[name].items():
        found = spoilt(name, how)
        if isinstance(found, Exception):
            assert isinstance(found, (TypeError, ValueError, IndexError)), how
            same = isinstance(expected, str)
        else:
            same = found == expected
        assert same or may_differ(name, how), (how, found, expected)
