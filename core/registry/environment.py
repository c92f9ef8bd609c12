"""What the installed plugins provide, found at the first look-up and never at `import core`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.errors import UnknownName, nearest
from core.registry.catalogues import Catalogue
from core.registry.facades import Facade, make_facade
from core.registry.index import Registry
from core.registry.kernel_claims import merge
from core.registry.kinds import FACADES, KINDS
from core.registry.wording import recall

installed = Registry()
"""The registry of this process."""

_catalogues = {kind: Catalogue(installed, kind) for kind in KINDS}


def catalogue(kind: str) -> Catalogue:
    """The catalogue of one kind: 'functions', 'links', 'backends', ...

    >>> catalogue("backends").get("numpy").name
    'numpy'
    >>> catalogue("function")
    Traceback (most recent call last):
    core.errors.UnknownName: No kind of plugin is called 'function'. Did you mean 'functions'?
    """
    if kind not in _catalogues:
        raise UnknownName(f"No kind of plugin is called {kind!r}.{nearest(kind, KINDS)}")
    return _catalogues[kind]


def kernels(backend: str) -> dict[str, dict[str, Callable[..., Any]]]:
    """Faster implementations for a backend: {'compute': {op: kernel}, 'gradient': ..., 'update'}.

    >>> sorted(kernels("no-such-backend"))
    ['compute', 'gradient', 'update', 'update_all']
    """
    return merge(installed.snapshot(), backend)


def absent() -> str:
    """End of a sentence about a miss: the failed or disabled plugins that might have helped.

    Empty where every plugin is in order; where plugrad itself is not installed, what to run.
    """
    snapshot = installed.snapshot()
    return recall(snapshot.plugins, snapshot.complete)[0]


def facade(module: str) -> Facade:
    """What the module of a facade is made of; see `core/functions/__init__.py`."""
    (kind,) = [kind for kind in FACADES if FACADES[kind] == module]
    return make_facade(installed, module, kind)
