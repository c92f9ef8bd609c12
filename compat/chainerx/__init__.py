"""ChainerX is not built here: `is_available()` says so, as it does in a Chainer without it."""

from __future__ import annotations

from typing import Any

__all__ = ["ndarray", "is_available"]


class ndarray:
    """ChainerX's arrays: there are none, so nothing is an instance of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(_ABSENT)


_ABSENT = (
    "chainerx is not available: plugrad has no ChainerX. Use NumPy's arrays, which give the same "
    "results, or CuPy's on a GPU; chainerx.is_available() says which programs can ask."
)


def is_available() -> bool:
    """Never.

    >>> is_available()
    False
    """
    return False


def __getattr__(name: str) -> Any:
    """Refused as Chainer without ChainerX does, when it is called."""
    if name.startswith("__"):
        raise AttributeError(f"module 'chainerx' has no attribute {name!r}")

    def absent(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_ABSENT)

    return absent
