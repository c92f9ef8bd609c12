"""Which parameters are frozen: the same in all copies of a model."""

from __future__ import annotations

from collections.abc import Collection

from core import Link


def frozen_in(model: Link) -> list[str]:
    """The paths of the parameters that are frozen.

    >>> import core.links as L
    >>> model, copy = L.Linear(2, 1), L.Linear(2, 1)
    >>> model.b.frozen = True
    >>> freeze(copy, frozen_in(model))
    >>> copy.W.frozen, copy.b.frozen
    (False, True)
    """
    return [path for path, parameter in model.namedparams() if parameter.frozen]


def freeze(model: Link, paths: Collection[str]) -> None:
    """Freeze the parameters of these paths, and no others."""
    for path, parameter in model.namedparams():
        parameter.frozen = path in paths
