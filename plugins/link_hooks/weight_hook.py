"""What hooks have in common that let a link compute with a function of its weight."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from typing import Any
from weakref import WeakKeyDictionary

from core import Link, LinkHook, Parameter, Variable, no_backprop_mode
from core.errors import HookError, nearest
from core.link.hook import ForwardArgs
from core.typing import AnyArray

SIXTEEN_BIT = ("float16", "bfloat16")

_calls: WeakKeyDictionary[Link, Any] = WeakKeyDictionary()
"""For each link the lock that is held while another weight stands in its place.

A link has one weight for all threads, so one of them computes while the others wait.
"""

if hasattr(os, "register_at_fork"):  # a child has no thread that would release one
    os.register_at_fork(after_in_child=_calls.clear)


class WeightHook(LinkHook, ABC):
    """Puts `replacement(link, weight)` in the weight's place while the link is called.

    The parameter itself stays what is trained and saved. A weight without a size yet gets it in a
    call of `forward` of its own, without gradients.

    Args:
        weight_name: The parameter's name in the link.
        name: The hook's name; that of its class by default.
    """

    def __init__(self, weight_name: str, name: str | None) -> None:
        self.weight_name = weight_name
        self.name = name or type(self).__name__
        self._replaced: dict[int, list[Any]] = {}  # by link, for calls that are under way

    @abstractmethod
    def replacement(self, link: Link, weight: Variable) -> Variable:
        """What stands in the weight's place."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of what the hook keeps in the link beside the weight."""
        return ()

    def begun(self, link: Link, weight: Variable) -> list[AnyArray]:
        """The arrays of these names where it begins with such a weight, as one that is loaded."""
        return []

    def __enter__(self) -> Any:
        raise HookError(
            f"with {type(self).__name__}: expected link.add_hook(...), since this hook belongs to "
            "the weight of one link, and not to all links in a block."
        )

    def added(self, link: Link | None) -> None:
        """Check that the link has the weight."""
        name = self.weight_name
        known = [] if link is None else [known for known, _ in link._own_params()]
        if name not in known:
            raise HookError(
                f"{type(self).__name__}: expected a link with a parameter {name!r}, got a "
                f"{type(link).__name__} with {', '.join(known) or 'none'}.{nearest(name, known)}"
            )

    def forward_preprocess(self, args: ForwardArgs) -> None:
        """Replace the weight, but not once more in a link that calls itself."""
        lock = _calls.setdefault(args.link, threading.RLock())
        lock.acquire()
        try:
            self._replace(args)
        except BaseException:
            lock.release()
            raise

    def _replace(self, args: ForwardArgs) -> None:
        link, calls = args.link, self._replaced.setdefault(id(args.link), [])
        weight = link.__dict__[self.weight_name]
        if not calls:
            if weight.array is None:  # only forward knows the sizes
                with no_backprop_mode():
                    link.forward(*args.args, **args.kwargs)
            link.__dict__[self.weight_name] = self.replacement(link, weight)
        calls.append(weight)

    def forward_postprocess(self, args: ForwardArgs) -> None:
        """Put the parameter back; what another hook has replaced before is that hook's to undo."""
        calls = self._replaced[id(args.link)]
        weight = calls.pop()
        if isinstance(weight, Parameter):
            args.link.__dict__[self.weight_name] = weight
        if not calls:
            del self._replaced[id(args.link)]
        _calls[args.link].release()

    def forward_interrupted(self, args: ForwardArgs) -> None:
        """Put the parameter back, as after a call that ends."""
        self.forward_postprocess(args)
