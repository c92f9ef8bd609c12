"""Hooks that are called around links: before and after `forward`.

A hook given to `with` sees every link that its thread calls in the block; one given to
`link.add_hook` sees that link alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from core.graph.debug import links as links_called
from core.registry.configuration import current_state
from core.registry.hook import Hook

if TYPE_CHECKING:
    from core.link.link import Link


class ForwardArgs(NamedTuple):
    """What a hook gets: the link, the name of its method, and the arguments of the call.

    `out` is None before the call, and what the link gave after it.
    """

    link: Link
    forward_name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    out: Any = None


class LinkHook(Hook):
    """Base of link hooks; a subclass overrides the methods that it needs.

    `name` tells hooks apart: of one name there is one at a time.

    >>> import core
    >>> class Names(core.LinkHook):
    ...     name = "Names"
    ...     def forward_preprocess(self, args):
    ...         print(type(args.link).__name__)
    >>> class Double(core.Link):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> with Names():
    ...     y = Double()(3)
    Double
    """

    name: str = "LinkHook"
    _installed_as = "link_hooks"

    def added(self, link: Link | None, /) -> None:
        """Called when the hook is registered: with `link`, or None for all in a `with` block."""

    def deleted(self, link: Link | None, /) -> None:
        """Called when the hook is removed: from `link`, or with None from all."""

    def forward_preprocess(self, args: ForwardArgs, /) -> None:
        """Called before a link is called."""

    def forward_postprocess(self, args: ForwardArgs, /) -> None:
        """Called after a link was called; `args.out` is its result."""

    def forward_interrupted(self, args: ForwardArgs, /) -> None:
        """Called if an exception came in between: undo what `forward_preprocess` has done."""


def call_observed(link: Link, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `link.forward` with the hooks around it; in debug mode errors can name its path."""
    hooks = [*current_state().link_hooks.values(), *link.local_link_hooks.values()]
    told = ForwardArgs(link, "forward", args, kwargs)
    begun: list[LinkHook] = []
    forward = _call_in_path if current_state().debug else _call
    try:
        for hook in hooks:
            hook.forward_preprocess(told)
            begun.append(hook)
        told = told._replace(out=forward(link, args, kwargs))
        while begun:
            begun.pop(0).forward_postprocess(told)
    except BaseException:
        for hook in begun:
            hook.forward_interrupted(told)
        raise
    return told.out


def _call(link: Link, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return link.forward(*args, **kwargs)


def _call_in_path(link: Link, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    token = links_called.set((*links_called.get(), link))
    try:
        return link.forward(*args, **kwargs)
    finally:
        links_called.reset(token)
