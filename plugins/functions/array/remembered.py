"""Domains of operations in the general form, which has no plans: what fits is remembered here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core import Domain
from core.arrays.spec import Spec

MOST = 4096  # sets of inputs; sequences of any lengths make ever new ones


class RememberingDomain(Domain):
    """A domain that checks inputs of the same specs once for the same settings.

    The settings must be all that the operation's conditions look at beside the inputs.
    """

    def __init__(self, *args: Any, **kwds: Any) -> None:
        super().__init__(*args, **kwds)
        self._fitting = set[Any]()

    def check(
        self, label: str, names: Sequence[str], specs: Sequence[Spec], op: Any = None
    ) -> None:
        """Raise InvalidType unless inputs with these specs fit."""
        given = (*specs, *[getattr(op, name) for name in self.settings])
        if given in self._fitting:
            return
        super().check(label, names, specs, op)
        if len(self._fitting) >= MOST:
            self._fitting.clear()
        self._fitting.add(given)
