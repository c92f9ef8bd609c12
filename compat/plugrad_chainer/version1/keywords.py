"""Arguments of version 1 that later ones have no more: `train`, `test`, `use_cudnn`, `wscale`, ...

Each call that has them is made without them, with what they meant in force. Positions are those of
version 1 where a call gives more arguments than there are today, or under `CHAINER_COMPAT=1`.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

from plugrad_chainer import version_1

import core
from core import initializers

_OLD = {"train", "test", "use_cudnn", "deterministic", "volatile", "wscale", "bias"}


@cache
def signatures() -> dict[str, tuple[str, ...]]:
    """The arguments, in version 1, of functions and methods that have lost some since."""
    text = (Path(__file__).parents[1] / "names" / "1.24.0.signatures").read_text("utf-8")
    lines = [line.split() for line in text.splitlines()]
    return {name: tuple(arguments) for name, *arguments in lines}


def accepting(function: Callable[..., Any], old: tuple[str, ...], skip: int = 0) -> Any:
    """The function, which takes what it took in version 1 as well.

    Args:
        function: A function of today.
        old: Its arguments in version 1, without `self`.
        skip: How many arguments come before: 1 for methods.
    """
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    now = [p.name for p in parameters]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    most = len(positional) if all(p.kind != p.VAR_POSITIONAL for p in parameters) else 1_000
    gone = _OLD.intersection(old).difference(now)
    old_positions = version_1()
    first = int(old[0] in now)  # which later versions give by position as well

    @wraps(function)
    def accepted(*args: Any, **kwargs: Any) -> Any:
        count = len(args) - skip
        if count > most or (old_positions and count > first and is_a_program(sys._getframe(1))):
            named = dict(zip(old, args[skip:], strict=False))
            if count > len(old):
                name = type(args[0]).__name__ if skip else function.__name__
                raise TypeError(f"{name}: {count} arguments, where version 1 took {len(old)}")
            args = args[: skip + first]
            if first:
                del named[old[0]]
            kwargs = {**named, **kwargs}
        if not gone.isdisjoint(kwargs):
            given = {name: kwargs.pop(name) for name in gone & kwargs.keys()}
            with meaning(given, kwargs, now):
                return function(*args, **kwargs)
        return function(*args, **kwargs)

    return accepted


def is_a_program(frame: Any) -> bool:
    """Whether a call comes from a program, not from plugrad, which has today's positions.

    What wraps a method here stands between.
    """
    while frame.f_code.co_name in ("accepted", "with_default"):
        frame = frame.f_back
    caller = frame.f_globals.get("__name__", "")
    return caller.partition(".")[0] not in ("", "core", "plugins", "plugrad_chainer")


@contextlib.contextmanager
def meaning(given: dict[str, Any], kwargs: dict[str, Any], now: list[str]) -> Any:
    """A block in which old arguments have their meaning; those that became others join `kwargs`."""
    with contextlib.ExitStack() as stack:
        mode = given.get("train")
        if given.get("test") is not None:
            mode = not given["test"]
        if mode is not None:
            stack.enter_context(core.using_config("train", bool(mode)))
        if given.get("deterministic") is not None:
            flag = bool(given["deterministic"])
            stack.enter_context(core.using_config("cudnn_deterministic", flag))
        if given.get("volatile") not in (None, False, "off", "auto"):
            stack.enter_context(core.no_backprop_mode())
        if given.get("bias") is not None and kwargs.get("initial_bias") is None:
            kwargs["initial_bias"] = given["bias"]
        scale = given.get("wscale")
        if scale is not None and scale != 1:
            name = "conv_init" if "conv_init" in now else "initialW"
            if kwargs.get(name) is None:
                kwargs[name] = initializers.LeCunNormal(scale=scale)
        yield
