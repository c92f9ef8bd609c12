"""What a step leaves behind: each part is put where it belongs after a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from core.arrays.backend import BACKENDS, copyto, host
from core.errors import TraceError
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.programs import PLAIN, flattened
from core.tracing import TracedArray
from core.training import reporter


def stands_for(x: Any, held: Any) -> bool:
    """Whether there are the same objects in two structures, or the same numbers and text.

    As texts these tell what `==` does not: 1 from True and 1.0, and 0.0 from -0.0.
    """
    if x is held:
        return True
    if isinstance(x, dict):
        return isinstance(held, dict) and stands_for([*x, *x.values()], [*held, *held.values()])
    if isinstance(x, set):
        same = {each: each for each in held} if isinstance(held, set) else {}
        return x == held and all([stands_for(each, same[each]) for each in x])
    if isinstance(x, (tuple, list)):
        alike = isinstance(held, tuple if isinstance(x, tuple) else list)
        return alike and len(x) == len(held) and all(map(stands_for, x, held))
    known = (*PLAIN, host().xp.generic)
    return type(x) is type(held) and isinstance(x, known) and repr(x) == repr(held)


class Left(NamedTuple):
    """What a step leaves behind: `put(tree)` delivers it, the tree with arrays in it."""

    put: Callable[[Any], None]
    tree: Any


def scales_of(variables: list[Any]) -> list[Any]:
    """The factors that the last `backward` has put on gradients.

    A function for one that each replay reads, as the loss scale of an optimizer.
    """
    found = [variable.loss_scale for variable in variables]
    return [x._tape.places.numbers[id(x)] if isinstance(x, TracedArray) else x for x in found]


def deliver(variables: list[Any], arrays: Any, scales: list[Any]) -> None:
    """Give Variables their gradients, no array twice, and the factors that these have."""
    seen = set()
    for variable, array in zip(variables, arrays, strict=True):
        backend = BACKENDS[type(array)]
        memory, flags = backend.memory(array), getattr(array, "flags", None)
        if memory in seen or not getattr(flags, "writeable", True):
            array = backend.copy(array)
        elif backend.mutable:
            seen.add(memory)
        (variable._source or variable)._grad = array
    for variable, scale in zip(variables, scales, strict=True) if Variable._scaled else ():
        variable.loss_scale = scale() if callable(scale) else scale


def setting(own: dict[str, Any], name: str) -> Callable[[Any], None]:
    """What sets an attribute, by the attributes of its link."""

    def put(tree: Any) -> None:
        own[name] = tree

    return put


def reporting(observer: Any) -> Callable[[Any], None]:
    """What reports values of an observer."""
    return lambda values: reporter.report(values, observer)


def delivering(parameters: list[Any]) -> Callable[[Any], None]:
    """What gives parameters their gradients; None clears one."""
    scales = scales_of(parameters)

    def put(arrays: Any) -> None:
        each = zip(parameters, arrays, scales, strict=True)
        given = [found for found in each if found[1] is not None]
        for parameter in parameters:
            parameter.cleargrad()
        if given:
            deliver(*map(list, zip(*given, strict=True)))

    return put


def to_arguments(arguments: list[Any], graded: list[int]) -> Callable[[Any], None]:
    """What gives arguments of a run their gradients."""
    scales = scales_of([arguments[i] for i in graded])

    def put(arrays: Any) -> None:
        deliver([arguments[i] for i in graded], arrays, scales)

    return put


def counting(optimizer: Any, more: dict[str, int]) -> Callable[[Any], None]:
    """What counts the parts whose gradients a step has accumulated, as `accumulate` does."""

    def put(tree: Any) -> None:
        own, begun = vars(optimizer), optimizer._parts
        own.update({name: (own[name] if begun else 0) + n for name, n in more.items()})

    return put


def writing(parameters: list[Any], kept: list[bool]) -> Callable[[Any], None]:
    """What writes parameters, all at once: one may get what another one has.

    A parameter that has `kept` its array in the step gets new elements, others another array: the
    one before may be among what the step returns.
    """

    def put(arrays: Any) -> None:
        backend = parameters[0].backend
        own = {backend.memory(parameter._array) for parameter in parameters}
        arrays = [backend.copy(x) if backend.memory(x) in own else x for x in arrays]
        for parameter, array, in_place in zip(parameters, arrays, kept, strict=True):
            if in_place:
                copyto(parameter, array)
            else:
                parameter.array = array
            parameter.version += 1

    return put


def attributes(
    path: str, link: Any, before: dict[str, Any], kept: dict[str, Any], put: dict[str, Any]
) -> dict[str, Left]:
    """What a step has set attributes of a link to; refused where that is no array."""
    own, found = vars(link), {}
    for name in {**put, **own}:
        old, new = before.get(name), own.get(name)
        if name in kept and not stands_for(before[name], kept[name]):
            raise TraceError(f"capture: {path}/{name} has other entries after the step.")
        if new is put.get(name):
            continue
        held = isinstance(old, Variable) or is_array(old)
        if flattened(new)[0] or (held and new is None):
            found[name] = Left(setting(own, name), new)
        elif not (isinstance(new, PLAIN) and stands_for(new, old)):
            raise TraceError(
                f"capture: {path}/{name} goes from {old!r} to {new!r}, which is no array, and so "
                "would stay the same in each step."
            )
    return found
