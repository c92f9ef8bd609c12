"""Version 1's flags of three values: 'on', 'off' and 'auto'."""

from __future__ import annotations

from typing import Any


class Flag:
    """A flag: `Flag('on')`, `Flag(True)`; equal to what it is made of.

    >>> Flag(True), Flag("auto") == "auto"
    (on, True)
    """

    def __init__(self, value: Any) -> None:
        known = {True: "on", False: "off", None: "auto", "on": "on", "off": "off", "auto": "auto"}
        try:
            self.name: str = known[value.name if isinstance(value, Flag) else value]
        except (KeyError, TypeError):
            raise ValueError(
                f"Flag: expected 'on', 'off', 'auto' or a truth value, got {value!r}"
            ) from None

    def __eq__(self, other: object) -> bool:
        try:
            return self.name == Flag(other).name
        except ValueError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def __bool__(self) -> bool:
        if self.name == "auto":
            raise ValueError("the flag 'auto' is neither true nor false")
        return self.name == "on"

    def __repr__(self) -> str:
        return self.name


ON, OFF, AUTO = Flag("on"), Flag("off"), Flag("auto")


def aggregate_flags(flags: Any) -> Flag:
    """The flag of what is computed from several: on or off if one is so, else auto.

    Raises:
        ValueError: Some are on and others off.
    """
    names = {Flag(flag).name for flag in flags}
    if {"on", "off"} <= names:
        raise ValueError("ON and OFF flags cannot be mixed")
    return ON if "on" in names else OFF if "off" in names else AUTO
