"""A recorded step: when it holds, and how it is replayed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import zip_longest
from operator import attrgetter, itemgetter
from typing import Any

from core.arrays.backend import (
    Device,
    host,
    on_kernels_changed,
    random_state,
    set_random_state,
)
from core.capturing.leaving import stands_for
from core.capturing.live import Live, variables_in
from core.capturing.names_around import Around
from core.errors import OutOfRange
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.programs import (
    PLAIN,
    Apart,
    Leaf,
    Program,
    builder,
    compiled,
    in_sequences,
    leaves,
    mapped,
    on_host,
    staged,
)
from core.registry.configuration import current_state

_kernels = [0]


def _count_change(backend: Any, key: str | None) -> None:
    _kernels[0] += 1


on_kernels_changed.append(_count_change)


class Unreplayable(Exception):
    """A recording that the library of its arrays cannot compute; nothing has changed."""


class Signature:
    """The structure of arguments, and the configuration."""

    def __init__(self, form: Any) -> None:
        self.form = form
        self.text = repr(form)
        self.settings = current_state().settings()

    def fits(self, form: Any) -> bool:
        """Whether arguments of this structure, and the present configuration, are the same."""
        return (
            form == self.form
            and repr(form) == self.text
            and current_state().settings() == self.settings
        )

    def other(self, form: Any) -> str:
        """What differs where arguments of the same shapes are of another signature, and a cure."""
        if form != self.form or repr(form) != self.text:
            return "Give numbers that change from call to call as arrays."
        return "The configuration, an attribute or a parameter is another in each call."


def unrecordable(form: Any, variables: list[Any]) -> str | None:
    """Why a step with such arguments is never recorded; None if it may be."""
    if any([x.requires_grad and x._grad is not None for x in variables]):
        return (
            "capture: expected Variables without gradients as arguments, got one whose "
            "gradient is to be added to. Give new Variables, or arrays."
        )
    for leaf in leaves(form):
        if not isinstance(leaf, (Leaf, *PLAIN, host().xp.generic)):
            return (
                "capture: expected arguments of arrays, numbers and text, got a "
                f"{type(leaf).__name__}."
            )
    return None


class Refusal(Signature):
    """What is left to eager."""


class Recording(Signature):
    """A program, what must be as it was at the recording, and what is done with the results.

    `first` is the program without loops, until another call has been recorded the same. One that
    `is_early` was made of the first call of all.
    """

    first: Program | None = None
    is_early: bool = False

    def __init__(
        self,
        program: Program,
        places: Live,
        around: Around,
        put: list[Callable[[Any], None]],
        device: Device,
        apart: Apart,
    ) -> None:
        super().__init__(program.form)
        self.program = program
        self._device = device if len(device.backend.devices()) > 1 else nullcontext()
        self._run: Callable[..., tuple[Any, ...]] | None = None
        self._staged: list[Any] = []
        self._built = builder(program.result)
        self._put = put
        self._kernels = _kernels[0]
        self._plain = all([isinstance(leaf, Leaf) for leaf in leaves(program.form)])
        self._parameters = [
            (p, p._spec, p._source is None, p._grad is None) for p, *_ in places.held
        ]
        self._own_parameters = {id(p) for p, *_ in places.held}
        self._arguments = places.arguments
        self._apart = apart
        links = [(vars(link), places.assigned[key]) for key, (_, link, *_) in places.links.items()]
        self._identical: list[tuple[Any, Any, Any]] = [
            *[(itemgetter(name), own, own[name]) for own, _ in links for name in own["_params"]],
            *[(attrgetter("_array"), p, None) for p in places.unmade],
        ]
        self._optimizers = places.optimizers
        held = {each.place for each in places.held}
        self._equal = [
            *[each for own, _ in links for each in _plain_attributes(own)],
            *[(_of_optimizer, o, _of_optimizer(o)) for o in places.optimizers],
            *[(_form, p.read, _form(p.read)) for p in program.places if p not in held],
        ]
        self._numbers = [each for own, _ in links for each in _numbers(own)]
        self._same_numbers = _comparison(self._numbers)
        self._objects = [each for own, put in links for each in _other_attributes(own, put)]
        self._outdated = places.outdated(program.places)
        self._around = around
        self._reads = [place.read for place in program.places]
        self._count = len(program.outputs)

    def fits(self, form: Any) -> bool:
        """Whether arguments have this structure, and all else is as it was at the recording."""
        if form != self.form or (not self._plain and repr(form) != self.text):
            return False
        return self.holds()

    def other(self, form: Any) -> str:
        """As in `Signature`; by name what the step names."""
        changed = self._around.changed()
        if form != self.form or repr(form) != self.text or not changed:
            return super().other(form)
        return f"{changed[0]} is another in each call: give it as an argument, an array."

    def holds(self) -> bool:
        """Whether everything except the arguments is as it was at the recording."""
        if _kernels[0] != self._kernels or current_state().settings() != self.settings:
            return False
        try:
            for look, x, found in self._identical:
                if look(x) is not found:
                    return False
            for look, x, found in self._equal:
                if look(x) != found:
                    return False
            same = self._same_numbers()
            for own, name, held in self._objects if same else [*self._numbers, *self._objects]:
                if not stands_for(own.get(name), held):
                    return False
        except (AttributeError, KeyError):  # there is nothing where something was
            return False
        return _stand(self._parameters) and self._around.holds()

    def unfit(self, given: Any, variables: list[Any]) -> str | None:
        """Why arguments do not fit the recording, each looked at by itself; None if they do."""
        shared = self._apart.shared(given)
        if shared is not None:
            return (
                f"capture: {shared[0]}, which is changed in place, and {shared[1]} share memory, "
                "and a replay takes them for two arrays. Copy one of them."
            )
        if self._arguments is None:  # to which no gradients go
            return None
        graded = [x for x in variables if x.requires_grad]
        if any([x.creator_node is not None for x in graded]):
            return (
                "capture: an argument comes from a graph, into which the gradients of the step go "
                "on, and those of a replay would not. Compute it in the step, or give its array."
            )
        own = self._own_parameters
        if graded and len({*map(id, graded), *own}) < len(graded) + len(own):
            return (
                "capture: a Variable is given twice, or a parameter of the step as an argument, "
                "and a replay would give it one gradient of two. Give it once."
            )
        return None

    def replay(self, given: Any, arguments: Any) -> Any:
        """Run the program, and put its gradients, reports and changes where the step would."""
        program = self.program
        if self._arguments is not None:
            self._arguments[:] = [x for x in variables_in(arguments) if x.requires_grad]
        read = [read() for read in self._reads]
        for source in self._outdated:  # their memory serves what is computed
            source._grad = None
        with self._device:
            results = (self._run or self._try)(*given, *read)
        if program.changes:
            program.change(given, read, results[self._count :])
        returned, left = self._built(results)
        for put, tree in zip(self._put, left, strict=True):
            put(tree)
        return returned

    def _try(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the program for the first time; what its library cannot do is left to eager."""
        random, counts = random_state(), [optimizer.t for optimizer in self._optimizers]
        backend = self.program.backend
        try:
            program = staged(self.program)
            run = compiled(in_sequences(program), live=True)
            results = run(*arrays)
        except Exception as error:
            moved = counts != [optimizer.t for optimizer in self._optimizers]
            if backend is host() or moved or isinstance(error, OutOfRange):
                raise
            set_random_state(random)
            raise Unreplayable(
                f"capture: backend {backend.name} cannot replay it: {type(error).__name__}: {error}"
            ) from error
        self._run = run
        if program is not self.program:
            self._staged = [e.call.function for e in program.equations if e.call.name == "stage"]
        return results

    def stages(self) -> Iterator[str]:
        """What a report says of the parts that the library has made faster."""
        if self._staged:
            yield f"  {len(self._staged)} parts by {self.program.backend.name} as a whole"
        for each in self._staged:
            if getattr(each, "reason", None):
                yield f"  not as a whole: {each.reason}"


def unlike(one: Program, other: Program) -> str | None:
    """The first difference between two recordings of a step; None where there is none."""
    texts = [_ADDRESS.sub("", str(each)).splitlines()[1:] for each in (one, other)]
    for before, after in zip_longest(*texts, fillvalue=""):
        if before != after:
            return f"{before.strip()!r} and {after.strip()!r}"
    for before, after in zip(_elements(one), _elements(other), strict=True):
        if before is not after and _bits(before) != _bits(after):
            return f"an array of the shape {before.shape} that comes from outside"
    return None


def _elements(program: Program) -> list[Any]:
    """The constants of a program, and the arrays from outside that it reads."""
    outside = [place.read() for place in program.places if place.name.startswith("outside")]
    return [*program.constants.values(), *outside]


def _bits(array: Any) -> tuple[Any, bytes]:
    array = on_host(array)
    return array.dtype, array.tobytes()


_ADDRESS = re.compile(" at 0x[0-9a-f]+")


_BY_IDENTITY: Any = object.__eq__
_TEXT = (str, bytes, type(None))


def _is_plain(x: Any) -> bool:
    """Whether `==` compares `x` by identity or as text, and runs no code of the user's.

    It would take 1 for True and 1.0, and 0.0 for -0.0.
    """
    if isinstance(x, _TEXT) or type(x).__eq__ is _BY_IDENTITY:
        return True
    if isinstance(x, (tuple, list, set)):
        return all(map(_is_plain, x))
    return isinstance(x, dict) and _is_plain([*x, *x.values()])


def _is_number(x: Any) -> bool:
    """Whether it is a number, text, or a tuple of these and of what is compared by identity."""
    if isinstance(x, tuple):
        return all([_is_number(each) or type(each).__eq__ is _BY_IDENTITY for each in x])
    return isinstance(x, PLAIN)


def _plain_attributes(own: dict[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Attributes of a link that are links, functions, lists, dicts, sets of such and of text."""
    plain = [name for name, x in own.items() if _is_plain(x) and not _is_number(x)]
    names = plain or ["_params"]
    values = [own[name] for name in names]
    values = [v.copy() if isinstance(v, (list, dict, set)) else v for v in values]
    yield len, own, len(own)
    yield itemgetter(*names), own, values[0] if len(names) == 1 else tuple(values)


def _numbers(own: dict[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    """Attributes of a link that never change by themselves."""
    for name, x in own.items():
        if _is_number(x):
            yield own, name, x


def _comparison(numbers: list[tuple[Any, str, Any]]) -> Callable[[], bool]:
    """A function, quick by being one expression: whether attributes are the same objects.

    Where it says no, other objects may still be the same numbers.
    """
    scope, parts = dict[str, Any](), ["True"]
    for i, (own, name, x) in enumerate(numbers):
        scope |= {f"w{i}": own, f"x{i}": x}
        parts.append(f"w{i}[{name!r}] is x{i}")
    return eval(f"lambda: {' and '.join(parts)}", scope)  # type: ignore[no-any-return]


def _other_attributes(own: dict[str, Any], put: set[str]) -> Iterator[tuple[Any, str, Any]]:
    """Attributes that are none of these, nor arrays, which are read anew, nor set by the step."""
    for name, x in own.items():
        known = _is_plain(x) or _is_number(x) or is_array(x) or isinstance(x, Variable)
        if not (name in put or known):
            yield own, name, mapped(_as_held, x, ())


def _as_held(x: Any) -> Any:
    """What stands in a copy of a structure, which others change in place."""
    return x.copy() if isinstance(x, set) else x


def _stand(parameters: list[tuple[Any, ...]]) -> bool:
    """Whether parameters have arrays of their shapes, take part in graphs, and have gradients."""
    for p, spec, constant, bare in parameters:
        source = p._source
        if p._spec is not spec or (source is None) is not constant:
            return False
        if ((p if source is None else source)._grad is None) is not bare:
            return False
    return True


def _form(read: Callable[[], Any]) -> tuple[Any, Any]:
    array = read()
    return array.shape, array.dtype


def _of_optimizer(optimizer: Any) -> tuple[Any, ...]:
    """What a recording has of an optimizer; the first part of several clears the gradients."""
    return (*_settings(optimizer), optimizer._loss_scale is None, optimizer._parts > 0)


_settings = attrgetter("target", "_use_cleargrads")
