"""What a case of the oracle is: a function, how to draw its arguments, and its settings.

Both draw masks and the like from NumPy's global generator, which each case seeds.

This module and those in `families` are read by Chainer's interpreter and by ours, so they import
neither library. Draws are uniform ones of NumPy's legacy generator, whose stream never changes.
"""

import importlib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np


@dataclass(frozen=True)
class Recipe:
    """An array to be drawn: `make(random)`; `plain` ones are not Variables, `watched` ones change.

    A dtype of None is that of the case.
    """

    make: object
    dtype: object = None
    plain: bool = False
    watched: bool = False

    def array(self, random, dtype):
        return np.array(self.make(random), self.dtype or dtype)


def real(*shape, lo=-2.0, hi=2.0, **options):
    return Recipe(lambda random: random.uniform(lo, hi, shape), **options)


def whole(*shape, lo=0, hi=3, dtype="int32"):
    return Recipe(lambda random: random.randint(lo, hi, shape), dtype, plain=True)


def truth(*shape):
    return Recipe(lambda random: random.uniform(size=shape) < 0.5, "bool", plain=True)


def values(given, dtype=None, **options):
    plain = options.pop("plain", dtype is not None)
    return Recipe(lambda random: given, dtype, plain, **options)


@dataclass(frozen=True)
class Case:
    name: str
    args: tuple
    settings: dict = field(default_factory=dict)
    call: object = None
    config: dict = field(default_factory=dict)
    number: int = 0

    @property
    def id(self):
        return f"{self.name}-{self.number}"


class Family(list):
    """The cases of a family, in order."""

    def add(self, name, *args, call=None, config=None, **settings):
        """One more; `call(F, *args, **settings)` is for more than a call of the function."""
        self.append(Case(name, args, settings, call, config or {}))


def all_cases():
    """Every case of every family, numbered by function."""
    found, count = {}, {}
    for path in sorted((Path(__file__).parent / "families").glob("*.py")):
        for case in importlib.import_module(f"oracles.families.{path.stem}").CASES:
            number = count[case.name] = count.get(case.name, -1) + 1
            numbered = Case(case.name, case.args, case.settings, case.call, case.config, number)
            found[numbered.id] = numbered
    return found


# -- running ---------------------------------------------------------------------------------------


class Leaf(int):
    """The place of a differentiable argument among all of them."""


def draw(case, dtype):
    """Arguments and settings with leaves for differentiable arrays; these; and watched arrays."""
    random = np.random.RandomState(crc32(case.id.encode()) % 2**32)
    leaves, watched = [], []

    def drawn(part):
        if isinstance(part, Recipe):
            array = part.array(random, dtype)
            watched.extend([array] * part.watched)
            if part.plain:
                return array
            leaves.append(array)
            return Leaf(len(leaves) - 1)
        if isinstance(part, (list, tuple)):
            return type(part)([drawn(p) for p in part])
        return part

    settings = {name: drawn(value) for name, value in case.settings.items()}
    return drawn(case.args), settings, leaves, watched, random


def _filled(part, leaves):
    if isinstance(part, Leaf):
        return leaves[part]
    if isinstance(part, (list, tuple)):
        return type(part)([_filled(p, leaves) for p in part])
    return part


def run(library, case, dtype):
    """Arrays by what they are: outputs, gradients (None where there is none), watched arguments.

    `library` has `functions`, `Variable`, `grad` and `using_config`.
    """
    args, settings, leaves, watched, random = draw(case, dtype)
    leaves = [library.Variable(array) for array in leaves]
    outputs = _called(library, case, args, settings, leaves)
    pairs = [(y, _weight(random, y)) for y in outputs]
    known = [(y, library.Variable(w)) for y, w in pairs if w is not None]
    gradients = [None] * len(leaves)
    if known and leaves:
        ys, gys = zip(*known, strict=True)
        gradients = library.grad(list(ys), leaves, grad_outputs=list(gys))
    return {
        "outputs": [getattr(y, "array", y) for y in outputs],
        "gradients": [None if g is None else g.array for g in gradients],
        "watched": watched,
    }


def run_on_arrays(library, case, dtype):
    """The outputs of a case for arrays instead of Variables."""
    args, settings, leaves, _, _ = draw(case, dtype)
    return [getattr(y, "array", y) for y in _called(library, case, args, settings, leaves)]


SPOILS = {
    "integers": (0, lambda x: x.astype("int32")),
    "another dtype": (-1, lambda x: x.astype("f4" if x.dtype == "f8" else "f8")),
    "an axis more": (0, lambda x: x[None]),
    "an axis less": (0, lambda x: x[0, ...]),
    "one element less": (-1, lambda x: x[..., :-1]),
    "no elements": (0, lambda x: x[:0]),
}
"""How to spoil a case: which of its differentiable arguments, and by what."""


def run_spoilt(library, case, dtype, how):
    """The outputs of a case whose arguments were spoilt; None where that cannot be done."""
    args, settings, leaves, _, _ = draw(case, dtype)
    place, spoil = SPOILS[how]
    if not leaves or how == "another dtype" and len(leaves) == 1 or not leaves[place].ndim:
        return None
    leaves[place] = spoil(leaves[place])
    leaves = [library.Variable(array) for array in leaves]
    return [getattr(y, "array", y) for y in _called(library, case, args, settings, leaves)]


def _called(library, case, args, settings, leaves):
    args, settings = _filled(args, leaves), {k: _filled(v, leaves) for k, v in settings.items()}
    function = case.call or (lambda F, *a, **k: getattr(F, case.name)(*a, **k))
    state = np.random.get_state()
    with ExitStack() as stack:
        stack.callback(np.random.set_state, state)
        np.random.seed(crc32(case.id.encode()) % 2**32)
        for name, value in case.config.items():
            stack.enter_context(library.using_config(name, value))
        return _flat(function(library.functions, *args, **settings))


def _flat(found):
    if isinstance(found, (tuple, list)):
        return [y for part in found for y in _flat(part)]
    return [found]


def _weight(random, y):
    """The gradient of an output, if it is one that has any."""
    if not getattr(y, "requires_grad", False) or y.dtype.kind != "f":
        return None
    return random.uniform(0.5, 1.5, y.shape).astype(y.dtype)
