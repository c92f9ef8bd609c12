"""Steps that draw from generators by themselves are not replayed: a replay would draw nothing."""

import random
from random import random as drawn

import numpy as np
import pytest

import core
import core.functions as F

X = np.arange(1, 4, dtype="f")


class Holder:
    """An object that has a generator."""

    def __init__(self, generator):
        self.generator = generator


class Augmenting(core.Link):
    def __init__(self, generator):
        super().__init__()
        self.generator = generator

    def forward(self, x):
        return x[::-1] if self.generator.random() < 0.25 else x


def held_by_an_object(generator):
    holder = Holder(generator)
    return lambda x: x * 2 if holder.generator.random() < 0.25 else x


@pytest.fixture(autouse=True)
def kept():
    state = core.backend.random_state()
    yield
    core.backend.set_random_state(state)


@pytest.mark.filterwarnings("ignore:core.capture")
@pytest.mark.parametrize("seed", range(4))  # with which two recordings may draw alike
@pytest.mark.parametrize(
    ("make", "generator", "label"),
    [
        (lambda g: lambda x: x * 2 if g.random() < 0.25 else x, np.random.default_rng, "g"),
        (lambda g: lambda x: x * 2 if g.rand() < 0.25 else x, np.random.RandomState, "g"),
        (lambda g: lambda x: x * 2 if g.random() < 0.25 else x, random.Random, "g"),
        (lambda g: lambda x: x[g.integers(2)] if g.random() < 0.25 else x[0], None, "g"),
        (Augmenting, np.random.default_rng, "/generator"),
        (held_by_an_object, np.random.default_rng, "Holder.generator"),
        (
            lambda _: lambda x: x * 2 if np.random.rand() < 0.25 else x,
            np.random.seed,
            "numpy.random",
        ),
        (lambda _: lambda x: x * 2 if random.random() < 0.25 else x, random.seed, "random"),
        (lambda _: lambda x: x * 2 if drawn() < 0.25 else x, random.seed, None),
    ],
)
def test_what_is_drawn_decides_anew_in_each_call(make, generator, label, seed):
    def outcomes(capture):
        step = make((generator or np.random.default_rng)(seed))
        inner = lambda x: F.sum(step(core.Variable(x)) * X)  # noqa: E731
        function = core.capture(inner) if capture else inner
        with core.no_backprop_mode():
            found = [function(X * i).array.tolist() for i in range(20)]
        return found, function

    found, captured = outcomes(True)
    assert found == outcomes(False)[0]
    assert captured.replayed == 0
    assert label is None or f"draws from {label} itself" in captured.report()


def test_a_generator_of_each_call_and_one_that_is_not_drawn_from_are_none_of_it():
    generator = np.random.default_rng(0)

    def step(x):
        fixed = np.random.default_rng(1).normal(size=3).astype("f")
        return F.dropout(x * fixed) if generator is not None else x

    captured = core.capture(step)
    with core.no_backprop_mode():
        for _ in range(5):
            captured(X)
    assert captured.replayed == 4
