"""The plugin contract: one hook for each row of `kinds`, returning name -> object or lazy string.

A plugin is a module (or any object) that an entry point of the group `plugrad` names. It implements
the hooks it needs, decorated with `core.hookimpl`, and may state `requires_plugin_api = 1`.

A string of the form `'package.module:attribute'` is imported when the name is first asked for, so
a plugin costs nothing until it is used. Hooks are called once, when a name is first looked up.
Within one plugin API, hooks are only ever added and only ever gain arguments, and an
implementation names just the arguments that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import fill
from typing import Any, TypeAlias

import pluggy

from core.registry.kinds import KINDS, Kind

hookspec = pluggy.HookspecMarker("plugrad")
hookimpl = pluggy.HookimplMarker("plugrad")

Provided: TypeAlias = Mapping[str, Any]


def _spec(kind: Kind) -> Callable[[], Provided]:
    def hook() -> Provided:
        return {}

    found = f" Users find the names in `{kind.facade}`." if kind.facade else ""
    text = f"Return name -> {kind.expected}, or a lazy string for it.{found}"
    hook.__name__ = hook.__qualname__ = kind.hook
    hook.__doc__ = "\n\n".join(fill(part, 100) for part in (f"{kind.meaning}.", text, kind.advice))
    return hookspec(hook)


# pluggy takes the functions of this module whose names are those of hooks.
globals().update({kind.hook: _spec(kind) for kind in KINDS.values()})


@hookspec
def register_kernels(backend: str) -> Mapping[str, Provided]:
    """Return faster implementations for the backend named `backend`, by section and class.

    Sections are 'compute' (`kernel(op, xp, *inputs)`), 'gradient' (`kernel(op, g, needs_grad)`),
    'update' (`kernel(rule, xp, param, grad, **state)`) and 'update_all', for all parameters in one
    call (`kernel(rule, xp, params, grads, states)`, see `core.optimizer.together`). Whose a kernel
    is, is said by the class of the operation or update rule itself, or by 'package.module:Class',
    which imports nothing: `{'compute': {'plugrad_mish.mish:Mish': kernel}}`. A subclass has none of
    it, since its formula may be another, unless its body says `kernels_of = Mish`.

    A kernel may return `NotImplemented`, and must give what the formula it replaces gives. Kernels
    for a class in your own package or for your own backend are used at once; those for somebody
    else's class on somebody else's backend wait for
    `core.plugins.prefer('kernels', 'Mish', 'your-distribution')`, with the class's own name.
    """
    return {}
