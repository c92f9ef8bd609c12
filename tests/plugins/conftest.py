"""Environments of made-up plugins, so that the policy is tested without installing anything."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from core import hookimpl
from core.registry import Catalogue, Registry
from core.registry.settings import read

NOWHERE = Path("no-such-folder")


class Entry:
    """An entry point: what `importlib_metadata` would give for one line of a pyproject."""

    def __init__(self, distribution, subject, name=None, version="1.0"):
        self.name = name or distribution
        self.value = f"{distribution.replace('-', '_')}.hooks"
        self.dist = SimpleNamespace(name=distribution, version=version)
        self.subject = subject
        self.loads = 0

    def load(self):
        self.loads += 1
        if isinstance(self.subject, BaseException):
            raise self.subject
        return self.subject() if callable(self.subject) else self.subject


class Environment:
    """A registry over given entries and settings."""

    def __init__(self, entries, environ=None, directory=None):
        self.entries = list(entries)
        self.registry = Registry(
            lambda: self.entries, lambda: read(environ or {}, directory or NOWHERE)
        )

    def __getattr__(self, kind):
        return Catalogue(self.registry, kind)

    def plugin(self, distribution):
        (found,) = [p for p in self.registry.plugins() if p.distribution == distribution]
        return found


def module(*, api=None, kernels=None, **kinds):
    """A plugin module whose hooks return the given mappings."""
    made = SimpleNamespace()
    if api is not None:
        made.requires_plugin_api = api
    for kind, given in kinds.items():
        setattr(made, f"register_{kind}", hookimpl(_returning(given)))
    if kernels is not None:

        def register_kernels(backend):
            return kernels(backend)

        made.register_kernels = hookimpl(register_kernels)
    return made


def _returning(given):
    def hook():
        if isinstance(given, BaseException):
            raise given
        return given

    return hook


@pytest.fixture
def make():
    """`make.entry`, `make.module` and `make.environment`."""
    return SimpleNamespace(entry=Entry, module=module, environment=Environment)
