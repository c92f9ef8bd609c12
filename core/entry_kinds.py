"""What each entry of the configuration may be, and how an environment variable says it."""

from __future__ import annotations

import os
from typing import Any

from core.errors import nearest

_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("", "0", "false", "no", "off"), False),
}


class Flag:
    """True or False; 1, 0 and the truth values of array libraries are taken as well."""

    expected = "True or False"
    written = "1, true, yes or on, or 0, false, no or off"
    words: tuple[str, ...] = ()

    def accepts(self, value: Any) -> bool:
        """Whether `value` is one."""
        kind = type(value)
        return kind is bool or (kind is int and value in (0, 1)) or kind.__name__.startswith("bool")

    def read(self, text: str) -> Any:
        """The value that a text means; the text itself where it means none."""
        return _WORDS.get(text.strip().lower(), text)


class Choice:
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        *others, last = map(repr, words)
        self.expected = self.written = f"{', '.join(others)} or {last}"

    def accepts(self, value: Any) -> bool:
        """Whether `value` is one of them."""
        return isinstance(value, str) and value in self.words

    def read(self, text: str) -> Any:
        """The word itself."""
        return text


class FloatingDtype(Choice):
    """A floating-point dtype of whatever library, or its name."""

    def accepts(self, value: Any) -> bool:
        """Whether `value` is one; that of mixed precision has the name of its arrays' dtype."""
        if isinstance(value, str):
            return value in self.words
        names = (getattr(value, "name", None), getattr(value, "__name__", None), str(value))
        return any(str(name).rpartition(".")[2] in self.words for name in names)


FLAG = Flag()
TERNARY = Choice("always", "auto", "never")
FLOATING = FloatingDtype("float16", "bfloat16", "float32", "float64")

KINDS: dict[str, Flag | Choice] = {
    "train": FLAG,
    "enable_backprop": FLAG,
    "debug": FLAG,
    "type_check": FLAG,
    "keep_graph_on_report": FLAG,
    "dtype": FLOATING,
    "use_cudnn": TERNARY,
    "use_cudnn_tensor_core": TERNARY,
    "cudnn_deterministic": FLAG,
    "autotune": FLAG,
    "warn_nondeterministic": FLAG,
    "in_recomputing": FLAG,
}


def check(name: str, value: Any) -> None:
    """Raise ValueError where the entry `name` cannot be `value`; others may be anything.

    >>> check("train", "no")
    Traceback (most recent call last):
    ValueError: config.train: expected True or False, got 'no'.
    """
    kind = KINDS.get(name)
    if kind is not None and not kind.accepts(value):
        hint = nearest(value, kind.words) if isinstance(value, str) else ""
        raise ValueError(f"config.{name}: expected {kind.expected}, got {value!r}.{hint}")


def from_environment(name: str, default: Any) -> Any:
    """What the variable of an entry says, as PLUGRAD_DEBUG; the default where it is not set."""
    variable = f"PLUGRAD_{name.upper()}"
    text = os.environ.get(variable)
    kind = KINDS[name]
    if text is None or (not text and kind is not FLAG):
        return default
    value = kind.read(text)
    if not kind.accepts(value):
        raise ValueError(f"{variable}: expected {kind.written}, got {text!r}. Change or unset it.")
    return value
