"""Which numbers of optimizers a step itself reads or sets, while it is recorded.

The text of a step tells what its attributes are called, not whose they are: `self.t` of a link is
called as the count of an optimizer's steps, which is another number in each step.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from core.capturing.reached import Name, is_own
from core.optimizer import Hyperparameter, Optimizer, ParameterGroup, UpdateRule
from core.programs import PLAIN

Asked = dict[tuple[int, str], tuple[Name, Any]]

_WATCHED: tuple[Any, ...] = (Optimizer, UpdateRule, Hyperparameter, ParameterGroup)
_lock = threading.Lock()
_under_way: list[tuple[Asked, Any, int]] = []  # recordings, globals of their steps, threads
_undo: list[Callable[[], None]] = []


@contextmanager
def optimizers_watched(scope: Any) -> Iterator[Asked]:
    """A context with the numbers that a step has asked for so far, as they were then.

    What asks is code with these globals, or of the user's own, not what updates are made of, and
    not another thread.
    """
    asked: Asked = {}
    with _lock:
        if not _under_way:
            for cls in _WATCHED:
                _watch(cls, "__getattribute__")
                _watch(cls, "__setattr__")
        _under_way.append((asked, scope, threading.get_ident()))
    try:
        yield asked
    finally:
        with _lock:
            _under_way[:] = [each for each in _under_way if each[0] is not asked]
            while _undo and not _under_way:
                _undo.pop()()


def _watch(cls: Any, method: str) -> None:
    before, inner = vars(cls).get(method), getattr(cls, method)

    def noting(self: Any, name: str, *value: Any) -> Any:
        asking, thread = sys._getframe(1), threading.get_ident()
        own = is_own(asking.f_code.co_filename, asking.f_globals.get("__name__"))
        for asked, scope, recording in _under_way.copy():
            if recording == thread and (own or asking.f_globals is scope):
                _note(asked, self, name)
        return inner(self, name, *value)

    setattr(cls, method, noting)
    _undo.append(lambda: setattr(cls, method, before) if before else delattr(cls, method))


def _note(asked: Asked, owner: Any, name: str) -> None:
    numbers = owner.get_dict() if isinstance(owner, Hyperparameter) else ()
    for key in numbers if name in ("get_dict", "__dict__") else [name]:
        value = getattr(owner, key, None)
        if type(value) in PLAIN:
            label = f"{type(owner).__name__}.{key}"
            asked.setdefault((id(owner), key), (Name(label, owner, key), value))
