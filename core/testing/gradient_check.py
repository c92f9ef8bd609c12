"""Gradients against finite differences: proof that a backward fits its forward.

`numerical_grad` shifts single elements and needs nothing but a function of arrays. The checks
compare along a few random directions in the space of all inputs at once, which costs a handful of
evaluations whatever the sizes, and which a wrong gradient cannot pass but by a chance that each
further direction makes smaller.

All of it works on arrays of any backend; comparisons are made on the host, in float64.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from core.arrays.backend import BACKENDS, to_host
from core.graph.backprop import grad
from core.graph.variable import Variable, as_variable
from core.registry.configuration import using_config
from core.registry.public import listing
from core.testing.finite_differences import (
    MissingGradient,
    NondifferentiableError,
    as_tuple,
    derivative,
    like,
    moved,
    numerical_grad,
    numpy_namespace,
    random_direction,
    refuse_kinks,
    to_float64,
    weighed,
)

__all__ = [
    "MissingGradient",
    "NondifferentiableError",
    "assert_allclose",
    "check_backward",
    "check_double_backward",
    "numerical_grad",
]

__dir__ = listing(__name__)


def assert_allclose(
    x: Any, y: Any, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True
) -> None:
    """Raise AssertionError unless |x - y| <= atol + rtol |y| for every element.

    Arrays and Variables of any backends, mixed, and numbers; shapes must be equal.

    >>> import numpy as np
    >>> assert_allclose(np.ones(2), np.ones(2) + 1e-6)
    """
    testing = numpy_namespace().testing
    testing.assert_allclose(to_float64(x), to_float64(y), atol=atol, rtol=rtol, verbose=verbose)


def check_backward(
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any = (),
    eps: float = 1e-3,
    atol: float = 1e-5,
    rtol: float = 1e-4,
    no_grads: Sequence[bool] | None = None,
    dtype: Any = None,
    detect_nondifferentiable: bool = False,
    directions: int = 3,
) -> None:
    """Raise AssertionError unless the backward of `func` fits finite differences of its forward.

    Args:
        func: Takes Variables, one per array in `x_data`, and returns a Variable or several.
        x_data: An array or a tuple of them.
        y_grad: Gradients of the outputs, an array or a tuple; None for one output of one element,
            or, within a tuple, for an output that gets none.
        params: Variables that `func` reads beside its arguments, checked as well. Those without a
            shape get theirs in a call that is made before.
        eps: How far an element is shifted, at most.
        atol: Tolerance of the directional derivative.
        rtol: The same, relative to it.
        no_grads: Which inputs are left out because they have no gradient; by default those that are
            not floating.
        dtype: Give the function inputs and parameters of this dtype ('float64') whatever the arrays
            have. Gradients of outputs follow: the function may cast to whatever it likes.
        detect_nondifferentiable: Raise NondifferentiableError at a kink or a jump.
        directions: Along how many random directions they are compared.

    Inputs and parameters keep their arrays. `MissingGradient`, an AssertionError too, is raised
    where an input gets no gradient while all outputs do; a parameter that nothing depends on has
    one of zeros.

    >>> import core, numpy as np
    >>> check_backward(lambda x: x * x, np.array([1.0, 2.0]), np.ones(2))
    """
    how = (eps, atol, rtol, detect_nondifferentiable, directions)
    _check(func, x_data, y_grad, params, how, no_grads, dtype)


def _check(
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    params: Any,
    how: tuple[float, float, float, bool, int],
    no_grads: Sequence[bool] | None,
    dtype: Any,
    may_be_constant: bool = False,
) -> None:
    """`check_backward`; a function that is constant in some input has gradients of zero there."""
    xs, given = as_tuple(x_data), tuple(as_tuple(params))
    floating = [_is_floating(x) for x in xs]
    fixed = [not f for f in floating] if no_grads is None else list(no_grads)
    if len(fixed) != len(xs):
        raise ValueError(f"check_backward: expected {len(xs)} no_grads, got {len(fixed)}")
    if any([p.array is None for p in given]):
        func(*map(Variable, xs))  # which makes them, as the first call of a link does
    points = [_cast(x, dtype) for x in xs]
    kept = [(p, p.array) for p in given]
    try:
        for p in given:
            p.array = _cast(p.array, dtype)
        check = _DirectionalCheck(func, points, fixed, given, y_grad, dtype, may_be_constant)
        check.run(*how)
    finally:
        for p, array in kept:
            p.array = array


class _DirectionalCheck:
    """Backward at one point, and the forward along lines through it."""

    def __init__(
        self,
        func: Callable[..., Any],
        points: Sequence[Any],
        fixed: Sequence[bool],
        params: Sequence[Variable],
        y_grad: Any,
        dtype: Any,
        may_be_constant: bool,
    ) -> None:
        self.may_be_constant = may_be_constant
        self.func = func
        self.points = points
        self.fixed = fixed
        self.params = params
        self.param_arrays = [p.array for p in params]
        xs = [Variable(x, requires_grad=not f) for x, f in zip(points, fixed, strict=True)]
        ys = self._call(xs)
        self.y_grad = _cotangents(ys, y_grad, dtype)
        self.weights = [None if g is None else to_float64(g.array) for g in self.y_grad]
        self.unmoved = weighed([y.array for y in ys], self.weights)
        self.moved = [i for i, f in enumerate(fixed) if not f]
        targets = [xs[i] for i in self.moved] + list(params)
        self.gradients = self._backward(ys, targets)

    def _call(self, xs: Sequence[Variable]) -> tuple[Variable, ...]:
        ys = self.func(*xs)
        return tuple(as_variable(y) for y in as_tuple(ys))

    def _backward(self, ys: Sequence[Variable], targets: Sequence[Variable]) -> list[Any]:
        """Gradients of the targets as host arrays."""
        if not targets:
            raise ValueError("check_backward: expected an input or a parameter with a gradient")
        reached = [(y, g) for y, g in zip(ys, self.y_grad, strict=True) if g is not None]
        if not any(y.requires_grad for y, _ in reached):
            raise AssertionError(
                "check_backward: no output depends on an input by a differentiable path"
            )
        found = grad([y for y, _ in reached], targets, [g for _, g in reached])
        if not self.may_be_constant and all([g is not None for g in self.y_grad]):
            self._refuse_missing(found[: len(self.moved)])
        return [
            numpy_namespace().zeros(t.shape) if g is None else _of_kind(g, t)
            for g, t in zip(found, targets, strict=True)
        ]

    def _refuse_missing(self, found: Sequence[Any]) -> None:
        for i, g in zip(self.moved, found, strict=True):
            if g is None:
                raise MissingGradient(
                    f"check_backward: input {i} gets no gradient. Where it should have none, say "
                    f"so: no_grads={[k == i or f for k, f in enumerate(self.fixed)]}."
                )

    def run(self, eps: float, atol: float, rtol: float, detect: bool, directions: int) -> None:
        generator = random.Random(0)  # repeatable, and not the random state of anybody else
        arrays = [self.points[i] for i in self.moved] + self.param_arrays
        for number in range(directions):
            direction = [random_direction(a.shape, generator) for a in arrays]
            at = self._along(direction)
            if detect:
                bend = 1e-5 if self._is_precise() else 1e-2  # so much of it is noise: rounding
                refuse_kinks(at, eps, atol, bend, "this point")
            expected = derivative(at, eps)
            actual = sum(
                float((u * g).sum()) for u, g in zip(direction, self.gradients, strict=True)
            )
            self._compare(actual, expected, atol, rtol, number)

    def _is_precise(self) -> bool:
        arrays = [self.points[i] for i in self.moved] + self.param_arrays
        return all([BACKENDS[type(a)].dtype_name(a.dtype) == "float64" for a in arrays])

    def _compare(
        self, actual: float, expected: float, atol: float, rtol: float, number: int
    ) -> None:
        if abs(actual - expected) <= atol + rtol * abs(expected):  # False for NaN
            return
        lines = [
            f"check_backward: the gradient does not fit the forward (direction {number})",
            f"expected by finite differences: {expected!r}",
            f"actual, by backward:            {actual!r}",
            f"tolerance: {atol} + {rtol} * |expected|",
        ]
        lines += [f"gradient of input {i}: {g}" for i, g in enumerate(self.gradients)]
        if not self._is_precise():
            lines.append("Differences of fewer than 64 bits may be rounding: give dtype='float64'.")
        raise AssertionError("\n".join(lines))

    def _along(self, direction: Sequence[Any]) -> Callable[[float], float]:
        """The weighed outputs as a function of the shift along `direction`."""
        known = {0.0: self.unmoved}

        def at(shift: float) -> float:
            if shift not in known:
                known[shift] = self._shifted(direction, shift)
            return known[shift]

        return at

    def _shifted(self, direction: Sequence[Any], shift: float) -> float:
        xs = list(self.points)
        for i, u in zip(self.moved, direction, strict=False):
            xs[i] = moved(xs[i], u, shift)
        moved_params = direction[len(self.moved) :]
        try:
            for p, array, u in zip(self.params, self.param_arrays, moved_params, strict=True):
                p.array = moved(array, u, shift)
            # With the graph on: a function under test may differentiate inside.
            with using_config("enable_backprop", True):
                ys = self._call([Variable(x) for x in xs])
        finally:
            for p, array in zip(self.params, self.param_arrays, strict=True):
                p.array = array
        return weighed([y.array for y in ys], self.weights)


def check_double_backward(
    func: Callable[..., Any],
    x_data: Any,
    y_grad: Any,
    x_grad_grad: Any,
    params: Any = (),
    params_grad_grad: Any = (),
    eps: float = 1e-3,
    atol: float = 1e-4,
    rtol: float = 1e-3,
    no_grads: Sequence[bool] | None = None,
    dtype: Any = None,
    detect_nondifferentiable: bool = False,
    directions: int = 3,
) -> None:
    """Raise AssertionError unless the second derivatives of `func` fit its first ones.

    The gradients are taken as a function of the inputs and of `y_grad`, and that function is put
    to `check_backward`. `x_grad_grad` and `params_grad_grad` are the cotangents of those gradients;
    the other arguments are as there.

    >>> import core, numpy as np
    >>> check_double_backward(lambda x: x * x * x, np.array([1.0, 2.0]), np.ones(2), np.ones(2))
    """
    xs, gys, given = as_tuple(x_data), as_tuple(y_grad), as_tuple(params)
    fixed = [not _is_floating(x) for x in xs] if no_grads is None else list(no_grads)

    def gradients(*args: Variable) -> tuple[Variable, ...]:
        inputs = args[: len(xs)]
        ys = tuple([as_variable(y) for y in as_tuple(func(*inputs))])
        if len(ys) != len(gys):
            raise ValueError(
                f"check_double_backward: expected y_grad for {len(ys)} outputs, got {len(gys)}"
            )
        cotangents = [_in_dtype_of(y, g) for y, g in zip(ys, args[len(xs) :], strict=True)]
        targets = [x for x, f in zip(inputs, fixed, strict=True) if not f] + list(given)
        found = grad(list(ys), targets, cotangents, enable_double_backprop=True)
        return tuple(_zeros_for(t) if g is None else g for g, t in zip(found, targets, strict=True))

    _check(
        gradients,
        (*xs, *gys),
        (*as_tuple(x_grad_grad), *as_tuple(params_grad_grad)),
        given,
        (eps, atol, rtol, detect_nondifferentiable, directions),
        [*fixed, *[False] * len(gys)],
        dtype,
        may_be_constant=True,
    )


def _in_dtype_of(y: Variable, g: Variable) -> Variable:
    """A gradient in the dtype of its output, where that is floating."""
    from core.functions import cast

    return cast(g, y.dtype) if _is_floating(y.array) else g


def _cast(x: Any, dtype: Any) -> Any:
    """`x` in `dtype`, where it is floating and a dtype is asked for."""
    if dtype is None or not _is_floating(x):
        return x
    backend = BACKENDS[type(x)]
    return backend.asarray(to_host(x).astype(_name(dtype)), device=backend.device_of(x))


def _name(dtype: Any) -> str:
    return dtype if isinstance(dtype, str) else str(numpy_namespace().dtype(dtype))


def _is_floating(x: Any) -> bool:
    return BACKENDS[type(x)].kind(x.dtype) in "fV"


def _cotangents(ys: Sequence[Variable], y_grad: Any, dtype: Any) -> list[Variable | None]:
    if y_grad is None and len(ys) == 1 and ys[0].size == 1:
        return [Variable(like(numpy_namespace().ones(ys[0].shape), ys[0].array))]
    given = as_tuple(y_grad)
    if len(given) != len(ys) or not any(g is not None for g in given):
        raise ValueError(
            f"check_backward: expected y_grad for {len(ys)} outputs, got "
            f"{'None' if y_grad is None else len(given)}. "
            "Give one array an output; None, where another output has one, leaves it out."
        )
    if dtype is None:
        return [None if g is None else as_variable(g) for g in given]
    names = [y.backend.dtype_name(y.dtype) for y in ys]
    pairs = zip(given, names, strict=True)
    return [None if g is None else Variable(_cast(as_variable(g).array, name)) for g, name in pairs]


def _of_kind(g: Variable, x: Variable) -> Any:
    if g.shape != x.shape or g.dtype != x.dtype:
        raise AssertionError(
            f"check_backward: expected a gradient of {x.shape}, {x.dtype}, the input's; "
            f"got {g.shape}, {g.dtype}"
        )
    return to_float64(g)


def _zeros_for(x: Variable) -> Variable:
    return Variable(like(numpy_namespace().zeros(x.shape), x.array))
