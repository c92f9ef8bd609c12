"""What each entry of the configuration may be, and how an environment variable says it."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias, get_args

from core.errors import nearest
from core.typing import DType

Ternary: TypeAlias = Literal["always", "auto", "never"]

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


class Count:
    """A number of things, at least 1, or None for as many as there are."""

    expected = "a whole number of at least 1, or None"
    written = "a whole number of at least 1"
    words: tuple[str, ...] = ()

    def accepts(self, value: Any) -> bool:
        """Whether `value` is one."""
        return value is None or (type(value) is int and value >= 1)

    def read(self, text: str) -> Any:
        """The number that a text means; the text itself where it means none."""
        return int(text) if text.strip().isdecimal() else text


FLAG = Flag()
TERNARY = Choice(*get_args(Ternary))
FLOATING = FloatingDtype("float16", "bfloat16", "float32", "float64")


class Entries:
    """The entries that the framework reads: the type of each, and its value at first."""

    train: bool = True
    enable_backprop: bool = True
    debug: bool = False
    type_check: bool = True
    keep_graph_on_report: bool = False
    dtype: DType = "float32"
    use_cudnn: Ternary = "auto"
    use_cudnn_tensor_core: Ternary = "auto"
    cudnn_deterministic: bool = False
    autotune: bool = False
    warn_nondeterministic: bool = False
    in_recomputing: bool = False
    num_threads: int | None = None
    capture: bool = True
    tf32: bool = False


_OF_TYPE: dict[str, Flag | Choice | Count] = {
    "bool": FLAG,
    "DType": FLOATING,
    "Ternary": TERNARY,
    "int | None": Count(),
}
KINDS = {n: _OF_TYPE[t] for n, t in Entries.__annotations__.items()}
_IN_ENVIRONMENT = (
    "debug",
    "type_check",
    "keep_graph_on_report",
    "dtype",
    "use_cudnn",
    "num_threads",
    "capture",
)


def at_first() -> dict[str, Any]:
    """Each entry's first value: what the environment says, or its default."""
    return {n: from_environment(n) if n in _IN_ENVIRONMENT else vars(Entries)[n] for n in KINDS}


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


def from_environment(name: str) -> Any:
    """What the variable of an entry says, as PLUGRAD_DEBUG; the default where it is not set."""
    variable = f"PLUGRAD_{name.upper()}"
    text = os.environ.get(variable)
    kind = KINDS[name]
    if text is None or (not text and kind is not FLAG):
        return vars(Entries)[name]
    value = kind.read(text)
    if not kind.accepts(value):
        raise ValueError(f"{variable}: expected {kind.written}, got {text!r}. Change or unset it.")
    return value
