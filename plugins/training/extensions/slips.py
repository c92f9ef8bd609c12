"""Misspelt names of observed values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from core.errors import place

_ALIKE = 0.8  # how much, for one name to be taken for a slip of another


def warn_of_slips(extension: str, asked: Iterable[str], reported: Iterable[str]) -> None:
    """Warn of names that nothing has reported, if a similar one was reported, or none of a model.

    A name without a near one may yet come: an evaluation is reported more rarely than a loss. What
    links report has slashes, which part the paths of links.
    """
    asked, reported = list(asked), list(reported)
    of_models = [name for name in asked if "/" in name]
    if of_models and not any("/" in name for name in reported):
        place.warn(
            f"{extension}: nothing has reported {of_models[0]!r} so far, nor anything else of a "
            "model. One reports by core.report({'loss': loss}, self) in its forward(), or is given "
            "to links.Classifier, which does."
        )
        return
    for name in asked:
        near = difflib.get_close_matches(name, reported, n=1, cutoff=_ALIKE)
        if near and near[0] != name and near[0] not in asked:
            place.warn(
                f"{extension}: nothing has reported {name!r} so far. Did you mean {near[0]!r}?",
            )
