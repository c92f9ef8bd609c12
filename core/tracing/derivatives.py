"""Derivatives of functions: along directions, weighted, as matrices, and of second order.

All of them come from `core.grad`. Forward mode needs no rules of its own: the gradient of outputs
is linear in the weights of the outputs, and the gradient of that, with respect to the weights, is
the derivative along a direction.

Within a function whose derivatives are being taken, they record how they come about, so that these
derivatives go through them; else they give plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from core import functions
from core.arrays.backend import current
from core.arrays.spec import spec_of
from core.errors import NotDifferentiable
from core.graph.backprop import grad
from core.graph.fitting import check_grad
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.ops.operands import beside_traced
from core.registry.configuration import force_backprop_mode

Result = Variable | tuple[Variable, ...]

_around: ContextVar[tuple[Variable, ...]] = ContextVar("_around", default=())
"""The inputs of the functions that are being called here, whose derivatives are taken."""


def vjp(function: Callable[..., Any], *inputs: Any) -> tuple[Result, Callable[..., Result]]:
    """What `function` gives, and a function from weights of its outputs to gradients of its inputs.

    Args:
        function: Takes Variables, and returns a Variable or a tuple of them.
        inputs: Arrays or Variables of real numbers.

    Returns:
        The outputs, and `pull(*weights)`, which takes an array like each output and gives the
        product of the weights with the Jacobian: a Variable, or a tuple where there are several
        inputs.

    >>> import core, numpy as np
    >>> y, pull = core.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> y, pull(np.array([1.0, 10.0]))
    (variable([1., 4.]), variable([ 2., 40.]))
    """
    xs = _leaves("vjp", inputs)
    ys, several = _outputs("vjp", function, xs)

    def pull(*weights: Any) -> Result:
        given = _alike("vjp", "weights", weights, ys)
        gradients = _given(_gradients(ys, xs, given, graph=_is_nested()))
        return tuple(gradients) if len(inputs) > 1 else gradients[0]

    return _one_or_all(_given(ys), several), pull


def jvp(
    function: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Result, Result]:
    """What `function` gives, and its derivative along a direction: the Jacobian times `tangents`.

    Args:
        function: Takes Variables, and returns a Variable or a tuple of them. Its operations need
            derivatives of the second order.
        inputs: A tuple or list of arrays or Variables.
        tangents: The direction: an array like each input.

    Returns:
        The outputs, and a Variable like each of them.

    >>> import core, numpy as np
    >>> core.jvp(lambda x: x**2, [np.array([1.0, 2.0])], [np.array([1.0, 10.0])])
    (variable([1., 4.]), variable([ 2., 40.]))
    """
    xs = _leaves("jvp", inputs)
    along = _alike("jvp", "tangents", tangents, xs)
    ys, several = _outputs("jvp", function, xs)
    weights = [Variable(y.xp.zeros_like(y.array)) for y in ys]
    pulled = _walked(ys, xs, weights, graph=True)
    reached = [(g, v) for g, v in zip(pulled, along, strict=True) if g is not None]
    for g, _ in reached:
        if not g.requires_grad:  # though it is linear in the weights
            raise _once_only("jvp", g)
    pushed: list[Variable | None] = [None] * len(ys)
    if reached:
        starts = [v for _, v in reached]
        pushed = grad([g for g, _ in reached], weights, starts, enable_double_backprop=_is_nested())
    found = [_or_zeros(t, y) for t, y in zip(pushed, ys, strict=True)]
    return _one_or_all(_given(ys), several), _one_or_all(_given(found), several)


def jacobian(function: Callable[..., Any], *inputs: Any) -> Any:
    """The derivatives of all elements of the output by all elements of the inputs.

    Args:
        function: Takes Variables, and returns one.
        inputs: Arrays or Variables of real numbers.

    Returns:
        A Variable of the shape of the output and then that of the input; a tuple of them where
        there are several inputs. It takes one walk back for each element of the output.

    >>> import core, numpy as np
    >>> core.jacobian(lambda x: x[:1] * x, np.array([3.0, 4.0]))
    variable([[6., 0.],
              [4., 3.]])
    """
    xs = _leaves("jacobian", inputs)
    ys, several = _outputs("jacobian", function, xs)
    if several:
        raise TypeError("jacobian: expected a function that returns one Variable, got a tuple.")
    return _derivatives(ys[0], xs)


def hessian(function: Callable[..., Any], *inputs: Any) -> Any:
    """The second derivatives of an output of one element by all elements of the inputs.

    Args:
        function: Takes Variables, and returns one, of one element. Its operations need derivatives
            of the second order.
        inputs: Arrays or Variables of real numbers.

    Returns:
        For one input, a Variable of its shape twice. For several, a tuple of tuples of Variables:
        the first index, and the first part of the shape, are those of the gradient.

    >>> import core, numpy as np
    >>> import core.functions as F
    >>> core.hessian(lambda x: F.sum(x**3), np.array([1.0, 2.0]))
    variable([[ 6.,  0.],
              [ 0., 12.]])
    """
    xs = _leaves("hessian", inputs)
    rows = [_derivatives(g, xs) for g in _first_gradients("hessian", function, xs)]
    return tuple(rows) if len(xs) > 1 else rows[0]


def hvp(
    function: Callable[..., Any], inputs: Sequence[Any], vectors: Sequence[Any]
) -> tuple[Result, Result]:
    """The gradient of an output of one element, and its second derivatives times `vectors`.

    Args:
        function: Takes Variables, and returns one, of one element. Its operations need derivatives
            of the second order.
        inputs: A tuple or list of arrays or Variables.
        vectors: An array like each input.

    Returns:
        The gradient, and the product of the Hessian with the vectors: for each a Variable, or a
        tuple where there are several inputs. It takes two walks back.

    >>> import core, numpy as np
    >>> import core.functions as F
    >>> core.hvp(lambda x: F.sum(x**3), [np.array([1.0, 2.0])], [np.array([1.0, 1.0])])
    (variable([ 3., 12.]), variable([ 6., 12.]))
    """
    xs = _leaves("hvp", inputs)
    along = _alike("hvp", "vectors", vectors, xs)
    first = _first_gradients("hvp", function, xs)
    reached = [(g, v) for g, v in zip(first, along, strict=True) if g.requires_grad]
    found: list[Variable | None] = [None] * len(xs)
    if reached:
        starts = [v for _, v in reached]
        found = grad([g for g, _ in reached], xs, starts, enable_double_backprop=_is_nested())
    several = len(xs) > 1
    products = [_or_zeros(p, x) for p, x in zip(found, xs, strict=True)]
    return _one_or_all(_given(first), several), _one_or_all(_given(products), several)


# ---------------------------------------------------------------------- shared


def _derivatives(y: Variable, xs: list[Variable]) -> Any:
    """The derivatives of all elements of `y`, as `jacobian` gives them."""
    xp, rows = y.xp, []
    for i in range(y.size):
        one = xp.reshape(xp.astype(xp.arange(y.size) == i, y.dtype), y.shape)
        rows.append(_given(_gradients([y], xs, [wrap(one)], graph=_is_nested())))
    made = []
    for j, x in enumerate(xs):
        shape = (*y.shape, *x.shape)
        columns = [row[j] for row in rows]
        if any([g.requires_grad for g in columns]):
            made.append(functions.reshape(functions.stack(columns), shape))
            continue
        arrays = [g.array for g in columns]
        stacked = xp.stack(arrays) if rows else xp.zeros(shape, dtype=x.dtype)
        made.append(wrap(xp.reshape(stacked, shape)))
    return _one_or_all(made, len(xs) > 1)


def _first_gradients(who: str, function: Callable[..., Any], xs: list[Variable]) -> list[Variable]:
    (y, *_), several = _outputs(who, function, xs)
    if several or y.size != 1:
        what = "a tuple" if several else f"the shape {y.shape}"
        raise TypeError(f"{who}: expected a function that returns one element, got {what}.")
    found = _gradients([y], xs, [wrap(y.xp.ones_like(y.array))], graph=True)
    for g in found:
        if getattr(g, "_nondifferentiable", ""):
            raise _once_only(who, g)
    return found


def _leaves(who: str, inputs: Sequence[Any]) -> list[Variable]:
    """New Variables of the arrays, so that nothing of the caller's graph is walked over.

    Those that depend on what derivatives are being taken by stay connected with it.
    """
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"{who}: expected a tuple or list of inputs, got {type(inputs).__name__}.")
    if not inputs:
        raise TypeError(f"{who}: expected at least one input.")
    lift = getattr(current().array_type, "_lift_beside", None)  # in a trace derivatives are traced
    around = what_is_around()
    made = [
        x[...] if depends_on(around, x) else Variable(as_variable(x).array)
        for x in (inputs if lift is None else lift(inputs))
    ]
    for i, x in enumerate(made):
        _refuse_whole(who, f"input {i}", x)
    return made


def _is_nested() -> bool:
    """Whether a function whose derivatives are being taken is being called."""
    return bool(_around.get())


def what_is_around() -> tuple[Variable, ...]:
    """The inputs of the functions that are being called here, whose derivatives are taken."""
    return _around.get()


def depends_on(around: tuple[Variable, ...], x: Any) -> bool:
    """Whether it may depend on these inputs of functions whose derivatives are being taken."""
    if not around or not isinstance(x, Variable) or not x.requires_grad:
        return False
    return x.creator_node is not None or any(x is each for each in around)


def _refuse_whole(who: str, what: str, x: Variable) -> None:
    spec = spec_of(x.array)
    if spec is None:
        raise TypeError(f"{who}: expected {what} to be an array, got none.")
    if spec.kind not in "fV":
        raise NotDifferentiable(f"{who}: expected {what} of real numbers, got one of {spec.name}.")


def _outputs(
    who: str, function: Callable[..., Any], xs: list[Variable]
) -> tuple[list[Variable], bool]:
    """The outputs, and whether they came as a tuple."""
    before = _around.set((*_around.get(), *xs))
    try:
        with force_backprop_mode():
            result = function(*xs)
    finally:
        _around.reset(before)
    several = isinstance(result, (tuple, list))
    outputs = list(result) if several else [result]
    for i, y in enumerate(outputs):
        if not isinstance(y, Variable):
            raise TypeError(
                f"{who}: expected a function that returns Variables, got {type(y).__name__}."
            )
        _refuse_whole(who, f"output {i}", y)
    return outputs, several


def _alike(who: str, what: str, given: Sequence[Any], like: list[Variable]) -> list[Variable]:
    if not isinstance(given, (tuple, list)) or len(given) != len(like):
        count = len(given) if isinstance(given, (tuple, list)) else type(given).__name__
        raise TypeError(f"{who}: expected {len(like)} {what}, got {count}.")
    _, *given = beside_traced((like[0], *given))
    for i, (v, x) in enumerate(zip(given, like, strict=True)):
        check_grad(x._spec, f"{who}, {what} {i}", as_array(v))
    return [v if depends_on(what_is_around(), v) else wrap(as_array(v)) for v in given]


def _gradients(
    ys: list[Variable], xs: list[Variable], weights: Sequence[Variable], graph: bool = False
) -> list[Variable]:
    """Gradients of the inputs, zeros for those that no output depends on."""
    found = _walked(ys, xs, weights, graph)
    return [_or_zeros(g, x) for g, x in zip(found, xs, strict=True)]


def _walked(
    ys: list[Variable], xs: list[Variable], weights: Sequence[Variable], graph: bool
) -> list[Variable | None]:
    """Gradients of the inputs, None for those that no output depends on."""
    pairs = [(y, w) for y, w in zip(ys, weights, strict=True) if y.requires_grad]
    if not pairs:
        return [None] * len(xs)
    outputs, starts = [y for y, _ in pairs], [w for _, w in pairs]
    return grad(outputs, xs, starts, enable_double_backprop=graph)


def _once_only(who: str, g: Variable) -> NotDifferentiable:
    operation = getattr(g, "_nondifferentiable", "") or "an operation that gives plain gradients"
    return NotDifferentiable(
        f"{who}: the gradient goes through {operation}, which has no derivative, so there are no "
        "second derivatives."
    )


def _or_zeros(g: Variable | None, like: Variable) -> Variable:
    return wrap(like.xp.zeros_like(like.array)) if g is None else g


def _given(variables: Sequence[Variable]) -> list[Variable]:
    """What is given back: values, but with their graph where derivatives of them may be taken."""
    if not _is_nested():
        return [wrap(v.array) for v in variables]
    for v in variables:
        if getattr(v, "_nondifferentiable", ""):
            raise _once_only("a derivative within another", v)
    return list(variables)


def _one_or_all(variables: Sequence[Variable], several: bool) -> Any:
    return tuple(variables) if several else variables[0]
