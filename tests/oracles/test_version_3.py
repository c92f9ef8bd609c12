"""Labels and function classes are those of Chainer 3.0.0."""

import json
import warnings
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
from oracles import classes, hooks, labels, mixed
from oracles.cases import run
from oracles.differences import ATTRIBUTES, LABELS, MIXED
from signatures import signatures

import core
import core.functions as F

PATH = Path(__file__).parents[1] / "data" / "oracle" / "version_3.json"
RECORDS = json.loads(PATH.read_text(encoding="utf-8"))


def patterns(name, table):
    """Those of a table of differences that the name fits."""
    return [each for names, _ in table for each in names.split() if fnmatchcase(name, each)]


@pytest.fixture(scope="module")
def found():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return labels.of(core)


def test_labels_are_those_of_then_or_a_difference_on_purpose(found):
    recorded = {name: label for name, label in RECORDS["labels"].items() if label is not None}
    others = {name for name, label in recorded.items() if found[name] != label}
    assert not [(name, found[name]) for name in others if not patterns(name, LABELS)]
    known = {pattern for names, _ in LABELS for pattern in names.split()}
    assert known == {pattern for name in others for pattern in patterns(name, LABELS)}


def test_mixed_dtypes_are_computed_in_the_widest_or_refused_as_then():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = mixed.of(core)
    recorded = RECORDS["mixed"]
    others = {name for name, dtypes in recorded.items() if found[name] != dtypes}
    assert not [(name, found[name]) for name in others if not patterns(name, MIXED)]
    known = {pattern for names, _ in MIXED for pattern in names.split()}
    assert known == {pattern for name in others for pattern in patterns(name, MIXED)}


def test_hooks_are_told_what_they_were_told_then():
    assert hooks.of(core) == RECORDS["hooks"]


def test_errors_and_graphs_call_operations_by_their_labels():
    x = core.Variable(np.ones((2, 3), "f"), name="x")
    with pytest.raises(core.errors.InvalidType, match=r"performed in: _ \* _ \(Forward\)"):
        x * core.Variable(np.ones((2, 4), "f"))
    y = F.exp(-x) + 2.5
    graph = core.computational_graph.build_computational_graph(y).dump()
    assert all(f'label="{text}"' in graph for text in ("exp", "__neg__", "_ + 2.5"))


def test_every_class_has_a_case():
    on_gpu = {name for name in signatures("function_class") if name.startswith("NStep")}
    assert {c.name for c in classes.CASES.values()} == signatures("function_class").keys() - on_gpu


@pytest.mark.parametrize("name", classes.CASES)
def test_a_class_is_constructed_and_called_as_then(name):
    case, record = classes.CASES[name], RECORDS["classes"][name]
    if "error" in record:
        assert case.name == "LSTM"  # the gradient is out of reach of chainer.grad
        return
    node = classes.construct(F, case)
    for attribute, expected in record["attributes"].items():
        if not patterns(f"{case.name}.{attribute}", ATTRIBUTES):
            value = getattr(node, attribute)
            assert (list(value) if isinstance(value, tuple) else value) == expected, attribute
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        arrays = run(core, case, "float32")
    for what in ("outputs", "gradients"):
        for found, expected in zip(arrays[what], record[what], strict=True):
            if expected is None:
                assert found is None
                continue
            dtype, shape, values = expected
            assert found.shape == tuple(shape)
            assert found.dtype == dtype or case.name == "ClassificationSummary"
            wanted = np.array(values, "float64").reshape(shape)
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)
