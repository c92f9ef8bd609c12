"""Arrays broadcast to a common shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from core import Domain, FunctionNode, Variable, anything, as_variable, choice
from core.arrays import backend
from core.errors import InvalidType
from core.ops.operands import beside_traced
from core.ops.types.shapes import broadcast_shapes
from core.typing import Array
from plugins.functions.composed import Composed


def _broadcasts(f: Any, x: Any) -> None:
    own = f.shape[len(f.shape) - len(x.shape) :]
    if any([n not in (1, m) for n, m in zip(x.shape, own, strict=True)]):
        raise InvalidType(f"shapes that broadcast: x.shape to {f.shape}", f"{x.shape}")


class BroadcastTo(FunctionNode):
    """x repeated along new axes and along those of length 1, up to a shape."""

    shape: tuple[int, ...]
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _enlarged(shapes["x"]))},
        valid=("x.ndim <= len(shape)", _broadcasts),
    )

    def compute(self, xp, x):
        return xp.broadcast_to(x, self.shape)

    def gradient(self, xp, g):
        return SumTo(self.input_shape(0)).evaluate(g)


class SumTo(FunctionNode):
    """x summed over the axes along which a shape was repeated: the adjoint of broadcasting."""

    shape: tuple[int, ...]
    wide = True
    domain = Domain(
        "(...)->(...b)",
        x=anything(),
        settings={"shape": choice(lambda shapes: _reduced(shapes["x"]))},
    )

    def compute(self, xp, x):
        lead = x.ndim - len(self.shape)
        axes = [
            i for i in range(x.ndim) if i < lead or (self.shape[i - lead] == 1 and x.shape[i] != 1)
        ]
        if axes:
            x = xp.sum(x, axis=tuple(axes), dtype=x.dtype, keepdims=True)
        return xp.reshape(x, self.shape)

    def gradient(self, xp, g):
        lead = len(self.input_shape(0)) - len(self.shape)
        return xp.broadcast_to(xp.reshape(g, (1,) * lead + self.shape), self.input_shape(0))


class Broadcast(Composed):
    """Every input repeated up to their common shape; see `broadcast`."""

    def apply(self, inputs: Iterable[Any]) -> tuple[Variable, ...]:
        """The inputs in one shape, those that have it as they are."""
        found = [as_variable(x) for x in inputs]
        shapes = [x.shape for x in found]
        if len(set(shapes)) == 1:
            return tuple(found)
        found = [*beside_traced(tuple(found))]
        backend.of(*found)  # refuses those of several
        shape = _common_shape(shapes)
        return tuple([x if x.shape == shape else BroadcastTo.call(x, shape) for x in found])


def _common_shape(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return broadcast_shapes(shapes)
    except ValueError:
        names = " and ".join([f"xs[{i}].shape" for i, _ in enumerate(shapes)])
        came = " and ".join(map(str, shapes))
        raise InvalidType(f"{names} broadcast", came, operation="Broadcast") from None


def broadcast_to(x: Array, shape: Sequence[int]) -> Variable:
    """Broadcast to a shape: repeat along new axes and along axes of length 1.

    Args:
        x: Of any dtype, and a shape that broadcasts to `shape`.
        shape: The new shape.

    Returns:
        The dtype of `x`; `x` itself where it has the shape.

    Raises:
        InvalidType: The shape of `x` does not broadcast to `shape`.

    >>> import core.functions as F, numpy as np
    >>> F.broadcast_to(np.array([1, 2], "f"), (2, 2))
    variable([[1., 2.],
              [1., 2.]], dtype=float32)
    """
    x = as_variable(x)
    return x if type(shape) is tuple and x.shape == shape else BroadcastTo.call(x, shape)


@overload
def broadcast(x: Array, y: Array, /, *args: Array) -> tuple[Variable, ...]: ...
@overload
def broadcast(x: Array, /) -> Variable: ...
def broadcast(*args: Array) -> Variable | tuple[Variable, ...]:
    """Broadcast all arguments to their common shape.

    Args:
        *args: Arrays or Variables of any dtypes, with shapes that broadcast.

    Returns:
        A tuple of Variables; a single Variable for a single argument. Those of one shape already
        are given back as they are.

    Raises:
        InvalidType: The shapes do not broadcast.

    >>> import core.functions as F, numpy as np
    >>> x, y = F.broadcast(np.zeros((2, 1), "f"), np.zeros(3, "f"))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    found = Broadcast().apply(args)
    return found[0] if len(found) == 1 else found


def _enlarged(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    widened = tuple([3 if n == 1 else n for n in shape])
    return [shape, widened, (2, *widened)]


def _reduced(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [shape, shape[1:], tuple([1 for _ in shape]), shape[:1] and (1, *shape[1:])]
