"""How calls compute for many examples at once: the same call, with one more axis in front.

A rule takes the call's function and arguments, in which `Examples` stand for arrays that differ
from example to example, and gives the result for all of them; or NotImplemented, where the call is
then made example by example. So a rule is there for speed alone.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from core.arrays.backend import host
from core.programs import Call, Equation, Value, infer, mapped, names
from core.tracing import TracedArray, is_basic


class Examples:
    """An array whose first axis counts the examples; `ndim` is that of one."""

    __slots__ = ("array", "ndim")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.ndim = array.ndim - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one."""
        return tuple(self.array.shape[1:])

    @property
    def dtype(self) -> Any:
        """The dtype of all."""
        return self.array.dtype


class Batched:
    """A call for `size` examples: what rules are given. `out` is the value that one example has."""

    def __init__(self, xp: Any, size: int, equation: Equation, function: Any) -> None:
        self.xp = xp
        self.size = size
        self.call = equation.call
        self.name = equation.call.name.rpartition(".")[2]
        self.outputs = equation.outputs
        self.function = function

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result for all examples."""
        return (self.size, *self.outputs[0].shape)

    def aligned(self, x: Any, ndim: int) -> Any:
        """An argument, such that arrays of `ndim` axes for each example broadcast with it."""
        if not isinstance(x, Examples):
            return x
        if x.ndim >= ndim:
            return x.array
        return self.xp.reshape(x.array, (self.size, *(1,) * (ndim - x.ndim), *x.shape))

    def spread(self, x: Any) -> Any:
        """The array for all examples, also where it is the same for all."""
        if isinstance(x, Examples):
            return x.array
        return self.xp.broadcast_to(self.xp.asarray(x), (self.size, *getattr(x, "shape", ())))

    def rows(self, ndim: int) -> Any:
        """The numbers of the examples, to index with beside arrays of `ndim` axes for each."""
        return self.xp.reshape(self.xp.arange(self.size), (self.size, *(1,) * ndim))


Rule = Callable[[Batched, tuple[Any, ...], dict[str, Any]], Any]


def rank(x: Any) -> int:
    """How many axes an argument has for one example."""
    return getattr(x, "ndim", 0)


def arrays_in(tree: Any) -> list[Any]:
    """The arrays, of all examples or of each, among the arguments of a call."""
    if isinstance(tree, (Examples, TracedArray, host().xp.ndarray)):
        return [tree]
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    return [x for part in tree for x in arrays_in(part)] if isinstance(tree, (tuple, list)) else []


def has_examples(tree: Any) -> bool:
    """Whether the arguments differ from example to example."""
    if isinstance(tree, Examples):
        return True
    if isinstance(tree, dict):
        tree = tuple(tree.values())
    return isinstance(tree, (tuple, list)) and any([has_examples(part) for part in tree])


# ---------------------------------------------------------------------- elementwise


def _elementwise(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if any([isinstance(x, (list, tuple)) for x in args]) or "shape" in kwargs:
        return NotImplemented
    ndim = max(map(rank, arrays_in((args, kwargs))))

    def put(x: Examples) -> Any:
        return b.aligned(x, ndim)

    return b.function(*mapped(put, args, Examples), **mapped(put, kwargs, Examples))


def _change(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, other = args
    return b.function(b.spread(x), b.aligned(other, rank(x)))


def _check(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return b.function(args[0].array, *args[1:])


# ---------------------------------------------------------------------- along axes


def _reduction(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, *rest = args
    if not isinstance(x, Examples) or has_examples((rest, kwargs)):
        return NotImplemented
    axis = rest.pop(0) if rest else kwargs.get("axis")
    kwargs = {name: value for name, value in kwargs.items() if name != "axis"}
    if (axis is None or not x.ndim) and b.name in ("argmax", "argmin"):
        flat = b.xp.reshape(x.array, (b.size, prod(x.shape)))
        return b.xp.reshape(b.function(flat, 1), b.shape)
    axes = axis if isinstance(axis, tuple) else tuple(range(x.ndim)) if axis is None else (axis,)
    if not x.ndim:
        axes = ()
    shifted: Any = tuple([a + 1 if a >= 0 else a for a in axes])
    if axis is not None and not isinstance(axis, tuple) and x.ndim:
        (shifted,) = shifted
    if rest:
        return b.function(x.array, shifted, *rest, **kwargs)
    return b.function(x.array, axis=shifted, **kwargs)


def _along(place: int, default: int | None) -> Rule:
    """The rule of functions that go along an axis, which is the argument at a place."""

    def along(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first, *rest = args
        rest = rest[: place - 1]
        if has_examples((rest, kwargs)):
            return NotImplemented
        several = isinstance(first, (list, tuple))
        ranks = set(map(rank, first if several else [first]))
        if ranks == {0} and not several:  # which NumPy takes for a row of one element
            return NotImplemented
        placed = len(args) > place
        axis = args[place] if placed else kwargs.get("axis", default)
        if axis is None and ranks == {1}:
            axis = 0
        if not isinstance(axis, int):
            return NotImplemented
        given = [b.spread(x) for x in first] if several else b.spread(first)
        axis = axis + 1 if axis >= 0 else axis
        if placed:
            return b.function(given, *rest, axis, *args[place + 1 :], **kwargs)
        return b.function(given, *rest, **kwargs | {"axis": axis})

    return along


def _diff(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) > 3 or kwargs.keys() - {"n", "axis"}:  # what is put before it, or behind
        return NotImplemented
    return _along(2, -1)(b, args, kwargs)


def _take_along_axis(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, *rest = args
    axis = rest[0] if rest else kwargs.get("axis", -1)
    if not isinstance(axis, int) or rank(x) != rank(index):
        return NotImplemented
    return b.function(b.spread(x), b.spread(index), axis=axis + 1 if axis >= 0 else axis)


def _take(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, *rest = args
    axis = rest[0] if rest else kwargs.get("axis")
    first = axis == 0 or (axis is None and rank(x) == 1)
    if not isinstance(index, Examples):
        return _along(2, None)(b, args, kwargs)
    if not first or len(rest) > 1 or kwargs.keys() - {"axis"}:  # a mode
        return NotImplemented
    if isinstance(x, Examples):
        return x.array[b.rows(index.ndim), index.array]
    return b.function(x, index.array, axis=0)


# ---------------------------------------------------------------------- shapes


def _in_order(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of functions that leave the order of elements as it is, whatever axes they make."""
    if "order" in kwargs or any([isinstance(arg, str) for arg in args]):
        return NotImplemented
    return b.xp.reshape(args[0].array, b.shape)


def _reordered(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of functions that give the axes in another order: which, axes of different lengths show."""
    x, *rest = args
    xp = host().xp
    marks = xp.broadcast_to(xp.zeros((), dtype="bool"), tuple(range(1, x.ndim + 1)))
    order = b.call.found(host())(marks, *rest, **kwargs).shape
    return b.xp.permute_dims(x.array, (0, *order))


def _broadcast(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = [
        b.xp.broadcast_to(b.aligned(x, len(y.shape)), (b.size, *y.shape))
        for x, y in zip(args, b.outputs, strict=False)
    ]
    return made if b.name == "broadcast_arrays" else made[0]


def _tile(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, times = args
    times = times if isinstance(times, tuple) else (times,)
    ndim = max(x.ndim, len(times))
    return b.function(b.aligned(x, ndim), (1,) * (ndim + 1 - len(times)) + times)


# ---------------------------------------------------------------------- indexes


_NO_AXIS = type(None), type(Ellipsis)


def _index(b: Batched, x: Any, index: Any) -> Any:
    """The index of all examples, where `x` has them in front; None where there is no such index."""
    parts = index if isinstance(index, tuple) else (index,)
    if is_basic(index):
        return (slice(None), *parts)
    found = [i for i, part in enumerate(parts) if rank(part) or isinstance(part, Examples)]
    # Any integer, NumPy's as well, has its place among the arrays; what leaves an axis has none.
    whole = [i for i, part in enumerate(parts) if not isinstance(part, (slice, *_NO_AXIS))]
    adjacent = whole == list(range(whole[0], whole[-1] + 1)) if found else False
    odd = [part for part in parts if isinstance(part, (list, bool))]
    masks = [i for i in found if str(parts[i].dtype) == "bool"]
    if odd or masks or not adjacent:
        return None
    if not has_examples(parts):
        return (slice(None), *parts)
    if whole[0] != 0:
        return None
    ndim = max([rank(parts[i]) for i in whole])
    return (b.rows(ndim), *[b.aligned(part, ndim) for part in parts])


def _get_item(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index = args
    found = _index(b, x, index)
    if found is None:
        return NotImplemented
    if not isinstance(x, Examples):
        return x[found[1:]]
    return x.array[found]


def _set_item(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, index, other = args
    found = _index(b, x, index)
    if found is None:
        return NotImplemented

    def value(array: Any) -> Value:
        return Value(tuple(array.shape), array.dtype)

    at = mapped(lambda e: value(e), index, Examples)
    at = mapped(lambda a: a if isinstance(a, Value) else value(a), at, (Value, *_kinds(index)))
    part = infer(Call("operator", "getitem"), (value(x), at), {}, {})
    if rank(other) > len(part.shape):
        return NotImplemented
    return b.function(b.spread(x), found, b.aligned(other, len(part.shape)))


def _kinds(index: Any) -> list[type]:
    return [type(array) for array in arrays_in(index) if not isinstance(array, Examples)]


# ---------------------------------------------------------------------- products


def _matmul(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, y = args
    xp = b.xp
    if not isinstance(y, Examples) and rank(y) == 2:  # one product of all rows
        return xp.reshape(
            b.function(xp.reshape(x.array, (b.size * prod(x.shape[:-1]), x.shape[-1])), y), b.shape
        )
    if rank(x) == 1:
        x = _with_axis(b, x, 0)
    if rank(y) == 1:
        y = _with_axis(b, y, 1)
    ndim = max(rank(x), rank(y))
    return xp.reshape(b.function(b.aligned(x, ndim), b.aligned(y, ndim)), b.shape)


def _with_axis(b: Batched, x: Any, axis: int) -> Any:
    if isinstance(x, Examples):
        return Examples(b.xp.expand_dims(x.array, axis=axis + 1))
    return b.xp.expand_dims(x, axis=axis)


def _dot(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of products that are those of matrices, for arguments of such ranks."""
    ranks = tuple(map(rank, args))
    if kwargs or 0 in ranks or ranks not in _DOTS.get(b.name, _DOTS["inner"]):
        return NotImplemented
    b.function = b.xp.matmul
    return _matmul(b, args, kwargs)


_DOTS = {"dot": ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)), "inner": ((1, 1),)}


def _outer(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or kwargs or not all([hasattr(x, "shape") for x in args]):
        return NotImplemented
    rows, columns = (b.xp.reshape(b.spread(x), (b.size, prod(x.shape))) for x in args)
    return b.xp.multiply(rows[:, :, None], columns[:, None])


def _of_vectors(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of functions of the last axis of two arguments, the others of which are broadcast."""
    if len(args) != 2 or 0 in map(rank, args) or (kwargs and kwargs != {"axis": -1}):
        return NotImplemented
    ndim = max(map(rank, args))
    return b.function(*[b.aligned(x, ndim) for x in args], **kwargs)


def _norm(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of all elements, or along axes that are named."""
    x, *rest = args
    axis = kwargs.get("axis")
    if rest or not rank(x):
        return NotImplemented
    if axis is not None:
        return _reduction(b, args, kwargs)
    if kwargs.get("ord") is not None and x.ndim > 1:
        return NotImplemented
    flat = b.xp.reshape(x.array, (b.size, prod(x.shape)))
    given = {name: value for name, value in kwargs.items() if name == "ord"}
    return b.xp.reshape(b.function(flat, axis=1, **given), b.shape)


def _einsum(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    text, *operands = args
    if not isinstance(text, str) or "->" not in text or "." in text:
        return NotImplemented
    free = next(c for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text)
    inputs, _, output = text.replace(" ", "").partition("->")
    letters = [
        free * isinstance(x, Examples) + part
        for part, x in zip(inputs.split(","), operands, strict=True)
    ]
    given = mapped(lambda x: x.array, operands, Examples)
    return b.function(f"{','.join(letters)}->{free}{output}", *given, **kwargs)


def _of_matrices(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of functions of the last two axes."""
    x, *rest = args
    if rank(x) < 2 or has_examples((rest, kwargs)):
        return NotImplemented
    return b.function(x.array, *rest, **kwargs)


def _solve(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, y = args
    if rank(y) == 1:
        y = _with_axis(b, y, 1)
    ndim = max(rank(x), rank(y))
    found = b.function(b.aligned(x, ndim), b.aligned(y, ndim))
    return b.xp.reshape(found, b.shape)


def _of_two_axes(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of functions of a diagonal, by default that of the first two axes."""
    if b.call.name.startswith("linalg."):
        return _of_matrices(b, args, kwargs)
    x, *rest = args
    offset = rest.pop(0) if rest else kwargs.get("offset", 0)
    if rest or kwargs.keys() - {"offset", "axis1", "axis2"}:
        return NotImplemented
    axes = {"axis1": kwargs.get("axis1", 0), "axis2": kwargs.get("axis2", 1)}
    moved = {name: axis + 1 if axis >= 0 else axis for name, axis in axes.items()}
    return b.function(x.array, offset=offset, **moved)


def _pad(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, width, *rest = args
    mode = rest.pop(0) if rest else kwargs.get("mode", "constant")
    plain = isinstance(mode, str) and isinstance(width, (int, tuple, list))
    if not plain or not isinstance(x, Examples) or kwargs.keys() - {"mode"}:
        return NotImplemented
    pairs = host().xp.broadcast_to(width, (x.ndim, 2)).tolist()
    return b.function(x.array, [(0, 0), *map(tuple, pairs)], mode=mode)


def _windows(b: Batched, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of windows and their sums, which have a first axis of their own: both become one."""
    x, *rest = args
    merged = b.xp.reshape(x.array, (b.size * x.shape[0], *x.shape[1:]))
    return b.xp.reshape(b.function(merged, *rest, **kwargs), b.shape)


# ---------------------------------------------------------------------- which rule


def _of(text: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(text.split(), rule)


_RULES: dict[str, Rule] = {
    **_of(" ".join(names.REDUCTIONS), _reduction),
    **_of("median nanmedian ptp nansum nanprod nanmean nanvar nanstd nanmax nanmin", _reduction),
    **_of("sort argsort", _along(1, -1)),
    **_of("partition argpartition", _along(2, -1)),
    **_of("cumulative_sum cumulative_prod cumsum cumprod flip", _along(1, None)),
    **_of("concat concatenate stack unstack", _along(1, 0)),
    **_of("roll repeat", _along(2, None)),
    **_of("split array_split", _along(2, 0)),
    **_of("fft ifft rfft irfft hfft ihfft", _along(2, -1)),
    **_of("reshape ravel flatten squeeze expand_dims", _in_order),
    **_of("permute_dims transpose swapaxes moveaxis T mT matrix_transpose", _reordered),
    **_of("broadcast_to broadcast_arrays", _broadcast),
    **_of("cholesky det inv eigh eigvalsh qr svd svdvals slogdet pinv tril triu", _of_matrices),
    **_of("windows fold", _windows),
    **_of("dot inner", _dot),
    **_of("vecdot cross", _of_vectors),
    **_of("norm vector_norm", _norm),
    **_of("diagonal trace", _of_two_axes),
    "diff": _diff,
    "outer": _outer,
    "pad": _pad,
    **_of("set_item scatter_add", _set_item),
    **_of("astype clip where round real imag conj copy asarray nan_to_num", _elementwise),
    **_of("zeros_like ones_like empty_like full_like", _elementwise),
    "take": _take,
    "take_along_axis": _take_along_axis,
    "tile": _tile,
    "getitem": _get_item,
    "matmul": _matmul,
    "einsum": _einsum,
    "solve": _solve,
    "check_within": _check,
}


def rule_of(call: Call) -> Rule | None:
    """The rule of a call by its name; None where each example goes by itself."""
    found = _RULES.get(call.name.rpartition(".")[2])
    if call.kind == "kernel":
        return None
    if found is not None:
        return found
    if call.kind == "change":
        return _change
    xp = host().xp
    function = getattr(xp, call.name, None) if call.kind == "xp" else None
    ufunc = isinstance(function, xp.ufunc) and function.signature is None
    return _elementwise if ufunc or call.kind == "operator" else None
