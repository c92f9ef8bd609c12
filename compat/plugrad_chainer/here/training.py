"""Extensions as version 1 makes them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from core import training


def make_extension(
    trigger: Any = None,
    default_name: Any = None,
    priority: Any = None,
    *args: Any,
    invoke_before_training: bool = False,
    **kwargs: Any,
) -> Callable[[Any], Any]:
    """`core.training.make_extension`, with version 1's `invoke_before_training`."""
    if args and isinstance(args[0], bool):  # where later versions have another argument
        invoke_before_training, *rest = args
        args = tuple(rest)
    make = training.make_extension(trigger, default_name, priority, *args, **kwargs)

    def decorate(function: Any) -> Any:
        made = make(function)
        if invoke_before_training:
            made.invoke_before_training = True
        return made

    return decorate


def snapshot(*args: Any, **kwargs: Any) -> Any:
    """`extensions.snapshot`, with version 1's `trigger`."""
    return _triggered(training.extensions.snapshot, args, kwargs)


def snapshot_object(*args: Any, **kwargs: Any) -> Any:
    """`extensions.snapshot_object`, with version 1's `trigger`."""
    return _triggered(training.extensions.snapshot_object, args, kwargs)


def _triggered(make: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    trigger = kwargs.pop("trigger", None)
    extension = make(*args, **kwargs)
    if trigger is not None:
        extension.trigger = trigger
    return extension


def is_graphviz_available() -> bool:
    """Whether graphs can be drawn by the command `dot`."""
    return shutil.which("dot") is not None
