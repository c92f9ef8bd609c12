"""Links as programs for Chainer make and call them: with the arguments of version 1.

The classes are plugrad's own, whose methods are exchanged when they are first asked for: so models
of the bundled links, and classes derived from them, take the arguments too.
"""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

from plugrad_chainer import version_1
from plugrad_chainer.version1.keywords import accepting, is_a_program, signatures

from core import links

_done: set[str] = set()


def __getattr__(name: str) -> Any:
    """A link, or an alias that version 1 had."""
    if version_1() and name in _OTHER_IN_VERSION_1:
        return _OTHER_IN_VERSION_1[name]()
    link: Any = getattr(links, name)
    if name not in _done and isinstance(link, type):
        _done.add(name)
        if version_1() and name in _DEFAULTS_OF_VERSION_1:
            cls: Any = link
            cls.__init__ = _with_default(cls.__init__, *_DEFAULTS_OF_VERSION_1[name])
        for method in ("__init__", "__call__", "extract"):
            old = signatures().get(f"links.{name}.{method}")
            own = "forward" if method == "__call__" else method
            if old is not None:
                setattr(link, own, accepting(getattr(link, own), old, skip=1))
    return link


_DEFAULTS_OF_VERSION_1: dict[str, tuple[str, Any]] = {
    "BatchNormalization": ("initial_avg_var", 0),
    "LSTM": ("forget_bias_init", 0),
    "StatelessLSTM": ("forget_bias_init", 0),
    "ConvolutionND": ("nobias", True),
    "DeconvolutionND": ("nobias", True),
}


def _with_default(init: Any, name: str, value: Any) -> Any:
    @wraps(init)
    def with_default(self: Any, *args: Any, **kwargs: Any) -> None:
        other = name == "nobias" and kwargs.get("initial_bias") is not None
        if other or not is_a_program(sys._getframe(1)):
            init(self, *args, **kwargs)
            return
        init(self, *args, **{name: value, **kwargs})

    return with_default


def _gru() -> Any:
    class GRU(links.StatelessGRU):
        """Version 1's GRU: without state, and the size of the output comes first."""

        def __init__(self, n_units: int, n_inputs: int | None = None, **kwargs: Any) -> None:
            super().__init__(n_units if n_inputs is None else n_inputs, n_units, **kwargs)

    return GRU


_made: dict[str, Any] = {}


def _once(name: str, make: Any) -> Any:
    if name not in _made:
        _made[name] = make()
    return _made[name]


_OTHER_IN_VERSION_1 = {"GRU": lambda: _once("GRU", _gru)}
