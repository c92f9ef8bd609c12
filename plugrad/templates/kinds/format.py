"""The format `thing`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import core


def thing(model: Callable[..., Any], inputs: tuple[Any, ...], file: str) -> None:
    """Write a model as a Python module that needs NumPy alone."""
    with core.using_config("train", False), core.no_backprop_mode():
        program = core.trace(model, *inputs)
    Path(file).write_text(program.source(), encoding="utf-8")
