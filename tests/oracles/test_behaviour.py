"""Links, optimizers, training and data behave as those of Chainer 3.0.0."""

import math
from fnmatch import fnmatchcase

import pytest
from oracles.behaviour import FOLDER, outcomes, read
from oracles.differences import BEHAVIOUR

import core

PATHS = sorted(FOLDER.glob("*.txt"))


def alike(found, expected):
    """Whether they are the same; an error is one that those who expect the recorded one catch."""
    if isinstance(expected, dict) and "raises" in expected:
        fails = isinstance(found, dict) and "raises" in found
        return not fails or expected["raises"][0] in found["raises"]
    if isinstance(expected, dict | list):
        if type(found) is not type(expected) or len(found) != len(expected):
            return False
        if isinstance(expected, dict):
            return all(k in expected and alike(found[k], expected[k]) for k in found)
        return all(map(alike, found, expected))
    if isinstance(expected, float) and isinstance(found, float | int):
        return math.isclose(found, expected, rel_tol=2e-4, abs_tol=1e-6)
    return found == expected


def different(path):
    shared, probes = read(path)
    for probe in probes:
        found = outcomes(core, shared, probe)
        recorded = {probe.head: probe.recorded} if probe.head in found else probe.recorded
        yield from (name for name in found if not alike(found[name], recorded[name]))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_behaviour_is_that_of_then_or_a_difference_on_purpose(path):
    names, known = set(different(path)), BEHAVIOUR[path.stem]
    patterns = {pattern for each, _ in known for pattern in each.split()}
    fits = {name: {p for p in patterns if fnmatchcase(name, p)} for name in names}
    assert not sorted(name for name in names if not fits[name])
    assert patterns == set().union(*fits.values()), "of these there is no difference any more"
