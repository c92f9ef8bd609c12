"""Arguments of trainers in version 1: when an extension runs, given where it is made."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import wraps
from importlib import import_module
from inspect import getattr_static
from typing import Any

from core import Variable
from core.errors import RemovedArgument
from core.graph.fitting import is_array
from core.training import Extension, Trainer

_CALLERS = ("updaters.standard_updater", "updaters.parallel_updater", "extensions.evaluator")


def switch() -> None:
    """Take `invoke_before_training` of an extension, and call it before the training then."""
    extend = Trainer.extend
    loop: Any = sys.modules[extend.__module__]
    check = loop._check_extension

    def _check_extension(extension: Any) -> None:
        with suppress(RemovedArgument):  # of that attribute, which is read below
            check(extension)

    @wraps(extend)
    def extended(self: Any, extension: Any = None, *args: Any, **kwargs: Any) -> Any:
        before = kwargs.pop("invoke_before_training", None)
        if before is None:
            before = getattr_static(extension, "invoke_before_training", False) is True
        if before and not _initializes(extension):
            kwargs.setdefault("call_before_training", True)
        return extend(self, extension, *args, **kwargs)

    loop._check_extension = _check_extension
    Trainer.extend = extended  # type: ignore[method-assign]


def _initializes(extension: Any) -> bool:
    own = getattr(type(extension), "initialize", None)
    return own is not None and own is not Extension.initialize


def switch_arrays() -> None:
    """Let updaters and evaluators hand Variables to the loss, as in version 1."""
    for name in _CALLERS:
        module: Any = import_module(f"plugins.training.{name}")
        if hasattr(module, "call_with"):
            module.call_with = _with_variables(module.call_with)


def _with_variables(call: Any) -> Any:
    @wraps(call)
    def call_with(function: Any, arrays: Any, *rest: Any) -> Any:
        return call(function, _variables(arrays), *rest)

    return call_with


def _variables(arrays: Any) -> Any:
    if isinstance(arrays, tuple):
        return tuple(map(_variables, arrays))
    if isinstance(arrays, dict):
        return {name: _variables(x) for name, x in arrays.items()}
    return Variable(arrays) if is_array(arrays) else arrays
