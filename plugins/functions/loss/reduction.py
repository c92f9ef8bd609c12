"""The setting `reduce` that many losses have."""

from __future__ import annotations

from core.errors import nearest


def check_reduce(where: str, reduce: str, known: tuple[str, ...] = ("mean", "no")) -> None:
    """Refuse a reduction that the function `where` does not know.

    >>> check_reduce("hinge", "mean")
    >>> check_reduce("hinge", "maen")
    Traceback (most recent call last):
    ValueError: hinge: expected reduce to be 'mean' or 'no', got 'maen'. Did you mean 'mean'?
    """
    if reduce not in known:
        raise ValueError(
            f"{where}: expected reduce to be {' or '.join(map(repr, known))}, got {reduce!r}."
            + nearest(str(reduce), known)
        )
