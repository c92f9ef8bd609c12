"""Which of a weight's two fans an initializer scales by."""

from __future__ import annotations

from core.errors import nearest

OPTIONS = ("fan_in", "fan_out")


def by_option(option: str, fans: tuple[int, int]) -> int:
    """The fan that `option` names.

    >>> from plugins.initializers.fans import by_option
    >>> by_option("fan_out", (75, 200))
    200
    """
    if option not in OPTIONS:
        raise ValueError(
            f"fan_option: expected 'fan_in' or 'fan_out', got {option!r}."
            + nearest(str(option), OPTIONS)
        )
    return fans[OPTIONS.index(option)]
