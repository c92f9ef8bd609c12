"""check_link: everything that is demanded of a link, in one line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from core.arrays.backend import get as get_backend
from core.arrays.backend import random_state, set_random_state, to_backend, to_host
from core.graph.variable import Variable
from core.link import Link
from core.link.recurrent_state import serialize_carried
from core.registry.configuration import no_backprop_mode, using_config
from core.testing import gradient_check
from core.testing.backends import explained, fresh, tried
from core.testing.finite_differences import as_tuple
from core.testing.memory import MemoryDeserializer, MemorySerializer, load, saved
from core.testing.tolerances import DOUBLE_GRADIENT, GRADIENT, assert_near, tolerance

Arrays = tuple[Any, ...]
DTYPES = ("float64", "float32")


def check_link(
    make: Callable[[], Link],
    inputs: Any,
    reference: Callable[..., Any] | None = None,
    backends: Iterable[str] | None = None,
    *,
    kind: str = "reduction",
    double: bool = True,
    init: bool = True,
) -> None:
    """Prove a link: AssertionError, naming the check, where it fails.

    On each backend and in float64 and float32: the outputs are those of `reference`; gradients of
    inputs and parameters, and second ones, are those of finite differences; inputs are not written
    to; both modes work, and test mode repeats itself; a state is forgotten on reset; copies of each
    mode, repetitions, deep copies and pickles give the same outputs and share what they should;
    moving to another backend and back changes nothing; what is saved and loaded into a fresh link,
    sized or not, by every serializer there is, brings back parameters, running statistics and
    outputs, and training goes on as it would have, bit for bit; so does a state that is `carried`.

    Args:
        make: Makes a fresh link, the same up to random numbers.
        inputs: A host array or a tuple of them, to call it with; floating ones are cast to the
            dtype under test.
        reference: `reference(params, *inputs)` gives the outputs in training mode, an array or a
            tuple of them, from the parameters and persistent values by path and the inputs in
            float64.
        backends: Names; by default all that can be used here.
        kind: Row of the table of tolerances.
        double: Whether second derivatives exist.
        init: Whether parameters have initializers that `copy('init')` fills them with anew.

    >>> import core.links as L, numpy as np
    >>> def affine(params, x):
    ...     return x @ params["/W"].T + params["/b"]
    >>> check_link(lambda: L.Linear(3, 2), (np.ones((4, 3)),), affine, ["numpy"])
    """
    fresh("check_link", make, Link)
    for name in tried(backends):
        for dtype in DTYPES:
            trial = _Trial(make, as_tuple(inputs), reference, name, dtype, kind)
            checks = [check for check in CHECKS if init or check is not copies_anew]
            if dtype == "float64":
                checks += [gradients, second_gradients] if double else [gradients]
            else:
                checks.append(files)
            for check in checks:
                explained(check, trial)


class _Trial:
    """A link to make, on one backend in one dtype, and what to call it with."""

    def __init__(
        self,
        make: Callable[[], Link],
        inputs: Arrays,
        reference: Any,
        backend: str,
        dtype: str,
        kind: str,
    ) -> None:
        self.make = make
        self.reference = reference
        self.backend = get_backend(backend)
        self.dtype = dtype
        self.allowed = tolerance(kind, dtype)
        self._inputs = inputs

    def __str__(self) -> str:
        return f"a {type(self.make()).__name__} on {self.backend.name} in {self.dtype}"

    def inputs(self) -> Arrays:
        """The inputs as arrays of the backend, floating ones in the dtype."""
        home = self.backend
        cast = [np.asarray(x) for x in self._inputs]
        cast = [x.astype(self.dtype) if x.dtype.kind == "f" else x for x in cast]
        return tuple(home.asarray(x.copy()) for x in cast)

    def sized(self) -> Link:
        """A fresh link that has seen an input, and then forgotten any state."""
        link = self.make()
        with using_config("train", False):
            self.call(link)
        reset(link)
        return link

    def call(self, link: Link, inputs: Arrays | None = None) -> list[Any]:
        """The outputs as host arrays."""
        return [to_host(y) for y in outputs(link, inputs or self.inputs())]

    def evaluate(self, link: Link) -> list[Any]:
        """The outputs in test mode, from a forgotten state."""
        reset(link)
        with using_config("train", False):
            return self.call(link)

    def assert_same(self, link: Link, other: Link, what: str) -> None:
        """Both links give the same outputs, bit for bit."""
        for mine, theirs in zip(self.evaluate(link), self.evaluate(other), strict=True):
            np.testing.assert_array_equal(mine, theirs, err_msg=what)


def outputs(link: Link, inputs: Arrays) -> list[Variable]:
    """What a link gives, always as a list."""
    y = link(*inputs)
    return list(y) if isinstance(y, (tuple, list)) else [y]


def reset(link: Link) -> None:
    """Forget the state of a link and of those below, where they have one."""
    for each in link.links():
        forget = getattr(each, "reset_state", None)
        if forget is not None:
            forget()


def values(link: Link) -> dict[str, Any]:
    """Path -> parameter or persistent value, as float64 on the host where it is an array."""
    found = {f"/{path}": value for path, value in saved(link).items()}
    return {
        path: value.astype("float64") if getattr(value, "dtype", None) is not None else value
        for path, value in found.items()
    }


# -- the checks -------------------------------------------------------------------------------


def forward(trial: _Trial) -> None:
    """The outputs have the dtype of the link, and are what the reference computes."""
    link, inputs = trial.sized(), trial.inputs()
    before = values(link)
    found = trial.call(link, inputs)
    for given, untouched in zip(inputs, trial.inputs(), strict=True):
        np.testing.assert_array_equal(
            to_host(given), to_host(untouched), err_msg="an input was written to"
        )
    if trial.reference is None:
        return
    wide = [to_host(x) for x in trial.inputs()]
    wide = [x.astype("float64") if x.dtype.kind == "f" else x for x in wide]
    expected = trial.reference(before, *wide)
    expected = list(expected) if isinstance(expected, tuple) else [expected]
    if len(found) != len(expected):
        raise AssertionError(f"expected {len(expected)} outputs, got {len(found)}")
    for i, (y, e) in enumerate(zip(found, expected, strict=True)):
        if y.dtype.kind == "f" and y.dtype.name != trial.dtype:
            raise AssertionError(f"output {i}: expected {trial.dtype}, got {y.dtype.name}")
        assert_near(y, e, trial.allowed, f"output {i}")


def _as_function(trial: _Trial) -> tuple[Any, Arrays, list[Any]]:
    """The link as a function of its floating inputs, those, and its parameters."""
    link, inputs = trial.sized(), trial.inputs()
    home = trial.backend
    floating = [i for i, x in enumerate(inputs) if home.kind(x.dtype) == "f"]

    def function(*xs: Any) -> tuple[Any, ...]:
        given = list(inputs)
        for i, x in zip(floating, xs, strict=True):
            given[i] = x
        reset(link)
        return tuple(y for y in outputs(link, tuple(given)) if y.requires_grad)

    return function, tuple(inputs[i] for i in floating), list(link.params())


def _draws(trial: _Trial, arrays: Iterable[Any], seed: int) -> Arrays:
    generator = np.random.default_rng(seed)
    home = trial.backend
    return tuple(home.asarray(generator.normal(size=tuple(a.shape))) for a in arrays)


def gradients(trial: _Trial) -> None:
    """Gradients of inputs and parameters are those of finite differences."""
    function, inputs, params = _as_function(trial)
    found = function(*map(Variable, inputs))
    if not found:
        return
    gradient_check.check_backward(
        function,
        inputs,
        _draws(trial, found, 1),
        params=params,
        atol=GRADIENT.absolute,
        rtol=GRADIENT.relative,
    )


def second_gradients(trial: _Trial) -> None:
    """Second gradients are those of finite differences of the first."""
    function, inputs, params = _as_function(trial)
    found = function(*map(Variable, inputs))
    if not found:
        return
    gradient_check.check_double_backward(
        function,
        inputs,
        _draws(trial, found, 1),
        _draws(trial, inputs, 2),
        params=params,
        params_grad_grad=_draws(trial, params, 3),
        atol=DOUBLE_GRADIENT.absolute,
        rtol=DOUBLE_GRADIENT.relative,
    )


def modes(trial: _Trial) -> None:
    """Test mode repeats itself, and leaves parameters and persistent values as they are."""
    link = trial.sized()
    trial.call(link)
    before = saved(link)
    trial.assert_same(link, link, "a repetition in test mode")
    _assert_saved_equal(saved(link), before, "test mode changed what is saved")


def state(trial: _Trial) -> None:
    """A state moves on from call to call where there is one, and reset forgets it."""
    link = trial.sized()
    first = trial.evaluate(link)
    trial.call(link)
    for again, expected in zip(trial.evaluate(link), first, strict=True):
        if any(hasattr(each, "avg_mean") for each in link.links()):
            return  # the call in between was training, and moved the averages
        np.testing.assert_array_equal(again, expected, err_msg="after reset_state")


def continuation(trial: _Trial) -> None:
    """What a link keeps from call to call is saved, or named in `carried`."""
    link, carried = trial.sized(), MemorySerializer()
    with using_config("train", False), no_backprop_mode():
        trial.call(link)
        serialize_carried(link, carried)
        target = trial.make()
        load(target, saved(link))
        serialize_carried(target, MemoryDeserializer(carried.store))
        for mine, theirs in zip(trial.call(link), trial.call(target), strict=True):
            np.testing.assert_array_equal(
                theirs, mine, err_msg="one that was restored goes on; what is kept is not 'carried'"
            )


def copies(trial: _Trial) -> None:
    """Shared, real and deep copies and pickles compute the same; each has its own gradients."""
    link = trial.sized()
    clones = {
        "copy('share')": link.copy("share"),
        "copy('copy')": link.copy("copy"),
        "copy.deepcopy": copy.deepcopy(link),
        "pickle": pickle.loads(pickle.dumps(link)),
    }
    for what, clone in clones.items():
        trial.assert_same(link, clone, what)
        for (path, mine), (_, theirs) in zip(link.namedparams(), clone.namedparams(), strict=True):
            if (mine.array is theirs.array) is not (what == "copy('share')"):
                raise AssertionError(f"{what}: the array of {path} is shared, or is not")
            if mine is theirs:
                raise AssertionError(f"{what}: the parameter {path} is the same object")


def copies_anew(trial: _Trial) -> None:
    """`copy('init')` has arrays of its own in the same shapes."""
    link = trial.sized()
    for (path, mine), (_, theirs) in zip(
        link.namedparams(), link.copy("init").namedparams(), strict=True
    ):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype or mine.array is theirs.array:
            raise AssertionError(f"copy('init'): {path} is not an array of its own, alike")


def repetitions(trial: _Trial) -> None:
    """`repeat` gives links one after another, each with parameters of its own."""
    link = trial.sized()
    alone = dict(link.namedparams())
    for mode in ("share", "copy"):
        params = list(link.repeat(2, mode).params())
        if len(params) != 2 * len(alone):
            raise AssertionError(f"repeat(2, {mode!r}): {len(params)} parameters, not 2 for each")
        for mine, theirs in zip([*alone.values()] * 2, params, strict=True):
            if (mine.array is theirs.array) is not (mode == "share"):
                raise AssertionError(f"repeat(2, {mode!r}): an array is shared, or is not")


def unfinished(trial: _Trial) -> None:
    """A link in the middle of its work (a state with a graph) can be copied and pickled."""
    link = trial.sized()
    trial.call(link)
    for clone in (copy.deepcopy(link), pickle.loads(pickle.dumps(link))):
        _assert_saved_equal(saved(clone), saved(link), "a copy made after a call")


def moves(trial: _Trial) -> None:
    """Moving to another backend and back, in the midst of work, changes nothing."""
    link = trial.sized()
    trial.call(link)
    clone = copy.deepcopy(link)
    for name in tried(None):
        if clone.to_device(name) is not clone:
            raise AssertionError("to_device: expected the link itself")
        wrong = [p for p, param in clone.namedparams() if param.backend.name != name]
        if wrong:
            raise AssertionError(f"to_device({name!r}) left {', '.join(wrong)} behind")
        arrays = [to_backend(x, name) for x in trial.inputs()]
        with using_config("train", False):
            outputs(copy.deepcopy(clone), tuple(arrays))
    clone.to_device(trial.backend.name)
    _assert_saved_equal(saved(clone), saved(link), "after moving there and back")
    trial.assert_same(link, clone, "after moving there and back")


def saving(trial: _Trial) -> None:
    """What is saved and loaded, into a sized link or a fresh one, brings everything back."""
    link = trial.sized()
    trial.call(link)
    store = saved(link)
    for target in (trial.sized(), trial.make()):
        load(target, store)
        _assert_saved_equal(saved(target), store, "saved, loaded and saved again")
        trial.assert_same(link, target, "after loading")


def files(trial: _Trial) -> None:
    """Every serializer of files keeps what is saved; None and numbers too."""
    from core import serializers

    link = trial.sized()
    trial.call(link)
    store = saved(link)
    formats = [name.removeprefix("save_") for name in dir(serializers) if name.startswith("save_")]
    with TemporaryDirectory() as directory:
        for form in formats:
            path = Path(directory) / form
            try:
                save, restore = (
                    getattr(serializers, f"{verb}_{form}") for verb in ("save", "load")
                )
                save(path, link)
            except ImportError:
                continue  # its library is an extra, which is not installed here
            for target in (trial.sized(), trial.make()):
                restore(path, target)
                _assert_saved_equal(saved(target), store, f"saved and loaded as {form}")
                trial.assert_same(link, target, f"loaded from {form}")


def resumption(trial: _Trial) -> None:
    """A loaded link goes on training as the saved one: the same outputs and gradients."""
    link = trial.sized()
    trial.call(link)
    target = trial.make()
    load(target, saved(link))
    random = random_state()
    expected = _training_call(trial, link)
    set_random_state(random)
    found = _training_call(trial, target)
    for path, value in expected.items():
        np.testing.assert_array_equal(found[path], value, err_msg=f"after resuming: {path}")


def _training_call(trial: _Trial, link: Link) -> dict[str, Any]:
    """Outputs, gradients and what is saved after a forward and a backward in training."""
    reset(link)
    link.cleargrads()
    found = outputs(link, trial.inputs())
    for y in found:
        if y.requires_grad:
            y.grad = y.xp.ones_like(y.array)
            y.backward()
    results = {f"output {i}": to_host(y) for i, y in enumerate(found)}
    for path, param in link.namedparams():
        results[f"gradient of {path}"] = None if param.grad is None else to_host(param.grad)
    return {**results, **saved(link)}


def looks(trial: _Trial) -> None:
    """The tree names every parameter and persistent value; the count is right."""
    link = trial.sized()
    text = repr(link)
    missing = [path for path in saved(link) if path.rpartition("/")[2] not in text]
    if missing:
        raise AssertionError(f"repr does not show {', '.join(missing)}:\n{text}")
    expected = sum(int(np.prod(param.shape)) for param in link.params())
    if link.count_params() != expected or f"{expected:,} parameter" not in text:
        raise AssertionError(f"expected {expected} parameters counted:\n{text}")


def _assert_saved_equal(found: dict[str, Any], expected: dict[str, Any], what: str) -> None:
    if found.keys() != expected.keys():
        raise AssertionError(f"{what}: expected {sorted(expected)}, got {sorted(found)}")
    for path, value in expected.items():
        np.testing.assert_array_equal(found[path], value, err_msg=f"{what}: {path}")


CHECKS: tuple[Callable[[_Trial], None], ...] = (
    forward,
    modes,
    state,
    continuation,
    copies,
    copies_anew,
    repetitions,
    unfinished,
    moves,
    saving,
    resumption,
    looks,
)
