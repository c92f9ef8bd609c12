"""A step of an optimizer that is made as the one before it was, for the same parameters.

A step finds out about each parameter whether its gradient fits, what its rule keeps and where,
which rules are alike. What the last one found is kept here, and looked at before the next: where
something is not as it was, that one finds out anew. Numbers such as rates are read each time. So
all steps have the same bits, and those of small networks take half of the time.

Hooks of the optimizer are called in between. Where those before the step change more than
gradients, as by freezing a rule, the rest of it is made as if nothing had been prepared.

A kernel for all parameters may have an attribute `prepared`: of `(params, states)` it gives
`call(rule, grads)`, which does what the kernel does for parameters of these shapes and dtypes, or
None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, NamedTuple, Self

from core.arrays.backend import Backend, host
from core.graph.variable import Variable
from core.optimizer.step import Step
from core.optimizer.update_rule import UpdateRule

_OF_RULES = ("_run", "_count", "_prepare", "_work_on", "_run_step", "update", "check")
_FLOATS = ("float32", "float64")  # 16 bits have masters


class _Member(NamedTuple):
    """A parameter with its rule, and all that has to be unchanged for the next step."""

    parameter: Any
    source: Any  # which has the gradient
    spec: Any  # of array and gradient
    array: Any
    rule: Any
    hyperparam: Any
    own: dict[str, Any]  # numbers of this rule alone
    state: dict[str, Any]
    kept: list[int]  # the arrays of the state, by identity

    @classmethod
    def of(cls, parameter: Any, rule: Any) -> Self:
        """A parameter and its rule as they are now."""
        numbers, state = rule.hyperparam, rule._state
        own, kept = dict(numbers.__dict__), [*map(id, state.values())]
        at = parameter, parameter._source, parameter._spec, parameter._array
        return cls(*at, rule, numbers, own, state, kept)


class _Launch(NamedTuple):
    """Members whose steps one call makes; the call gives the positions of those that it leaves."""

    rules: list[Any]
    parameters: list[Any]
    call: Callable[[Any, list[Any]], Iterable[int] | None]


class PreparedStep:
    """What `optimizer.update()` does, where it would find what it found in the last step.

    >>> import core, core.links as L, numpy as np
    >>> from core.optimizer.prepared import PreparedStep
    >>> link = L.Linear(1, 1, initialW=0.0)
    >>> optimizer = core.optimizers.SGD(lr=0.5).setup(link)
    >>> link.W.grad = np.ones((1, 1), "f")
    >>> optimizer.update()
    >>> prepared = PreparedStep.of(optimizer, {})
    >>> prepared.made(optimizer), link.W.array.item(), optimizer.t
    (True, -1.0, 2)
    >>> link.W.update_rule.enabled = False
    >>> prepared.made(optimizer), link.W.array.item(), optimizer.t
    (False, -1.0, 2)
    """

    def __init__(self, optimizer: Any, members: list[_Member], passed: list[Any]) -> None:
        self._kind = type(optimizer)
        self._attributes = len(optimizer.__dict__)  # a method of its own would be one more
        self._parameters = [*optimizer.target.params(False)]
        self._members = members
        self._passed = passed  # parameters and their rules, which have no step to make
        self._alone: list[tuple[Any, Any, Callable[[Any], None]]] = []
        self._launches: list[_Launch] = []
        self._group()

    @classmethod
    def of(cls, optimizer: Any, methods: Mapping[str, Any]) -> Self | None:
        """The next step of an optimizer that has made one; None where there is more to be done.

        That is so with hooks of rules, a loss scale, 16-bit parameters, and where rules, or the
        optimizer itself, have other methods than those whose place a prepared step takes.
        """
        if optimizer._loss_scale is not None:
            return None
        kind, its_own = type(optimizer), optimizer.__dict__
        if any([name in its_own or getattr(kind, name) is not methods[name] for name in methods]):
            return None
        members, passed = [], []
        for parameter in optimizer.target.params(False):
            rule = parameter.update_rule
            if _has_no_step(parameter, rule):
                passed.append((parameter, rule))
            elif rule is None or not _is_plain(parameter, rule):
                return None
            else:
                members.append(_Member.of(parameter, rule))
        return cls(optimizer, members, passed) if members else None

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of an optimizer finds out about its own parameters

    def _group(self) -> None:
        """Group the members whose steps one call can make."""
        backend = host()
        together: dict[Any, list[_Member]] = {}
        for member in self._members:
            rule = member.rule
            kernel = backend.update_all_kernels.get(type(rule)) if rule.follows_step else None
            if kernel is None:
                run = rule._run_step if rule.follows_step else rule.update_core
                self._alone.append((rule, member.parameter, run))
            else:
                alike = kernel, type(rule), rule.t, member.hyperparam.key()
                together.setdefault(alike, []).append(member)
        for (kernel, *_), members in together.items():
            rules = [member.rule for member in members]
            parameters = [member.parameter for member in members]
            arrays, states = [m.array for m in members], [m.state for m in members]
            prepared = getattr(kernel, "prepared", None)
            call = prepared(arrays, states) if prepared is not None else None
            if call is None:
                call = _launching(kernel, backend, arrays, states)
            self._launches.append(_Launch(rules, parameters, call))

    def made(self, optimizer: Any) -> bool:
        """Make the step if nothing has changed since the last one; whether it was made."""
        if not self._holds(optimizer):
            return False
        if optimizer._hooks:
            steps = [Step(m.parameter, m.rule, m.source._grad) for m in self._members]
            optimizer._make(steps, self)
            optimizer.call_hooks("post")
        else:
            optimizer.t += 1
            self._move()
        return True

    def moved(self, optimizer: Any) -> bool:
        """Make the steps after the hooks, unless these have changed more than gradients."""
        holds = self._holds(optimizer)
        if holds:
            self._move()
        return holds

    def _move(self) -> None:
        for rule, parameter, run in self._alone:
            rule._count()
            run(parameter)
            parameter.version += 1
        for rules, parameters, call in self._launches:
            for rule in rules:
                rule._count()
            for i in call(rules[0], [p._source._grad for p in parameters]) or ():
                rules[i]._run_step(parameters[i])
            for parameter in parameters:
                parameter.version += 1

    def _holds(self, optimizer: Any) -> bool:
        if (
            type(optimizer) is not self._kind
            or optimizer._loss_scale is not None
            or len(optimizer.__dict__) != self._attributes
        ):
            return False
        parameters = [*optimizer.target.params(False)]
        known = self._parameters
        if len(parameters) != len(known) or not all(map(is_, parameters, known)):
            return False
        if Variable._scaled and any([p.loss_scale is not None for p in known]):
            return False
        for p, rule in self._passed:
            if p.update_rule is not rule or not _has_no_step(p, rule):
                return False
        together = all([rule.t == rules[0].t for rules, *_ in self._launches for rule in rules])
        return together and _hold(self._members)


def _hold(members: list[_Member]) -> bool:
    """Whether nothing about the members has changed, and their gradients fit."""
    for p, source, spec, array, rule, numbers, own, state, kept in members:
        if (
            p._source is not source
            or p._array is not array
            or p.update_rule is not rule
            or not rule.enabled
            or rule._hooks
            or rule._state is not state
            or rule.hyperparam is not numbers
            or numbers.__dict__ != own
            or [*map(id, state.values())] != kept
            or not array.flags.writeable
            or type(grad := source._grad) is not spec.type
            or grad.shape != spec.shape
            or grad.dtype != spec.dtype
        ):
            return False
    return True


def _has_no_step(parameter: Any, rule: Any) -> bool:
    """Whether a step passes a parameter by, without a word or a change."""
    if rule is not None and not rule.enabled:
        return True
    return parameter.grad is None and (rule is None or not parameter._frozen)


def _is_plain(parameter: Any, rule: Any) -> bool:
    """Whether the step of a parameter is no more than that of its rule."""
    spec, source = parameter._spec, parameter._source
    return (
        source is not None
        and type(source._grad) is spec.type
        and spec.backend is host()
        and spec.dtype.name in _FLOATS
        and rule._master is None
        and not rule._hooks
        and type(rule._state) is dict
        and all([getattr(type(rule), name) is getattr(UpdateRule, name) for name in _OF_RULES])
    )


def _launching(
    kernel: Any, backend: Backend, arrays: Any, states: Any
) -> Callable[[Any, list[Any]], Iterable[int] | None]:
    """The call of a kernel that is not prepared for these parameters."""

    def call(rule: Any, grads: list[Any]) -> Iterable[int] | None:
        found: Iterable[int] | None = kernel(rule, backend.xp, arrays, grads, states)
        return found

    return call
