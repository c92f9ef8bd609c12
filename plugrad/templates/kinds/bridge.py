"""The bridge `as_thing`."""

from collections.abc import Callable
from typing import Any

import core


def as_thing(link: core.Link) -> Callable[..., Any]:
    """Make a function of host arrays that computes what a link does in test mode."""

    def function(*arrays: Any) -> Any:
        with core.using_config("train", False), core.no_backprop_mode():
            return core.backend.to_host(link(*arrays).array)

    return function
