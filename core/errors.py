"""What the core raises, and how it words it: the operation, what was expected, what came, the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CoreError(Exception):
    """Every error that the framework itself raises derives from this one."""


class BackendError(CoreError, TypeError):
    """An array that no backend knows, or arrays of several backends or devices in one operation."""


class BackendUnavailable(CoreError, RuntimeError):
    """A backend that is installed but cannot run here; the message says why and what can."""


class DeclarationError(CoreError, TypeError):
    """A declared class that contradicts itself; raised while the class is being created."""


class GraphError(CoreError, RuntimeError):
    """A computational graph used in a way it does not allow."""


class NotDifferentiable(GraphError):
    """A derivative was asked for that the operation does not have."""


class UnknownName(CoreError, AttributeError):
    """A name that nothing provides; the message offers the nearest one."""


class NameConflict(CoreError, AttributeError):
    """Two third-party plugins claim one name, and neither has been preferred."""


class PluginError(CoreError, RuntimeError):
    """A plugin that could not be loaded, or that broke the plugin contract."""


class RemovedArgument(CoreError, ValueError, TypeError):
    """An argument that the system once had; the message says what to write today."""


class CheckpointError(CoreError, ValueError):
    """A file of saved state that is damaged, foreign, or does not fit its target."""


def nearest(name: str, known: Iterable[str]) -> str:
    """End of a sentence that offers the nearest of `known`, or nothing where none is near.

    >>> nearest("rleu", ["relu", "tanh"])
    " Did you mean 'relu'?"
    >>> nearest("zzz", ["relu", "tanh"])
    ''
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""


def refuse_removed(where: str, given: dict[str, object], cures: dict[str, str]) -> None:
    """Raise for the first of the keywords `given` to `where`, with its cure if it is a former one.

    `cures` maps a former argument to the sentence that says what to write instead.
    """
    for key in given:
        if key in cures:
            raise RemovedArgument(f"{where}: the argument {key!r} no longer exists. {cures[key]}")
        raise TypeError(
            f"{where}: unexpected keyword argument {key!r}." + nearest(key, cures)
        )
