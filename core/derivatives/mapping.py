"""`core.vmap`: a function of one example, computed for many at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from core import functions
from core.arrays.backend import BACKENDS, Backend, host
from core.derivatives.batching import compute
from core.derivatives.batching_rules import Examples
from core.derivatives.mapped import Again, Mapped, Pull, Walk, Way, beside, graded
from core.errors import TraceError
from core.errors.kinds import checked
from core.graph.fitting import is_array
from core.graph.variable import Variable, wrap
from core.programs import PLAIN, Leaf, Place, Program, Value, described, flattened, leaves, rebuilt
from core.registry.configuration import config
from core.tracing import Places, Tape, recorded, roots, tracing_backend, what_is_around
from core.tracing import tape as tapes


@checked
def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that computes `function` for each example along an axis, for all at once.

    Args:
        function: Takes arrays or Variables, or tuples, lists and dicts of them, and returns such.
            It may compute gradients inside.
        in_axes: Along which axis of the arguments the examples lie: an integer, or None where an
            argument is the same for all. A tuple has one for each argument, and lists, tuples and
            dicts of axes stand for arguments of their structure.
        out_axes: Where the axis of examples is to be in results, likewise; None for a result that
            is the same for all.
        chunk_size: So many examples are computed at once, which takes less memory; None for all.

    Returns:
        A function of the arguments of all examples. Its results are those of a loop over the
        examples, within rounding, as arrays or as Variables. Gradients go back from these Variables
        where they do for one example: to arguments, and to parameters and Variables from outside.

    Whenever it is called, it traces the function on one example, as `core.trace` does, and makes
    each array operation once for all examples: with one more axis in front, or, where a function of
    the array library has no such form, for one after the other. Each example draws random numbers
    of its own. Parameters and arrays from outside are the same for all. It may stand within itself,
    and within functions that are traced.

    Raises:
        TraceError: The function cannot be traced, or changes what all examples share: parameters,
            running averages, an argument in place.
        NotDifferentiable: By derivatives of the second order that go through it, where it draws
            random numbers, or gives what is the same for all.
        ValueError: `chunk_size` is less than 1.

    >>> import core, numpy as np
    >>> import core.functions as F
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]], "f")
    >>> core.vmap(lambda v: v @ v)(x)
    array([ 5., 25.], dtype=float32)
    >>> def gradient(v):
    ...     return core.vjp(lambda v: F.sum(v**2), v)[1](np.array(1, "f"))
    >>> core.vmap(gradient)(x)
    variable([[2., 4.],
              [6., 8.]], dtype=float32)
    """
    whole = mapping(function, in_axes, out_axes)
    if chunk_size is None:
        return whole
    if chunk_size < 1:
        raise ValueError(f"vmap: expected chunk_size to be a number of examples, got {chunk_size}.")

    @wraps(function)
    def mapped(*arguments: Any, **named: Any) -> Any:
        given, form = flattened(arguments)
        axes = _axes("in_axes", in_axes, form, len(given))
        size, arrays, parts = _size(given, axes), _arrays(arguments), []
        if named or size <= chunk_size:
            return whole(*arguments, **named)
        for first in range(0, size, chunk_size):
            some = slice(first, first + chunk_size)
            part = [_taken(x, axis, some) for x, axis in zip(arrays, axes, strict=True)]
            parts.append(whole(*_with_arrays(form, part)))
        columns = list(zip(*map(_arrays, parts), strict=True))
        _, result = flattened(parts[0])
        put = _axes("out_axes", out_axes, result, len(columns))
        joined = [_joined(column, axis) for column, axis in zip(columns, put, strict=True)]
        return _with_arrays(result, joined)

    return mapped


def _with_arrays(form: Any, arrays: list[Any]) -> Any:
    return rebuilt(form, lambda leaf: arrays[leaf.number])


def _taken(x: Any, axis: int | None, some: slice) -> Any:
    """The examples of some numbers, along their axis."""
    return x if axis is None else x[(slice(None),) * (axis % x.ndim) + (some,)]


def _joined(parts: tuple[Any, ...], axis: int | None) -> Any:
    """The results of all examples, from those of some each."""
    x = parts[0]
    if axis is None:
        return x
    concat = functions.concat if isinstance(x, Variable) else BACKENDS[type(x)].xp.concat
    return concat(parts, axis=axis % x.ndim)


def mapping(
    function: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    places: Callable[[Tape], Places] | None = None,
) -> Callable[..., Any]:
    """What `vmap` gives, which finds what is outside of the function in places of some kind."""

    @wraps(function)
    def mapped(*arguments: Any, **named: Any) -> Any:
        if named:
            raise TypeError(
                "vmap: expected arguments by position, as in_axes has them, got "
                f"{', '.join(named)} by name. Give it by position, or bind what is the same for "
                "all by functools.partial."
            )
        given, form = flattened(arguments)
        axes = _axes("in_axes", in_axes, form, len(given))
        size = _size(given, axes)
        backend = _backend(given)
        inputs = tuple([_one(array, axis) for array, axis in zip(given, axes, strict=True)])
        tape = Tape(host())
        walk = Walk(function, tape)
        if places is not None:
            tape.places = places(tape)
        whole = recorded(walk, form, inputs, tape, roots(function))
        program = walk.forward(whole)
        _refuse_changes(program)
        back = walk.backward(whole, program)
        arrays = {p.value: p.read() for p in (*program.places, *back.places)}
        arrays |= program.constants | back.constants
        if backend is not host():
            arrays = {value: backend.asarray(array) for value, array in arrays.items()}
        for value, array, axis in zip(inputs, given, axes, strict=True):
            arrays[value] = array if axis is None else Examples(_moved(backend, array, axis, 0))
        found, kept = dict(arrays), {*program.outputs}
        if walk.reached:
            kept |= {value for e in back.equations for value in e.inputs} | {*back.outputs}
        compute(program.equations, backend, size, found, kept)
        put = _axes("out_axes", out_axes, program.result, len(program.outputs))
        shared, seen = program.memories(), set(arrays)
        results: list[Any] = []
        for value, axis in zip(program.outputs, put, strict=True):
            memory = shared.get(value, value)
            y = _result(backend, size, found[value], axis)
            results.append(backend.copy(y) if memory in seen or axis is None else y)
            seen.add(memory)
        if walk.reached:
            numbers = _graded_numbers(program.result)
            at = [numbers[i] for i in walk.leading]
            outputs = [Way(w, put[i]) for w, i in zip(walk.weights, at, strict=True)]
            ways = [*[axes[i] for i in _graded_numbers(form)], *[None] * len(walk.outside)]
            ends = [Way(g, ways[i]) for g, i in zip(back.outputs, walk.reached, strict=False)]
            plain = all([way.axis is not None for way in outputs]) and not _draws(program)
            arrays_given = list(map(beside, _arrays(arguments)))
            whole_call = Again(
                *(vmap, function, form, arrays_given, axes, walk.outside, walk.reached),
                *(outputs, walk.leading, what_is_around(), config.train),
            )
            pull = walk.error or Pull(backend, size, back.equations, found, outputs, ends)
            node = Mapped(pull, whole_call if plain else None, tuple([results[i] for i in at]))
            sources = [*graded(arguments), *walk.outside]
            ys = node.apply([sources[i] for i in walk.reached])
            results = [dict(zip(at, ys, strict=True)).get(i, y) for i, y in enumerate(results)]
        return rebuilt(program.result, lambda leaf: _put(leaf, results[leaf.number]))

    return mapped


def _put(leaf: Leaf, array: Any) -> Any:
    return array if leaf.kind == "array" or isinstance(array, Variable) else wrap(array)


def _arrays(arguments: Any) -> list[Any]:
    """The arrays and Variables in a structure, in the order of their leaves."""
    return [
        x
        for x in leaves(arguments)
        if isinstance(x, Variable) or (not isinstance(x, PLAIN) and is_array(x))
    ]


def _draws(program: Program) -> bool:
    return any([e.call.kind == "random" for e in program.equations])


def _graded_numbers(form: Any) -> list[int]:
    """The numbers of the Variables with gradients in a structure."""
    found = [leaf for leaf in leaves(form) if isinstance(leaf, Leaf)]
    return [leaf.number for leaf in found if leaf.kind == "variable with gradient"]


def _axes(what: str, axes: Any, form: Any, count: int) -> list[int | None]:
    """The axis of each array of a structure."""
    found: list[int | None] = [None] * count
    _put_axes(found, what, axes, form)
    return found


def _put_axes(found: list[int | None], what: str, axes: Any, form: Any) -> None:
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        rebuilt(form, lambda leaf: found.__setitem__(leaf.number, axes))
    elif isinstance(form, dict) and isinstance(axes, dict) and form.keys() == axes.keys():
        for key in form:
            _put_axes(found, what, axes[key], form[key])
    elif (
        isinstance(form, (tuple, list))
        and isinstance(axes, (tuple, list))
        and len(form) == len(axes)
        and not isinstance(form, Leaf)
    ):
        for one, part in zip(axes, form, strict=True):
            _put_axes(found, what, one, part)
    else:
        raise TypeError(
            f"vmap: expected {what} to be an integer, None, or of the structure "
            f"{described(form)}, got {axes!r}."
        )


def _size(given: list[Any], axes: list[int | None]) -> int:
    sizes = {}
    for i, (array, axis) in enumerate(zip(given, axes, strict=True)):
        if axis is not None:
            if not -array.ndim <= axis < array.ndim:
                raise ValueError(
                    f"vmap: expected argument array {i} to have an axis {axis} of examples, got "
                    f"the shape {tuple(array.shape)}."
                )
            sizes[i] = array.shape[axis]
    if not sizes:
        raise ValueError("vmap: expected an argument with an axis of examples, got none.")
    if len(set(sizes.values())) > 1:
        told = ", ".join([f"{n} in argument array {i}" for i, n in sizes.items()])
        raise ValueError(f"vmap: expected as many examples in each argument, got {told}.")
    return next(iter(sizes.values()))  # type: ignore[no-any-return]


def _backend(given: list[Any]) -> Backend:
    """Who computes: the host, or a trace that is under way."""
    for i, array in enumerate(given):
        backend = BACKENDS[type(array)]
        if backend not in (host(), tracing_backend()):
            raise TraceError(
                f"vmap: expected arrays of backend {host().name}, got argument array {i} of "
                f"{backend.name}. Move it there, with the parameters: to_device({host().name!r})."
            )
    return tracing_backend() if tapes.under_way() else host()


def _one(array: Any, axis: int | None) -> Value:
    shape = list(array.shape)
    if axis is not None:
        del shape[axis]
    return Value(tuple(shape), array.dtype)


def _refuse_changes(program: Program) -> None:
    changed = [
        target.name if isinstance(target, Place) else f"argument array {target}, in place"
        for target, _ in program.changes
    ]
    if changed or program.steps:
        raise TraceError(
            f"vmap: {program.name} changes {', '.join(changed) or 'a count of steps'}, and there "
            "is one for all examples. Leave the change out, or compute it from the results."
        )


def _result(backend: Backend, size: int, x: Any, axis: int | None) -> Any:
    if axis is None:
        if isinstance(x, Examples):
            raise ValueError(
                "vmap: expected a result that is the same for all examples, for its axis in "
                "out_axes is None, got one that differs."
            )
        return backend.asarray(x)
    if not isinstance(x, Examples):
        x = backend.asarray(x)
        x = Examples(backend.copy(backend.xp.broadcast_to(x, (size, *x.shape))))
    if not -x.ndim - 1 <= axis <= x.ndim:
        raise ValueError(
            f"vmap: expected out_axes of an array of {x.ndim + 1} dimensions, got {axis}."
        )
    return _moved(backend, x.array, 0, axis)


def _moved(backend: Backend, array: Any, source: int, target: int) -> Any:
    """The array with one of its axes in another place."""
    return array if source == target else backend.xp.moveaxis(array, source, target)
