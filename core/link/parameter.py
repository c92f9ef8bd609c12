"""Parameters: variables that links own and optimizers change."""

from __future__ import annotations

import threading
from operator import index
from typing import Any, Never, Self

from core.arrays.backend import (
    BACKENDS,
    Device,
    DeviceSpec,
    current_device,
    get_device,
    to_backend,
    using_device,
)
from core.errors.kinds import checked
from core.errors.refused import NameOfOthers
from core.errors.scalars import is_whole
from core.graph import variable
from core.graph.fitting import is_array
from core.graph.variable import Variable, as_array
from core.graph.variable_node import VariableNode
from core.registry.configuration import config

sizing = threading.RLock()
"""Held while the arrays of a link are made: of threads that come first together, one draws them.

Links look whether what they make last is there, and make nothing that is.
"""


class _Unmade(Variable):
    """What a parameter is before its `__init__`, which `help()` finds before a `__new__` here."""

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """One that has nothing yet."""
        made: Any = super().__new__(cls)
        made.initializer = made.update_rule = made._home = made._dtype_to_be = made._sharers = None
        made._resting = None
        made.version = 0
        made._frozen = made._zero_grad_later = False
        return made  # type: ignore[no-any-return]


class Parameter(_Unmade):
    """A variable that a link owns and an optimizer changes.

    Args:
        initializer: An initializer, a number to fill with, or an array, of which a Variable is one
            here; None fills with NaN.
        shape: A shape, or None to decide later: `initialize(shape)` then makes the array.
        name: Its name in the link.

    An array without a shape becomes the parameter's own array; with a shape it is copied.
    `version` counts the changes made to the array in place.

    >>> import core
    >>> core.Parameter(0, (2,)).array
    array([0., 0.], dtype=float32)
    >>> core.Parameter().is_initialized
    False
    """

    __slots__ = (
        "_dtype_to_be",
        "_frozen",
        "_home",
        "_resting",
        "_sharers",
        "_zero_grad_later",
        "initializer",
        "update_rule",
        "version",
    )

    initializer: Any
    update_rule: Any
    version: int
    _frozen: bool
    _resting: Any  # while frozen: its node in graphs, which it has again afterwards
    _home: Device | None
    _dtype_to_be: Any  # the default when it was created, if the initializer has none
    _zero_grad_later: bool
    _sharers: list[Parameter] | None  # while without an array: who will have the same one

    requires_grad_ = NameOfOthers("requires_grad_", "frozen")

    @checked
    def __init__(
        self,
        initializer: Any = None,
        shape: Any = None,
        name: str | None = None,
        *,
        requires_grad: bool = True,
    ) -> None:
        from core.link.initializer import as_initializer

        array, initializer = None, as_array(initializer)
        if shape is not None:
            shape = _as_shape(shape)
        if is_array(initializer):
            if shape is not None and tuple(initializer.shape) != shape:
                raise ValueError(
                    f"Parameter: expected an array of shape {shape}, got {initializer.shape}"
                )
            array = initializer if shape is None else BACKENDS[type(initializer)].copy(initializer)
        elif shape is not None:
            array = _make(as_initializer(initializer), shape, current_device())
        elif getattr(initializer, "dtype", None) is None:
            self._dtype_to_be = config.dtype
        super().__init__(array, name=name, requires_grad=requires_grad)
        if not is_array(initializer):  # kept for copies that are to be filled anew
            self.initializer = as_initializer(initializer)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements, None while there is not an array."""
        return None if self._array is None else self._array.dtype

    @property
    def frozen(self) -> bool:
        """Whether backpropagation passes it by for now: no gradient is computed, nothing kept.

        So do optimizers: its update rule, if there is one, is disabled. Setting it clears the
        gradient. A parameter that never needed one stays as it is. What was computed from it before
        it was frozen leads to it again once it no longer is.
        """
        return self._frozen

    @frozen.setter
    def frozen(self, frozen: bool) -> None:
        if frozen == self._frozen or (frozen and self._source is None):
            return
        name = self.name
        self.cleargrad()
        self._constant = None
        if frozen:
            self._source, self._resting = None, self._source
        else:
            self._source, self._resting = self._resting or VariableNode(self), None
            self._source.spec, self._source._grad = self._spec, None
        self._frozen = frozen
        if self.update_rule is not None:
            self.update_rule.enabled = not frozen
        if name is not None:
            self.name = name

    @property
    def requires_grad(self) -> bool:
        """Whether backpropagation computes a gradient for it; `frozen` changes that."""
        return self._source is not None

    @requires_grad.setter
    def requires_grad(self, requires_grad: Any) -> Never:
        raise AttributeError(
            "Parameter.requires_grad cannot be set. Set frozen, p.frozen = True, or call "
            "disable_update() and enable_update() of its link."
        )

    def initialize(self, shape: Any) -> None:
        """Make the array in `shape` with the initializer; does nothing if there is one."""
        if self._array is not None:
            return
        with sizing:
            if self._array is not None:
                return
            device = self._home or current_device()
            dtype = None if getattr(self.initializer, "dtype", None) else self._dtype_to_be
            self._receive(_make(self.initializer, _as_shape(shape), device, dtype))
            sharers, self._sharers = self._sharers, None
            for each in sharers or ():
                each._sharers = None
                if each._array is None:
                    each._receive(to_backend(self.array, each._home or device))

    def _receive(self, array: Any) -> None:
        """Take the array that was waited for."""
        self.array = array
        if self._zero_grad_later:
            self.zerograd()

    def __copy__(self) -> Variable:
        """Another parameter with the same array; without one, both will share the one they get."""
        with sizing:
            clone = super().__copy__()
            if self._array is None and isinstance(clone, Parameter):
                if self._sharers is None:
                    self._sharers = clone._sharers = [self]
                self._sharers.append(clone)
        return clone

    def _state(self) -> dict[str, Any]:
        state = super()._state()
        state["rest"]["_resting"] = None  # a copy is in no graph
        return state

    def cleargrad(self) -> None:
        """Set the gradient to None."""
        Variable.cleargrad(self)
        self._zero_grad_later = False

    def zerograd(self) -> None:
        """Set the gradient to zeros, once there is an array."""
        if self._array is None:
            self._zero_grad_later = True
        else:
            super().zerograd()

    def addgrad(self, var: Variable) -> None:
        """Add the gradient of `var` to this one's; if there is no array, make one for it."""
        if var.grad is not None:
            self.initialize(var.shape)
        super().addgrad(var)

    def __setitem__(self, slices: Any, value: Any) -> None:
        super().__setitem__(slices, value)
        self.version += 1

    def to_device(self, device: DeviceSpec, *, stream: None = None) -> Self:
        """Move to `device`, in place; an uninitialized parameter will be made there."""
        self._home = get_device(device)
        super().to_device(self._home, stream=stream)
        return self

    def copydata(self, var: Variable) -> None:
        """Copy the elements of `var`; if one of the two has no array, it gets one first."""
        for sized, other in ((self, var), (var, self)):
            if sized.array is not None and isinstance(other, Parameter):
                other.initialize(sized.shape)
        if self.array is not None or var.array is not None:
            super().copydata(var)
            self.version += 1

    def update(self) -> None:
        """Change the array by the gradient, as the update rule says, if there is one."""
        if self.update_rule is not None:
            self.update_rule.update(self)


# `core.variable.Parameter`, where existing scripts look for it.
variable.Parameter = Parameter  # type: ignore[attr-defined]


def _as_shape(shape: Any) -> tuple[int, ...]:
    """A shape of whole numbers from 0 on, of which a single one is that of a vector."""
    sizes = (shape,) if is_whole(shape) or not hasattr(shape, "__iter__") else tuple(shape)
    if all(is_whole(size) and size >= 0 for size in sizes):
        return tuple(map(index, sizes))
    kind = ValueError if all(map(is_whole, sizes)) else TypeError
    raise kind(f"Parameter: expected a shape of whole numbers from 0 on, got {shape!r}.")


def _make(initializer: Any, shape: tuple[int, ...], device: Device, dtype: Any = None) -> Any:
    """A new array on `device`, filled by the initializer."""
    from core.link.initializer import generate_array

    with using_device(device):
        return generate_array(initializer, shape, device.backend.xp, dtype)
