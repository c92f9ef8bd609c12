"""Derivatives of functions: along directions, weighted, as matrices, and of second order.

All of them come from `core.grad`. Forward mode needs no rules of its own: the gradient of outputs
is linear in the weights of the outputs, and the gradient of that, with respect to the weights, is
the derivative along a direction.

Within a function whose derivatives are being taken, they record how they come about, so that these
derivatives go through them; else they give plain values.

Inputs and outputs may be structures: tuples, lists and dicts of arrays, within each other. What
belongs to one of them has its structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core import functions
from core.arrays.backend import current
from core.arrays.spec import spec_of
from core.errors import NotDifferentiable
from core.errors.kinds import checked
from core.graph.backprop import grad
from core.graph.fitting import check_grad
from core.graph.variable import Variable, as_array, as_variable, wrap
from core.link.replays import Met
from core.ops.operands import beside_traced
from core.programs import Leaf, described, rebuilt, separated
from core.registry.configuration import force_backprop_mode, using_config
from core.tracing import Draws, depends_on, is_nested, taken_by, under_way, what_is_around


def vjp(function: Callable[..., Any], *inputs: Any) -> tuple[Any, Callable[..., Any]]:
    """What `function` gives, and a function from weights of its outputs to gradients of its inputs.

    Args:
        function: Takes Variables, and returns a Variable or several in a tuple, list or dict.
        inputs: Arrays or Variables of real numbers, or tuples, lists and dicts of them.

    Returns:
        The outputs, and `pull(*weights)`, which takes what is like each output of a tuple or list,
        else one that is like the output, and gives the product of the weights with the Jacobian:
        what is like the input, in a tuple where there are several. `core.vmap(pull)` does so for
        many weights.

    >>> import core, numpy as np
    >>> y, pull = core.vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> y, pull(np.array([1.0, 10.0]))
    (variable([1., 4.]), variable([ 2., 40.]))
    >>> core.vjp(lambda p: p["a"] * p["b"], {"a": np.ones(1), "b": np.ones(1) * 2})[1](np.ones(1))
    {'a': variable([2.]), 'b': variable([1.])}
    """
    xs, inside = _leaves("vjp", inputs)
    draws, met, traced = Draws(), Met(), under_way()
    with met.first():
        ys, outside = _outputs("vjp", function, xs, inside)
    draws.end()
    several = isinstance(outside, (tuple, list)) and not isinstance(outside, Leaf)

    def pull(*weights: Any) -> Any:
        if under_way() and not traced:  # as by vmap: the function is called again, in the trace
            with draws.again(), met.again(), using_config("in_recomputing", True):
                _, inner = vjp(function, *inputs)
            return inner(*weights)
        given = _alike("vjp", "weights", weights, ys, outside if several else (outside,))
        gradients = _given(_gradients(ys, xs, given, graph=is_nested()))
        return _one_or_all(_built(inside, gradients))

    return _built(outside, _given(ys)), pull


def jvp(
    function: Callable[..., Any], inputs: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """What `function` gives, and its derivative along a direction: the Jacobian times `tangents`.

    Args:
        function: Takes Variables, and returns a Variable or several in a tuple, list or dict. Its
            operations need derivatives of the second order.
        inputs: A tuple or list of arrays or Variables, or of tuples, lists and dicts of them.
        tangents: The direction: what is like each input.

    Returns:
        The outputs, and what is like them.

    >>> import core, numpy as np
    >>> core.jvp(lambda x: x**2, [np.array([1.0, 2.0])], [np.array([1.0, 10.0])])
    (variable([1., 4.]), variable([ 2., 40.]))
    """
    xs, inside = _leaves("jvp", inputs)
    along = _alike("jvp", "tangents", tangents, xs, inside)
    ys, outside = _outputs("jvp", function, xs, inside)
    found = [_or_zeros(t, y) for t, y in zip(_pushed(ys, xs, along), ys, strict=True)]
    return _built(outside, _given(ys)), _built(outside, _given(found))


@checked
def jacobian(function: Callable[..., Any], *inputs: Any, chunk_size: int | None = None) -> Any:
    """The derivatives of all elements of the outputs by all elements of the inputs.

    Args:
        function: Takes Variables, and returns a Variable or several in a tuple, list or dict.
        inputs: Arrays or Variables of real numbers, or tuples, lists and dicts of them.
        chunk_size: So many rows (or columns, where there are fewer) are computed at once, 1 for one
            after the other; None for as many as take some 100 MB.

    Returns:
        A Variable of the shape of the output and then that of the input. For structures: that of
        the outputs, and in the place of each output that of the inputs, in a tuple where there are
        several.

    The function is called, and called again in a trace, for all rows to be computed at once, within
    rounding. One that cannot be traced, draws random numbers or gives something else in the second
    call takes a walk back for each element of the outputs.

    >>> import core, numpy as np
    >>> core.jacobian(lambda x: x[:1] * x, np.array([3.0, 4.0]))
    variable([[6., 0.],
              [4., 3.]])
    """
    xs, inside = _leaves("jacobian", inputs)
    _check_chunk("jacobian", chunk_size)
    ys, outside = _outputs("jacobian", function, xs, inside)

    def again(xs: list[Variable]) -> list[Variable]:
        return _outputs("jacobian", function, xs, inside)[0]

    rows = [_one_or_all(_built(inside, row)) for row in _rows(again, ys, xs, chunk_size)]
    return _built(outside, rows)


@checked
def hessian(function: Callable[..., Any], *inputs: Any, chunk_size: int | None = None) -> Any:
    """The second derivatives of an output of one element by all elements of the inputs.

    Args:
        function: Takes Variables, and returns one, of one element. Its operations need derivatives
            of the second order.
        inputs: Arrays or Variables of real numbers, or tuples, lists and dicts of them.
        chunk_size: As of `jacobian`, which this is of the gradient.

    Returns:
        For one input, a Variable of its shape twice. For several, and for structures, a structure
        of structures of Variables: the first one, and the first part of the shape, are those of the
        gradient.

    >>> import core, numpy as np
    >>> import core.functions as F
    >>> core.hessian(lambda x: F.sum(x**3), np.array([1.0, 2.0]))
    variable([[ 6.,  0.],
              [ 0., 12.]])
    """
    xs, inside = _leaves("hessian", inputs)
    _check_chunk("hessian", chunk_size)
    first = _first_gradients("hessian", function, xs, inside)

    def again(xs: list[Variable]) -> list[Variable]:
        return _first_gradients("hessian", function, xs, inside)

    rows = [_one_or_all(_built(inside, row)) for row in _rows(again, first, xs, chunk_size)]
    return _one_or_all(_built(inside, rows))


def hvp(
    function: Callable[..., Any], inputs: Sequence[Any], vectors: Sequence[Any]
) -> tuple[Any, Any]:
    """The gradient of an output of one element, and its second derivatives times `vectors`.

    Args:
        function: Takes Variables, and returns one, of one element. Its operations need derivatives
            of the second order.
        inputs: A tuple or list of arrays or Variables, or of tuples, lists and dicts of them.
        vectors: What is like each input.

    Returns:
        The gradient, and the product of the Hessian with the vectors: for each what is like the
        input, in a tuple where there are several. It takes two walks back.

    >>> import core, numpy as np
    >>> import core.functions as F
    >>> core.hvp(lambda x: F.sum(x**3), [np.array([1.0, 2.0])], [np.array([1.0, 1.0])])
    (variable([ 3., 12.]), variable([ 6., 12.]))
    """
    xs, inside = _leaves("hvp", inputs)
    along = _alike("hvp", "vectors", vectors, xs, inside)
    first = _first_gradients("hvp", function, xs, inside)
    reached = [(g, v) for g, v in zip(first, along, strict=True) if g.requires_grad]
    found: list[Variable | None] = [None] * len(xs)
    if reached:
        starts = [v for _, v in reached]
        found = grad([g for g, _ in reached], xs, starts, enable_double_backprop=is_nested())
    products = [_or_zeros(p, x) for p, x in zip(found, xs, strict=True)]
    gradient, product = (_built(inside, _given(each)) for each in (first, products))
    return _one_or_all(gradient), _one_or_all(product)


# ---------------------------------------------------------------------- shared


def _check_chunk(who: str, size: int | None) -> None:
    if size is not None and size < 1:
        raise ValueError(f"{who}: expected chunk_size to be a number of rows, got {size}.")


def _rows(
    again: Callable[[list[Variable]], list[Variable]],
    ys: list[Variable],
    xs: list[Variable],
    chunk_size: int | None,
) -> list[list[Variable]]:
    """The derivatives of each of `ys`, which another call gives again, by each input."""
    from core.derivatives.rows import at_once, of_columns, of_rows  # they map, and that takes these

    def pull(xs: list[Variable], weights: list[Variable]) -> Any:
        ys = again(xs)
        rows = _walked(ys, xs, list(map(wrap, weights)), graph=is_nested())
        _given([g for g in rows if g is not None])  # refuses what has no graph and should have
        return rows, ys

    def push(xs: list[Variable], along: list[Variable]) -> Any:
        ys = again(xs)
        columns = _pushed(ys, xs, list(map(wrap, along)))
        _given([t for t in columns if t is not None])
        return columns, ys

    blocks = None
    if 2 * sum([x.size for x in xs]) < sum([y.size for y in ys]):
        blocks = of_columns(at_once(push, xs, xs, ys, chunk_size, is_nested()), ys, xs)
    if blocks is None:
        blocks = of_rows(at_once(pull, xs, ys, ys, chunk_size, is_nested()), ys, xs)
    if blocks is None:
        return [_derivatives(y, xs) for y in ys]
    return [_given(each) for each in blocks]


def _derivatives(y: Variable, xs: list[Variable]) -> list[Variable]:
    """The derivatives of all elements of `y` by those of each input."""
    xp, rows = y.xp, []
    for i in range(y.size):
        one = xp.reshape(xp.astype(xp.arange(y.size) == i, y.dtype), y.shape)
        rows.append(_given(_gradients([y], xs, [wrap(one)], graph=is_nested())))
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
    return made


def _first_gradients(
    who: str, function: Callable[..., Any], xs: list[Variable], inside: Any
) -> list[Variable]:
    ys, outside = _outputs(who, function, xs, inside)
    y = ys[0] if isinstance(outside, Leaf) else None
    if y is None or y.size != 1:
        what = described(outside) if y is None else f"the shape {y.shape}"
        raise TypeError(f"{who}: expected a function that returns one element, got {what}.")
    found = _gradients([y], xs, [wrap(y.xp.ones_like(y.array))], graph=True)
    for g in found:
        if getattr(g, "_nondifferentiable", ""):
            raise _once_only(who, g)
    return found


def _leaves(who: str, inputs: Sequence[Any]) -> tuple[list[Variable], Any]:
    """New Variables of the arrays, so that nothing of the caller's graph is walked over.

    Those that depend on what derivatives are being taken by stay connected with it. And the
    structure that they are in.
    """
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"{who}: expected a tuple or list of inputs, got {type(inputs).__name__}.")
    found, form = separated(tuple(inputs))
    if not found:
        raise TypeError(f"{who}: expected at least one input.")
    lift = getattr(current().array_type, "_lift_beside", None)  # in a trace derivatives are traced
    given = found if lift is None else lift(tuple(found))
    around = what_is_around()
    made = [x[...] if depends_on(around, x) else Variable(as_variable(x).array) for x in given]
    for name, x in zip(_names("input ", form), made, strict=True):
        _refuse_whole(who, name, x)
    return made, form


def _refuse_whole(who: str, what: str, x: Variable) -> None:
    spec = spec_of(x.array)
    if spec is None:
        raise TypeError(f"{who}: expected {what} to be an array, got none.")
    if spec.kind not in "fV":
        raise NotDifferentiable(f"{who}: expected {what} of real numbers, got one of {spec.name}.")


def _outputs(
    who: str, function: Callable[..., Any], xs: list[Variable], inside: Any
) -> tuple[list[Variable], Any]:
    """The outputs, and the structure that they are in."""
    with taken_by(xs), force_backprop_mode():
        result = function(*_built(inside, xs))
    outputs, form = separated(result)
    for name, y in zip(_names("output ", form), outputs, strict=True):
        if not isinstance(y, Variable):
            raise TypeError(
                f"{who}: expected a function that returns Variables, got {type(y).__name__}."
            )
        _refuse_whole(who, name, y)
    return outputs, form


def _alike(
    who: str, what: str, given: Sequence[Any], like: list[Variable], form: Any
) -> list[Variable]:
    """What is given for each of some Variables, which are in this structure, in their order."""
    if not isinstance(given, (tuple, list)) or len(given) != len(form):
        count = len(given) if isinstance(given, (tuple, list)) else type(given).__name__
        raise TypeError(f"{who}: expected {len(form)} {what}, got {count}.")
    found = list(_places(form, given))
    if any([each is _OTHER for each in found]):
        raise TypeError(
            f"{who}: expected {what} of the structure {described(form)}, got "
            f"{described(separated(given)[1])}."
        )
    if like:
        _, *found = beside_traced((like[0], *found))
    for name, v, x in zip(_names("", form), found, like, strict=True):
        check_grad(x._spec, f"{who}, {what} {name}", as_array(v))
    return [v if depends_on(what_is_around(), v) else wrap(as_array(v)) for v in found]


_OTHER = object()
"""What stands where a structure is another one."""


def _places(form: Any, given: Any) -> Iterator[Any]:
    """What stands in a structure in the place of each leaf of another one."""
    if isinstance(form, Leaf):
        yield _OTHER if isinstance(given, (tuple, list, dict)) else given
    elif isinstance(form, dict):
        fits = isinstance(given, dict) and given.keys() == form.keys()
        for key, part in form.items() if fits else ():
            yield from _places(part, given[key])
        if not fits:
            yield _OTHER
    elif isinstance(given, (tuple, list)) and len(given) == len(form):
        for part, each in zip(form, given, strict=True):
            yield from _places(part, each)
    else:
        yield _OTHER


def _names(name: str, form: Any) -> Iterator[str]:
    """What the leaves of a structure are called: "input 0['W']"."""
    if isinstance(form, Leaf):
        yield f"{name}0" if name.endswith(" ") else name
        return
    for key, part in form.items() if isinstance(form, dict) else enumerate(form):
        inner = f"{name}[{key!r}]" if name and not name.endswith(" ") else f"{name}{key!r}"
        yield from _names(inner, part)


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


def _pushed(ys: list[Variable], xs: list[Variable], along: list[Variable]) -> list[Variable | None]:
    """Derivatives of the outputs along a direction, None for those that do not depend on inputs."""
    weights = [Variable(y.xp.zeros_like(y.array)) for y in ys]
    pulled = _walked(ys, xs, weights, graph=True)
    reached = [(g, v) for g, v in zip(pulled, along, strict=True) if g is not None]
    for g, _ in reached:
        if not g.requires_grad:  # though it is linear in the weights
            raise _once_only("jvp", g)
    if not reached:
        return [None] * len(ys)
    starts = [v for _, v in reached]
    return grad([g for g, _ in reached], weights, starts, enable_double_backprop=is_nested())


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
    if not is_nested():
        return [wrap(v.array) for v in variables]
    for v in variables:
        if getattr(v, "_nondifferentiable", ""):
            raise _once_only("a derivative within another", v)
    return list(variables)


def _built(form: Any, values: list[Any]) -> Any:
    """A structure with these values in the places of its leaves."""
    return rebuilt(form, lambda leaf: values[leaf.number])


def _one_or_all(parts: tuple[Any, ...]) -> Any:
    """What belongs to the inputs of a function: what is for the only one by itself."""
    return parts if len(parts) > 1 else parts[0]
