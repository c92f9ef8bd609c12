"""check_optimizer: everything that is demanded of an optimizer and its update rule, in one line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from core.arrays.backend import get as get_backend
from core.arrays.backend import to_host
from core.errors import BackendError
from core.link import Link
from core.link.parameter import Parameter
from core.optimizer import GradientMethod
from core.testing.backends import explained, fresh, tried
from core.testing.memory import load, saved
from core.testing.tolerances import assert_near, tolerance

STEPS = 6
SHAPES = ((), (3,), (2, 3), (0, 2))
Trajectory = Callable[[float, list[float]], list[float]]


def check_optimizer(
    make: Callable[[], GradientMethod],
    reference: Trajectory | None = None,
    backends: Iterable[str] | None = None,
    *,
    half: bool = True,
    together: bool = False,
) -> None:
    """Prove an optimizer: AssertionError, naming the check, where it fails.

    On each backend and in float64 and float32: the trajectory of every element is that of
    `reference`; parameters change, in place where arrays are mutable, keep their dtype, and count
    their versions; gradients are left alone; a kernel gives what the rule's own step gives; a run
    that is saved and loaded in its middle, deep-copied or pickled ends bit-identical; parameters
    that are frozen, unsized or without gradient stay as they are and keep no state; a gradient that
    does not fit changes nothing anywhere; hyper-parameters act, on all parameters or on one; a loss
    scale is divided out. 16-bit parameters follow their float32 masters, which save exactly.

    Args:
        make: Makes a fresh optimizer.
        reference: `reference(theta, gradients)` gives the value of one element after each step, by
            a loop over Python floats.
        backends: Names; by default all that can be used here.
        half: Whether 16-bit parameters are tested: float16, and bfloat16 where the backend has it.
        together: Whether the step of a parameter depends on all others, as that of `LBFGS` does.
            Then nothing is asked of one parameter by itself.

    >>> import core
    >>> def descent(theta, gradients):
    ...     found = []
    ...     for g in gradients:
    ...         theta = theta - 0.1 * g
    ...         found.append(theta)
    ...     return found
    >>> check_optimizer(lambda: core.optimizers.SGD(lr=0.1), descent, ["numpy"])
    """
    fresh("check_optimizer", make, GradientMethod)
    for name in tried(backends):
        for dtype in ("float64", "float32"):
            for check in [each for each in CHECKS if not (together and each in OF_ONE)]:
                explained(check, _Trial(make, reference, name, dtype))
        for dtype in ("float16", "bfloat16") if half else ():
            if _has(name, dtype):
                explained(masters, _Trial(make, reference, name, dtype))


def _has(name: str, dtype: str) -> bool:
    try:
        get_backend(name).dtype(dtype)
    except BackendError:
        return False
    return True


class _Trial:
    """An optimizer to make, on one backend in one dtype, with starting points and gradients."""

    def __init__(self, make: Any, reference: Any, backend: str, dtype: str) -> None:
        self.make = make
        self.reference = reference
        self.backend = get_backend(backend)
        self.dtype = dtype

    def __str__(self) -> str:
        return f"{self.make()!r} on {self.backend.name} in {self.dtype}"

    def start(self) -> tuple[GradientMethod, Link]:
        """A fresh optimizer, set up with a link of one parameter of each shape."""
        model = Link()
        generator = np.random.default_rng(5)
        with model.init_scope():
            for i, shape in enumerate(SHAPES):
                array = self.array(generator.uniform(-1, 1, shape))
                setattr(model, f"p{i}", Parameter(array))
        return self.make().setup(model), model

    def array(self, host: Any) -> Any:
        """A host array as one of the backend, in the dtype."""
        return self.backend.asarray(np.asarray(host).astype(self.dtype))

    def gradients(self, step: int) -> list[Any]:
        """Host gradients for the parameters at a step: of both signs and several magnitudes."""
        generator = np.random.default_rng(100 + step)
        return [
            np.asarray(generator.normal(size=shape) * generator.choice([0.1, 1, 10], shape))
            for shape in SHAPES
        ]

    def step(self, optimizer: GradientMethod, model: Link, step: int) -> None:
        """One update by the gradients of that step."""
        for param, g in zip(model.params(), self.gradients(step), strict=True):
            param.grad = self.array(g)
        optimizer.update()

    def run(self, steps: Iterable[int]) -> tuple[GradientMethod, Link]:
        """A fresh run over some steps."""
        optimizer, model = self.start()
        for step in steps:
            self.step(optimizer, model, step)
        return optimizer, model


def host(model: Link) -> list[Any]:
    """The parameters as host arrays of their own."""
    return [to_host(param.array).copy() for param in model.params()]


def assert_identical(model: Link, other: Link, what: str) -> None:
    """Both models have the same parameters, bit for bit."""
    for mine, theirs in zip(host(model), host(other), strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg=what)


# -- the checks -------------------------------------------------------------------------------


def trajectory(trial: _Trial) -> None:
    """Every element moves as the reference's; in place, and gradients are not written to."""
    optimizer, model = trial.start()
    paths = [[array] for array in host(model)]
    arrays = [param.array for param in model.params()]
    for step in range(STEPS):
        trial.step(optimizer, model, step)
        for path, array, param in zip(paths, arrays, model.params(), strict=True):
            path.append(to_host(param.array).copy())
            in_place = param.array is array
            if in_place is not trial.backend.mutable or param.version != step + 1:
                raise AssertionError("expected the array changed in place and its version counted")
        for g, param in zip(trial.gradients(step), model.params(), strict=True):
            np.testing.assert_array_equal(
                to_host(param.grad), g.astype(trial.dtype), err_msg="gradient written to"
            )
    if trial.reference is not None:
        _compare(trial, paths)


def _compare(trial: _Trial, paths: list[list[Any]]) -> None:
    given = [trial.gradients(step) for step in range(STEPS)]
    for number, path in enumerate(paths):
        for place in np.ndindex(path[0].shape):
            gradients = [float(g[number].astype(trial.dtype)[place]) for g in given]
            expected = trial.reference(float(path[0][place]), gradients)
            assert_near(
                np.array([array[place] for array in path[1:]]),
                np.array(expected),
                tolerance("reduction", trial.dtype),
                f"trajectory of element {place} of the parameter of shape {path[0].shape}",
            )


def kernels(trial: _Trial) -> None:
    """A kernel of the backend gives what the rule's own step gives, for one parameter or all."""
    optimizer, by_kernel = trial.run(range(STEPS))
    rule = type(optimizer.create_update_rule())
    for table in (trial.backend.update_all_kernels, trial.backend.update_kernels):
        kernel = table.pop(rule, None)
        if kernel is None:
            continue
        try:
            _, by_step = trial.run(range(STEPS))
        finally:
            table[rule] = kernel
        for mine, theirs in zip(host(by_kernel), host(by_step), strict=True):
            near = tolerance("elementwise", trial.dtype)
            assert_near(mine, theirs, near, f"the kernel of {rule.__name__}")


def resuming(trial: _Trial) -> None:
    """A run saved and loaded in its middle ends as one that never stopped."""
    _, whole = trial.run(range(STEPS))
    half = STEPS // 2
    optimizer, model = trial.run(range(half))
    fresh, target = trial.start()
    load(target, saved(model))
    load(fresh, saved(optimizer))
    _finish(trial, fresh, target, whole, "saved and loaded")
    for what, clone in (
        ("copy.deepcopy", copy.deepcopy(optimizer)),
        ("pickle", pickle.loads(pickle.dumps(optimizer))),
    ):
        if clone.target is None:
            raise AssertionError(f"{what} lost the target")
        _finish(trial, clone, clone.target, whole, what)


def _finish(trial: _Trial, optimizer: Any, model: Link, whole: Link, what: str) -> None:
    for step in range(STEPS // 2, STEPS):
        trial.step(optimizer, model, step)
    assert_identical(model, whole, what)
    if optimizer.t != STEPS:
        raise AssertionError(f"{what}: expected step {STEPS}, got {optimizer.t}")


def left_alone(trial: _Trial) -> None:
    """Frozen, unsized and gradient-less parameters stay as they are; the others move."""
    optimizer, model = trial.run(range(1))
    _, moving = trial.run(range(2))
    frozen, without, *others = model.params()
    frozen.update_rule.enabled = False
    before = host(model)
    states = [copy.deepcopy(p.update_rule.state) for p in (frozen, without)]
    model.add_param("unsized")
    *_, unsized = model.params()
    unsized.update_rule = optimizer.create_update_rule()
    for param, g in zip(model.params(False), trial.gradients(1), strict=True):
        param.grad = trial.array(g)
    without.cleargrad()
    optimizer.update()
    for mine, old in zip(host_of((frozen, without)), before[:2], strict=True):
        np.testing.assert_array_equal(mine, old, err_msg="a parameter to be left alone moved")
    for param, state in zip((frozen, without), states, strict=True):
        _assert_states_equal(param.update_rule.state, state)
        if param.update_rule.t != 1:
            raise AssertionError("the rule of a parameter left alone counted the step")
    for mine, theirs in zip(host_of(others), host(moving)[2:], strict=True):
        np.testing.assert_array_equal(mine, theirs, err_msg="the others did not move as usual")


def host_of(params: Iterable[Parameter]) -> list[Any]:
    """Their arrays on the host."""
    return [to_host(param.array).copy() for param in params]


def _assert_states_equal(state: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        found, wanted = (to_host(v) if hasattr(v, "shape") else v for v in (state[name], value))
        np.testing.assert_array_equal(found, wanted, err_msg=f"state {name!r}")


def all_or_nothing(trial: _Trial) -> None:
    """A gradient that does not fit its parameter changes no parameter at all."""
    optimizer, model = trial.run(range(1))
    for param, g in zip(model.params(), trial.gradients(1), strict=True):
        param.grad = trial.array(g)
    last = list(model.params())[-1]
    last.array = trial.array(np.zeros((4, 4)))
    before = host(model)
    try:
        optimizer.update()
    except ValueError:
        for mine, old in zip(host(model), before, strict=True):
            np.testing.assert_array_equal(mine, old, err_msg="half of the parameters moved")
        return
    raise AssertionError("a gradient of another shape than its parameter was accepted")


def hyperparameters(trial: _Trial) -> None:
    """One set on the optimizer acts on all parameters, one set on a rule on its own; some act."""
    _, plain = trial.run(range(STEPS))
    known = trial.make().hyperparam.get_dict()
    numbers = {name: v for name, v in known.items() if isinstance(v, (bool, int, float))}
    acting = 0
    for name, value in numbers.items():
        other = _another(value)
        whole, mixed = (_run_with(trial, name, other, one) for one in (False, True))
        acting += any(
            (mine != theirs).any() for mine, theirs in zip(host(whole), host(plain), strict=True)
        )
        for i, (mine, all_, old) in enumerate(zip(*map(host, (mixed, whole, plain)), strict=True)):
            expected, what = (all_, "does not act") if i == 1 else (old, "acts on others")
            np.testing.assert_array_equal(mine, expected, err_msg=f"{name} of one rule {what}")
    if numbers and not acting:
        raise AssertionError(f"no hyper-parameter changes a step; there are {', '.join(numbers)}")


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return (value // 2 or 1 + value) if isinstance(value, int) else value / 2 or 0.01


def _run_with(trial: _Trial, name: str, value: Any, one: bool) -> Link:
    """A run with another value of a hyper-parameter, of the second parameter or of all."""
    optimizer, model = trial.start()
    owner: Any = list(model.params())[1].update_rule if one else optimizer
    setattr(owner.hyperparam, name, value)
    for step in range(STEPS):
        trial.step(optimizer, model, step)
    return model


def loss_scale(trial: _Trial) -> None:
    """A loss scale is divided out, exactly where it is a power of two."""
    _, plain = trial.run(range(STEPS))
    optimizer, model = trial.start()
    optimizer.set_loss_scale(64.0)
    for step in range(STEPS):
        for param, g in zip(model.params(), trial.gradients(step), strict=True):
            param.grad = trial.array(64.0 * g.astype(trial.dtype))
        optimizer.update()
    assert_identical(model, plain, "loss scale")


def masters(trial: _Trial) -> None:
    """16-bit parameters follow float32 masters, through saving and loading as well."""

    def start() -> tuple[GradientMethod, Link]:
        optimizer, model = trial.start()
        optimizer.use_fp32_update()
        return optimizer, model

    wide = _Trial(trial.make, None, trial.backend.name, "float32")
    reference, clone = wide.start()
    optimizer, model = start()
    for mine, theirs in zip(model.params(), clone.params(), strict=True):
        theirs.array = wide.array(to_host(mine.array))
    for step in range(STEPS):
        for param, g in zip(clone.params(), trial.gradients(step), strict=True):
            param.grad = wide.array(g.astype(trial.dtype))
        reference.update()
        trial.step(optimizer, model, step)
        if step == STEPS // 2:
            resumed, target = start()
            load(target, saved(model))
            load(resumed, saved(optimizer))
            optimizer, model = resumed, target
    for mine, theirs in zip(host(model), host(clone), strict=True):
        np.testing.assert_array_equal(mine, theirs.astype(trial.dtype), err_msg="float32 masters")


OF_ONE = (left_alone, hyperparameters)
"""What looks at a parameter apart from the others."""

CHECKS: tuple[Callable[[_Trial], None], ...] = (
    trajectory,
    kernels,
    resuming,
    left_alone,
    all_or_nothing,
    hyperparameters,
    loss_scale,
)
