"""The plugin contract: one hook a kind, each returning name -> object or lazy string.

A plugin is a module (or any object) that an entry point of the group `plugrad` names. It implements
the hooks it needs, decorated with `core.hookimpl`, and may state `requires_plugin_api = 1`.

A string of the form `'package.module:attribute'` is imported when the name is first asked for, so
a plugin costs nothing until it is used. Hooks are called once, when a name is first looked up.
Within one plugin API, hooks are only ever added and only ever gain arguments, and an
implementation names just the arguments it wants.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pluggy

hookspec = pluggy.HookspecMarker("plugrad")
hookimpl = pluggy.HookimplMarker("plugrad")

Provided: TypeAlias = Mapping[str, Any]


@hookspec
def register_functions() -> Provided:
    """Return the functions to be found in `core.functions`: name -> callable on variables."""
    return {}


@hookspec
def register_links() -> Provided:
    """Return the links to be found in `core.links`: name -> subclass of `core.Link`."""
    return {}


@hookspec
def register_initializers() -> Provided:
    """Return what `core.initializers` offers: name -> subclass of `core.Initializer`."""
    return {}


@hookspec
def register_optimizers() -> Provided:
    """Return what `core.optimizers` offers: name -> subclass of `core.Optimizer`."""
    return {}


@hookspec
def register_optimizer_hooks() -> Provided:
    """Return what `core.optimizer_hooks` offers: name -> class of hooks for `add_hook`."""
    return {}


@hookspec
def register_function_hooks() -> Provided:
    """Return what `core.function_hooks` offers: name -> subclass of `core.FunctionHook`."""
    return {}


@hookspec
def register_link_hooks() -> Provided:
    """Return what `core.link_hooks` offers: name -> subclass of `core.LinkHook`."""
    return {}


@hookspec
def register_datasets() -> Provided:
    """Return what `core.datasets` offers: name -> dataset class, or function that makes one."""
    return {}


@hookspec
def register_iterators() -> Provided:
    """Return what `core.iterators` offers: name -> iterator class over the batches of a dataset."""
    return {}


@hookspec
def register_serializers() -> Provided:
    """Return what `core.serializers` offers: name -> serializer class, or a save/load function."""
    return {}


@hookspec
def register_updaters() -> Provided:
    """Return what `core.training.updaters` offers: name -> updater class."""
    return {}


@hookspec
def register_triggers() -> Provided:
    """Return what `core.training.triggers` offers: name -> class of callables on the trainer."""
    return {}


@hookspec
def register_extensions() -> Provided:
    """Return what `core.training.extensions` offers: name -> extension class or function."""
    return {}


@hookspec
def register_backends() -> Provided:
    """Return array backends: name, as in `core.use(name)` -> subclass of `core.backend.Backend`.

    A backend whose library is missing, or that has no device here, is registered all the same: its
    `unavailable()` gives the reason. Import the array library in the backend's methods or behind
    a lazy string, never in the module that implements this hook.
    """
    return {}


@hookspec
def register_kernels(backend: str) -> Mapping[str, Provided]:
    """Return faster implementations for the backend named `backend`, by section and class.

    Sections are 'compute' (`kernel(op, xp, *inputs)`), 'gradient' (`kernel(op, g, needs_grad)`) and
    'update' (`kernel(rule, xp, param, grad, **state)`). Whose a kernel is, is said by the class of
    the operation or update rule itself, or by 'package.module:Class', which imports nothing:
    `{'compute': {'plugrad_mish.mish:Mish': kernel}}`. A subclass has none of it, since its formula
    may be another, unless its body says `kernels_of = Mish`.

    A kernel may return `NotImplemented`, and must give what the formula it replaces gives. Kernels
    for a class in one's own package or for one's own backend are used at once; those for somebody
    else's class on somebody else's backend wait for
    `core.plugins.prefer('kernels', 'Mish', 'your-distribution')`, with the class's own name.
    """
    return {}


@hookspec
def register_namespace() -> Provided:
    """Return differentiable functions under the array standard's names: name -> callable.

    They make up what `Variable.__array_namespace__()` answers, hence what gradient rules see as
    `xp` while the graph of the backward is recorded: the standard's signatures and defaults.
    """
    return {}
