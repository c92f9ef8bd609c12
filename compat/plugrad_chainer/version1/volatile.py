"""Volatile Variables: what is computed from one has no history, and is volatile itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from plugrad_chainer.marks import Marks
from plugrad_chainer.version1.flag import AUTO, OFF, ON, Flag, aggregate_flags

import core
from core import Parameter, Variable
from core.graph.variable import wrap
from core.graph.variable_node import VariableNode
from core.ops.general_form import GeneralForm
from core.ops.specialize import Variant

_NOT_GIVEN = object()
_flags = Marks()  # of those that are not off


class _Watch(core.FunctionHook):
    """Makes calls take the path on which volatile inputs are looked for; does nothing itself."""

    name = "volatile"


def switch() -> None:
    """Give Variables the argument and the attribute `volatile`."""
    init = Variable.__init__

    @wraps(init)
    def __init__(
        self: Any, data: Any = None, volatile: Any = _NOT_GIVEN, *rest: Any, **kwargs: Any
    ) -> None:
        kwargs.update(zip(("name", "grad"), rest, strict=False))
        init(self, data, **kwargs)
        if volatile is not _NOT_GIVEN:
            _set(self, volatile)

    Variable.__init__ = __init__  # type: ignore[method-assign]
    Variable.volatile = property(_get, _set, doc="Whether what is computed from it has no history.")


def switch_length() -> None:
    """Let `len` give the number of elements, as in version 1."""
    Variable.__len__ = lambda self: int(self.size)  # type: ignore[method-assign]


def _get(self: Any) -> Flag:
    return AUTO if isinstance(self, Parameter) else _flags.get(self, OFF)


def _set(self: Any, volatile: Any) -> None:
    flag = Flag(volatile)
    if flag == ON:
        _watch()
        self._source = None
        _flags.set(self, flag)
        return
    if _flags.get(self) == ON and self._source is None:
        self._source = VariableNode(self)
    _flags.drop(self)
    if flag == AUTO:
        _watch()
        _flags.set(self, flag)


def _watch() -> None:
    """Look for volatile inputs from now on, in this thread."""
    if "volatile" not in core.get_function_hooks():
        _Watch().__enter__()
    if not _patched:
        _patched.append(True)
        run, apply = Variant.run_hooked, GeneralForm._apply_generally

        def run_hooked(self: Any) -> Callable[..., Any]:
            plain = run.__get__(self, type(self))
            return lambda f, *inputs: _applied(lambda xs: plain(f, *xs), inputs)

        def _apply_generally(self: Any, inputs: Any) -> Any:
            return _applied(lambda xs: apply(self, xs), tuple(inputs))

        Variant.run_hooked = property(run_hooked)  # type: ignore[assignment]
        GeneralForm._apply_generally = _apply_generally  # type: ignore[method-assign]


_patched: list[bool] = []


def _applied(call: Callable[[tuple[Any, ...]], Any], inputs: tuple[Any, ...]) -> Any:
    """A call, without history where an input is volatile; its results then are too."""
    if all([_flags.get(x) != ON for x in inputs if isinstance(x, Variable)]):
        return call(inputs)
    aggregate_flags([_flag_of(x) for x in inputs])
    alone = tuple([wrap(x._array) if isinstance(x, Variable) else x for x in inputs])
    outputs = call(alone)
    for y in outputs if isinstance(outputs, tuple) else (outputs,):
        _set(y, ON)
    return outputs


def _flag_of(x: Any) -> Flag:
    """What an input says: parameters, arrays and what is computed say nothing."""
    if not isinstance(x, Variable) or isinstance(x, Parameter):
        return AUTO
    leaf = x.requires_grad and x.creator is None
    return _flags.get(x, OFF if leaf else AUTO)  # type: ignore[no-any-return]
