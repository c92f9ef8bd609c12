"""What training is made of: updaters, triggers and the trainer's extensions."""

from __future__ import annotations

from core import hookimpl
from plugins.training import extensions, triggers, updaters


@hookimpl
def register_updaters() -> dict[str, str]:
    """The updaters, loaded when asked for."""
    return _lazily(updaters.__name__, updaters.provides)


@hookimpl
def register_triggers() -> dict[str, str]:
    """The triggers, loaded when asked for."""
    return _lazily(triggers.__name__, triggers.provides)


@hookimpl
def register_extensions() -> dict[str, str]:
    """The extensions, loaded when asked for."""
    return _lazily(extensions.__name__, extensions.provides)


def _lazily(package: str, provides: dict[str, str]) -> dict[str, str]:
    from core.registry import lazily

    return lazily(package, provides)
