"""Extensions as version 1 makes them, and what updaters over several processes are made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from core import Link, Parameter, training


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


def size_num_grads(link: Link) -> tuple[int, int]:
    """How many elements all parameters have together, and how many parameters have any."""
    parameters = _in_order(link)
    return sum([p.size for p in parameters]), len(parameters)


def gather_grads(link: Link) -> Any:
    """The gradients of all parameters, in the order of their paths, as one float32 array.

    Those of a parameter without a gradient are zeros.
    """
    return _gathered(link, "grad")


def gather_params(link: Link) -> Any:
    """The values of all parameters, likewise."""
    return _gathered(link, "array")


def scatter_grads(link: Link, array: Any) -> None:
    """Set the gradients of all parameters to what `gather_grads` gives."""
    _scatter(link, array, "grad")


def scatter_params(link: Link, array: Any) -> None:
    """Set the values of all parameters, likewise."""
    _scatter(link, array, "array")


def _in_order(link: Link) -> list[Parameter]:
    return [parameter for _, parameter in sorted(link.namedparams()) if parameter.size]


def _gathered(link: Link, what: str) -> Any:
    parts = [(p, getattr(p, what)) for p in _in_order(link)]
    return link.xp.concatenate(
        [link.xp.zeros(p.size, "f") if x is None else x.ravel().astype("f") for p, x in parts]
    )


def _scatter(link: Link, array: Any, what: str) -> None:
    parameters, first = _in_order(link), 0
    size = sum([p.size for p in parameters])
    if array.shape != (size,):
        raise ValueError(
            f"scatter_{'grads' if what == 'grad' else 'params'}: expected an array of shape "
            f"{(size,)}, as that link's parameters have so many elements, got {array.shape}."
        )
    for parameter in parameters:
        part = array[first : first + parameter.size].reshape(parameter.shape)
        setattr(parameter, what, part.astype(parameter.dtype))
        first += parameter.size
