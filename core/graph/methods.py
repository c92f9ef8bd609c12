"""The methods of arrays on Variables: the namespace's functions, with NumPy's arguments.

They are looked up when called, as plugins give most of them. What has a derivative is
differentiable; integers, truth values and places are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from core.errors.keywords import answering
from core.errors.scalars import is_whole
from core.graph import array_api

if TYPE_CHECKING:
    from core.graph.variable import Variable
    from core.typing import Array, Axis, DType, Operand, Sizes


def _function(name: str) -> Any:
    return getattr(array_api.provider.namespace, name)


@answering(checks=False)
class Methods:
    """The methods of arrays that compute."""

    __slots__ = ()

    def sum(self, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False) -> Variable:
        """Sum over axes; integers are added in the default integer, at least.

        >>> import core, numpy as np
        >>> core.Variable(np.array([[1, 2], [3, 4]], "f")).sum(axis=0)
        variable([4., 6.], dtype=float32)
        """
        return _function("sum")(self, axis, dtype, keepdims)  # type: ignore[no-any-return]

    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Variable:
        """Find the greatest element along axes."""
        return _function("max")(self, axis, keepdims)  # type: ignore[no-any-return]

    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Variable:
        """Find the least element along axes."""
        return _function("min")(self, axis, keepdims)  # type: ignore[no-any-return]

    def var(self, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Variable:
        """Compute the variance over axes, dividing by the count minus `ddof`.

        >>> import core, numpy as np
        >>> core.Variable(np.array([1.0, 3.0])).var(ddof=1)
        variable(2.)
        """
        return _function("var")(self, axis, ddof, keepdims)  # type: ignore[no-any-return]

    def std(self, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Variable:
        """Compute the standard deviation: the square root of `var`."""
        return _function("std")(self, axis, ddof, keepdims)  # type: ignore[no-any-return]

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Variable:
        """Find the index of the greatest element; without gradient."""
        return _function("argmax")(self, axis, keepdims)  # type: ignore[no-any-return]

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Variable:
        """Find the index of the least element; without gradient."""
        return _function("argmin")(self, axis, keepdims)  # type: ignore[no-any-return]

    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Variable:
        """Whether some element is true, or not 0; without gradient."""
        return _function("any")(self, axis, keepdims)  # type: ignore[no-any-return]

    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Variable:
        """Whether all elements are true, or not 0; without gradient."""
        return _function("all")(self, axis, keepdims)  # type: ignore[no-any-return]

    def cumsum(self: Any, axis: int | None = None, dtype: DType = None) -> Variable:
        """Sum up to each element along an axis, or along all elements in a row."""
        x = self.reshape(-1) if axis is None else self
        return _function("cumulative_sum")(x, 0 if axis is None else axis, dtype)  # type: ignore[no-any-return]

    def clip(self, min: Operand | None = None, max: Operand | None = None) -> Variable:
        """Clip the elements to bounds: numbers, arrays that broadcast, or None.

        >>> import core, numpy as np
        >>> core.Variable(np.array([-9.0, 0.0, 9.0])).clip(-1, 2)
        variable([-1.,  0.,  2.])
        """
        return _function("clip")(self, min, max)  # type: ignore[no-any-return]

    def round(self, decimals: int = 0) -> Variable:
        """Round the elements to that many decimals, halves to even digits; without gradient.

        Whole numbers are rounded to tens, hundreds, ... by -1, -2, ... decimals.

        >>> import core, numpy as np
        >>> core.Variable(np.array([0.126, 2.5])).round(2)
        variable([0.13, 2.5 ])
        >>> core.Variable(np.array([15, 24, 25])).round(-1)
        variable([20, 20, 20])
        """
        return _function("round")(self, decimals)  # type: ignore[no-any-return]

    def astype(self, dtype: DType, *, copy: bool = True) -> Variable:
        """Cast to another dtype; the gradient is cast back. The same dtype is copied by default.

        >>> import core, numpy as np
        >>> core.Variable(np.ones(2, "f")).astype("float64")
        variable([1., 1.])
        """
        return _function("astype")(self, dtype, copy=copy)  # type: ignore[no-any-return]

    def copy(self: Any) -> Variable:
        """Copy the elements; the gradient flows back through the copy."""
        return self.astype(self.dtype)  # type: ignore[no-any-return]

    def ravel(self: Any) -> Variable:
        """Put all elements in a row; they may share memory with these."""
        return self.reshape(-1)  # type: ignore[no-any-return]

    def flatten(self: Any) -> Variable:
        """Copy all elements in a row."""
        return self.copy().reshape(-1)  # type: ignore[no-any-return]

    def squeeze(self: Any, axis: Axis = None) -> Variable:
        """Remove axes of length 1: all of them, or those given."""
        if axis is None:
            axis = tuple([i for i, n in enumerate(self.shape) if n == 1])
        return _function("squeeze")(self, axis)  # type: ignore[no-any-return]

    def swapaxes(self: Any, axis1: int, axis2: int) -> Variable:
        """Swap two axes.

        >>> import core, numpy as np
        >>> core.Variable(np.zeros((2, 3, 4))).swapaxes(0, -1).shape
        (4, 3, 2)
        """
        return array_api.functions.swapaxes(self, axis1, axis2)  # type: ignore[no-any-return]

    def repeat(self, repeats: Sizes | Array, axis: int | None = None) -> Variable:
        """Repeat each element along an axis, or along all elements in a row."""
        return _function("repeat")(self, repeats, axis=axis)  # type: ignore[no-any-return]

    def dot(self: Any, b: Operand) -> Variable:
        """Multiply and sum over the last axis of this array and the second last of `b`.

        Of vectors it is the inner product, of matrices the matrix product; a number, or an array
        without dimensions, scales.

        >>> import core, numpy as np
        >>> x = core.Variable(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> x.dot(np.array([1.0, 1.0]))
        variable([3., 7.])
        """
        ndim = getattr(b, "ndim", 0)
        if self.ndim == 0 or ndim == 0:
            return self * b  # type: ignore[no-any-return]
        return _function("tensordot")(self, b, axes=((self.ndim - 1,), (max(ndim - 2, 0),)))  # type: ignore[no-any-return]

    @overload
    def reshape(self, shape: Sequence[SupportsIndex], /) -> Variable: ...
    @overload
    def reshape(self, *shape: SupportsIndex) -> Variable: ...
    def reshape(self, *shape: Any) -> Variable:
        """Reshape; one entry of the shape may be -1."""
        lone = len(shape) == 1 and not is_whole(shape[0])
        return _function("reshape")(self, shape[0] if lone else shape)  # type: ignore[no-any-return]

    @overload
    def transpose(self, axes: Sequence[SupportsIndex] | None, /) -> Variable: ...
    @overload
    def transpose(self, *axes: SupportsIndex) -> Variable: ...
    def transpose(self, *axes: Any) -> Variable:
        """Permute the axes; without arguments, reverse them."""
        if len(axes) == 1 and not is_whole(axes[0]):
            axes = tuple(axes[0] or ())
        return _function("permute_dims")(self, axes or None)  # type: ignore[no-any-return]

    @property
    def T(self) -> Variable:
        """The transpose: the axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Variable:
        """The transpose of matrices: the last two axes swapped."""
        return _function("matrix_transpose")(self)  # type: ignore[no-any-return]

    def mean(
        self: Any, axis: Axis = None, *, weights: Array | None = None, keepdims: bool = False
    ) -> Variable:
        """Average over axes, as `core.functions.average` does.

        >>> import core, numpy as np
        >>> core.Variable(np.array([[1, 2], [3, 4]], "f")).mean(axis=0)
        variable([2., 3.], dtype=float32)
        """
        return array_api.functions.average(self, axis, weights, keepdims)  # type: ignore[no-any-return]
