"""The common parts of schedules of hyper-parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any

from core.errors import nearest
from core.errors.place import warn
from core.errors.set_by_init import set_by_init
from core.link.serializer import AbstractSerializer, Deserializer
from core.training import Extension

if TYPE_CHECKING:
    from core.training import Loop


class Shift(Extension, ABC):
    """Base of extensions that change the number `attr` of an optimizer by a schedule.

    The number is set to `value_at(0)` before the first update and to `value_at(t)` by the t-th
    call, so the trigger (every iteration, unless extended with another) says what a step of the
    schedule is. A snapshot holds `t`, `init` and the number itself, which others may have set as
    well: a resumed run goes on with the same bits.

    `init` is where the schedule starts; None takes what the optimizer has. `optimizer` is by
    default the trainer's 'main'; with one given there need be no trainer: call the extension with
    None. Warns where another extension sets the same number.
    """

    _attr: str = set_by_init()
    _begun: bool = set_by_init()
    _init: float | None = set_by_init()

    def __init__(self, attr: str, init: float | None = None, optimizer: Any = None) -> None:
        self._attr = attr
        self._init = None if init is None else float(init)
        self._init_is_given = init is not None
        self._optimizer = optimizer
        self._begun = False
        self._loaded: float | None = None
        self._t = 0
        self._at = -1  # the iteration of the latest step
        self._is_resumed = False  # so that the step of that iteration has been made

    @abstractmethod
    def value_at(self, t: int) -> float:
        """The number after `t` calls."""

    @property
    def init(self) -> float:
        """The start of the schedule; raises RuntimeError while it is not known."""
        if self._init is None:
            raise RuntimeError(
                f"{type(self).__name__}: expected to know the first value of {self._attr!r}. "
                "Pass init=..., or let the training begin."
            )
        return self._init

    @property
    def attr(self) -> str:
        """The name of the number."""
        return self._attr

    @property
    def given_init(self) -> float | None:
        """Where the schedule starts, if that was given when it was made."""
        return self._init if self._init_is_given else None

    def begin_at(self, init: float) -> Shift:
        """Start from `init`, unless a start was given before; returns itself."""
        if not self._init_is_given:
            self._init = init
        return self

    def initialize(self, trainer: Loop) -> None:
        """Set the number to where the schedule begins, or to what it was in the snapshot."""
        if self._optimizer is None:
            self._optimizer = trainer.updater.get_optimizer("main")
        present = getattr(self._optimizer, self._attr, None)
        if not isinstance(present, Real):
            raise self._unfit()
        if self._init is None:
            self._init = float(present)
        if not self._begun:
            self._tell_of_others(trainer)
        self._begun = True
        self._set(self.value_at(self._t) if self._loaded is None else self._loaded)

    def _tell_of_others(self, trainer: Loop | None) -> None:
        """Warn of schedules of the same number that have begun before."""
        known = [] if trainer is None else trainer.extension_order()
        for name, other in [(name, entry.extension) for name, entry in known]:
            if not isinstance(other, Shift) or not other._begun or other is self:
                continue
            if other._optimizer is self._optimizer and other._attr == self._attr:
                warn(
                    f"{type(self).__name__}: {self._attr!r} of {type(self._optimizer).__name__} is "
                    f"set by {name!r} too, and whoever sets it last decides. Extend with one, as "
                    "WarmupShift(..., then=...), or FunctionShift for any other schedule."
                )

    def __call__(self, trainer: Loop) -> None:
        """Go one step on."""
        if not self._begun:
            self.initialize(trainer)
        is_resumed, self._is_resumed = self._is_resumed, False
        now = -1 if trainer is None else trainer.updater.iteration
        if is_resumed and -1 != self._at == now:
            return
        self._t, self._at = self._t + 1, now
        self._set(self.value_at(self._t))

    def _set(self, value: float) -> None:
        try:
            setattr(self._optimizer, self._attr, value)
        except AttributeError:  # Adam's `lr` follows from others
            raise self._unfit() from None

    def _unfit(self) -> AttributeError:
        known = self._optimizer.hyperparam.get_dict() if self._has_hyperparam() else {}
        names = f", one of {', '.join(map(repr, known))}" if known else ""
        return AttributeError(
            f"{type(self).__name__}: expected the name of a number that can be set on "
            f"{type(self._optimizer).__name__}{names}; got {self._attr!r}."
            f"{nearest(self._attr, known)}"
        )

    def _has_hyperparam(self) -> bool:
        return hasattr(self._optimizer, "hyperparam")

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load the steps made, where they began and where they led.

        State of a schedule of another number is refused.
        """
        serializer.statement("attr", self._attr, self._misfit)
        present = getattr(self._optimizer, self._attr) if self._begun else self._loaded
        self._t = int(serializer("t", self._t))
        self._at = int(serializer.optional_value("at", self._at))
        init = _number(serializer("init", self._init))
        value = _number(serializer("value", present))
        if not isinstance(serializer, Deserializer):
            return
        if not self._init_is_given:
            self._init = init
        self._loaded = value
        self._is_resumed = True
        # A snapshot that loads itself when the run begins comes after this extension's turn.
        if self._begun and value is not None:
            self._set(value)

    def _misfit(self, attr: str) -> str:
        if attr == self._attr:
            return ""
        return f"a schedule of {self._attr!r} expected; the state in the file is that of {attr!r}"


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def power(base: float, exponent: float) -> float:
    """`base ** exponent` of what is not negative, infinite where that is beyond all floats."""
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def until(target: float | None, value: float, init: float) -> float:
    """`value`, on its way from `init`; or `target`, once that has been passed."""
    if target is None or value == init:
        return value
    return min(value, target) if value > init else max(value, target)
