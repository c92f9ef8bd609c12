"""`core.capture`: a step that is recorded when it is first made, and replayed from then on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

from core.arrays.backend import host, random_state, set_random_state
from core.capturing.gates import Gate, alone, enter, gates_of, leave
from core.capturing.leaving import Left
from core.capturing.live import Live, Unmade, variables_in
from core.capturing.names_around import Around
from core.capturing.reached import optimizers_of
from core.capturing.recording import Recording, Refusal, Unreplayable, unlike, unrecordable
from core.capturing.reports import Recorder, refuse_numbers
from core.errors import TraceError
from core.errors.place import warn
from core.link import Link
from core.programs import (
    Group,
    Leaf,
    Place,
    Program,
    apart_in_order,
    flattened,
    optimized,
    peak,
    rematerialized,
    value_like,
    with_early_checks,
)
from core.registry.configuration import current_state
from core.tracing import Tape, home, recorded, roots, under_way

if TYPE_CHECKING:
    from core.programs import Profile

MOST = 8
"""So many signatures of a step are recorded, or refused; others are left to eager."""

kept: list[Captured] | None = None
"""All captured steps, where somebody wants to see them in the end."""


@overload
def capture(
    step: Callable[..., Any], *, fuse: bool = False, remat: int | None = None
) -> Captured: ...


@overload
def capture(
    *, fuse: bool = False, remat: int | None = None
) -> Callable[[Callable[..., Any]], Captured]: ...


def capture(step: Any = None, *, fuse: bool = False, remat: int | None = None) -> Any:
    """Record a step of a training, or of anything else, and replay it without a graph.

    Args:
        step: A function of arrays or Variables, or tuples, lists and dicts of them, that reaches
            its links and optimizers by name, closure or as its own. It may compute gradients and
            update parameters: `optimizer.update(lossfun, *args)`, or `cleargrads`, `backward` and
            `optimizer.update()`. What it returns is given without a graph.
        fuse: Whether loops are compiled of what is recorded, as by `Program.fused`. Then results
            are those of the function within rounding. Without numba they are the same.
        remat: Bytes that a replay may have in use at once, beside parameters, states and
            arguments. Where it takes more, what is cheap (elementwise operations, views, loops) is
            computed again where it is read, and not kept until then. The bits are the same. A
            warning says what is reached where that is more.

    Returns:
        A function that does the same, and has a method `report`.

    The first call runs the function as it is, so that whatever is made at first use is made, unless
    its optimizers have made steps before, as in a run that is resumed. The next one with a
    signature (structure, shapes, dtypes, configuration, which parameters are frozen or have
    gradients, plain attributes of links) records it, the one after that looks whether it would be
    recorded the same, and further ones replay the recording: parameters, state and averages change
    in place, gradients are left with the parameters, values are reported, with the bits of the
    function itself. The update is the optimizer's own, with its rates, counts and hooks as they
    are.

    Python runs in these first calls alone. So what it prints is printed no more, and numbers that
    the function takes from elsewhere are those of the recording. Where they are noticed to change,
    or the function to change them, and where what is computed depends on values, the function is
    run as it is, and a warning says once why. `core.config.capture = False` turns all captures off.

    >>> import core, numpy as np
    >>> import core.functions as F, core.links as L
    >>> model = L.Linear(2, 1, initialW=0.0)
    >>> optimizer = core.optimizers.SGD(lr=0.125).setup(model)
    >>> @core.capture
    ... def step(x, t):
    ...     optimizer.update(lambda: F.mean_squared_error(model(x), t))
    >>> x, t = np.ones((4, 2), "f"), np.ones((4, 1), "f")
    >>> for _ in range(3):
    ...     step(x, t)
    >>> print(model.W.array, optimizer.t)
    [[0.328125 0.328125]] 3
    >>> print(step.report())
    step: 3 calls, 2 of them replayed, 1 recording
    """
    if step is None:
        return partial(Captured, fuse=fuse, remat=remat)
    return Captured(step, fuse, remat)


class Captured:
    """What `core.capture` gives.

    >>> import core, numpy as np
    >>> doubled = core.capture(lambda x: x * 2)
    >>> for length in (3, 3, 4):
    ...     _ = doubled(np.ones(length))
    >>> doubled
    <captured <lambda>: 2 signatures, 2 of 3 calls replayed, 1 made as it is>
    """

    evaluates = False
    """Whether it evaluates what is trained elsewhere, and so goes on where that does."""

    is_capture = True
    """Who looks at what a step reaches goes on into its function, and not into its recordings."""

    def __init__(
        self, function: Callable[..., Any], fuse: bool = False, remat: int | None = None
    ) -> None:
        if not callable(function):
            raise TypeError(f"capture: expected a function, got {type(function).__name__}.")
        if remat is not None and (type(remat) is not int or remat < 0):
            raise ValueError(f"capture: expected remat to be a number of bytes, got {remat!r}.")
        self.function = function
        self.fuse = fuse
        self.remat = remat
        self._loops: list[str] = []
        self.calls = self.replayed = 0
        self.reasons: list[str] = []
        self._found: dict[Any, list[Recording | Refusal]] = {}
        self._plain: dict[Any, list[Recording]] = {}  # of arguments that are plain arrays
        self._array_type = host().array_type
        self._recordings = self._refused = 0
        self._doubt: Callable[[], None] | None = None  # refuses a call once eager has made it
        self._busy: set[object] = set()  # the calls under way
        self._gates: list[Gate] | None = None  # of the links that it names
        self.name = getattr(function, "__name__", type(function).__name__)
        update_wrapper(self, function, updated=())
        if kept is not None:
            kept.append(self)

    def __get__(self, owner: Any, cls: type | None = None) -> Captured:
        """The capture of a method that it decorates: each object has recordings of its own.

        It stays with the object, for it lives as long.
        """
        if owner is None or not isinstance(self.function, FunctionType):
            return self
        own, name = getattr(owner, "__dict__", None), self.function.__name__
        if own is None:
            raise TypeError(
                f"capture: expected that a {type(owner).__name__} has a dict, to keep recordings "
                f"of {name}. Call core.capture on its method, and keep what that gives."
            )
        found = own.get(f"_captured_{name}")
        if found is None or found.function.__self__ is not owner:  # that of which it is a copy
            function = MethodType(self.function, owner)
            found = own[f"_captured_{name}"] = Captured(function, self.fuse, self.remat)
        return found  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A decorated function goes by its name, as functions do; another is captured anew."""
        owner = getattr(self.function, "__self__", None)
        if isinstance(getattr(type(owner), self.name, None), Captured):
            return getattr, (owner, self.name)
        known: Any = sys.modules.get(getattr(self, "__module__", ""))
        name = getattr(self, "__qualname__", "")
        for part in name.split("."):
            known = getattr(known, part, None)
        return name if known is self else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """The function and the options: recordings are of this process."""
        return {"function": self.function, "fuse": self.fuse, "remat": self.remat}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Capture the function."""
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do what the function does."""
        state = current_state()
        looked_at = state.slow_path or state.observes_links or state.get("keep_graph_on_report")
        if looked_at or not state.get("capture") or under_way():
            return self.function(*args, **kwargs)
        gates = self._gates
        if gates is None:
            gates = self._gates = self._found_gates()
        if not gates:
            return self._called(args, kwargs)
        enter(gates)
        try:
            return self._called(args, kwargs)
        finally:
            leave(gates)

    def _called(self, args: Any, kwargs: Any) -> Any:
        call, doubt = object(), None
        try:  # an interruption at any place within leaves no call behind
            self._busy.add(call)
            if len(self._busy) == 1:  # neither another thread nor the step itself is in one
                self._doubt = None
                self.calls += 1
                if self.calls > 1 or self._goes_on():
                    given, recording = self._known(args, kwargs)
                    if recording is not None:
                        try:
                            result = recording.replay(given, (args, kwargs))
                            self.replayed += 1
                            return result
                        except Unreplayable as error:
                            self._give_up(recording, str(error))
                doubt, self._doubt = self._doubt, None
        finally:
            self._busy.discard(call)
        result = self.function(*args, **kwargs)
        if doubt is not None:  # what the step itself raises is no reason to refuse it later
            doubt()
        return result

    def _goes_on(self) -> bool:
        """Whether the first call may be recorded: it evaluates, or goes on with a training.

        Where a training is resumed, all that is made at first use is there, and loops at once give
        the bits that they would have given without the interruption.
        """
        found = [] if self.evaluates else optimizers_of(self.function)
        begun = [each.t or getattr(each, "_parts", 0) for each in found]
        return self.evaluates or (bool(begun) and all(begun))

    def _found_gates(self) -> list[Gate]:
        owners = roots(self.function)
        links = [each if isinstance(each, Link) else each.target for each in owners]
        return gates_of([link for link in links if link is not None])

    def _known(self, args: Any, kwargs: Any) -> tuple[Any, Recording | None]:
        """The arrays of a call, and the recording that holds for it, if any does."""
        given, variables, recording = args, [], None
        if not kwargs and all([type(x) is self._array_type for x in args]):
            for each in self._plain.get(tuple([(x.shape, x.dtype) for x in args]), ()):
                if each.first is None and each.holds():
                    recording = each
                    break
        if recording is None:
            given, form = flattened((args, kwargs))
            variables = variables_in((args, kwargs))
            recording = self._recording(given, form, variables)
        reason = None if recording is None else recording.unfit(given, variables)
        if reason is not None:
            self._tell(reason)
            return given, None
        return given, recording

    def _recording(self, given: list[Any], form: Any, variables: list[Any]) -> Recording | None:
        reason = unrecordable(form, variables)
        if reason is not None:
            self._tell(reason)
            return None
        key = tuple([(type(a), a.shape, a.dtype) for a in given])
        found = self._found.get(key, [])
        for i, each in enumerate(found):
            if each.fits(form):
                if not isinstance(each, Recording):
                    return None
                return each if each.first is None else self._again(found, i, given, form)
        if self._is_full(found, form):
            return None
        found = self._found.setdefault(key, found)
        made = self._tried(given, form, found)
        if made is None:
            return None
        found.append(made)
        if form == (tuple([Leaf(i, "array") for i in range(len(given))]), {}):
            self._array_type = type(given[0]) if given else self._array_type
            self._plain.setdefault(tuple([spec[1:] for spec in key]), []).append(made)
        return made

    def _is_full(self, found: list[Recording | Refusal], form: Any) -> bool:
        """Whether no more signatures are tried, which takes as long as many calls."""
        if self._recordings >= MOST:
            cure = found[-1].other(form) if found else "Give batches of one shape, or pad them."
            self._tell(
                f"has been recorded for {MOST} signatures; it is run as it is for others. {cure}"
            )
        return max(self._recordings, self._refused) >= MOST

    def _tried(self, given: list[Any], form: Any, found: list[Any]) -> Recording | None:
        """A recording, if this call gives one."""
        self._gates = self._found_gates()
        with alone(self._gates) as free:
            if not free:
                return None
            try:
                made = self._made(given, form, True)
            except Unmade:  # by eager it is made, and the next call recorded
                return None
            except Exception as error:
                if self.calls > 1:
                    self._doubt = partial(self._refuse, found, None, Refusal(form), error)
                return None
        self._recordings += 1
        return made

    def _again(self, found: list[Any], i: int, given: list[Any], form: Any) -> Recording | None:
        """The recording to replay from now on, if this call is recorded like the one before.

        If it is not, Python puts other numbers into each call, and a recording would repeat those
        of one call for ever.
        """
        first, made = found[i], None
        with alone(self._gates or []) as free:
            if not free:
                return None
            try:
                made = self._made(given, form, False)
                difference = unlike(first.first, made.program)
                if difference is None:
                    first.first = None
                    return first  # type: ignore[no-any-return]
                if first.is_early:  # in that call was made what is made at first use
                    made = found[i] = self._made(given, form, True)
                    for plain in self._plain.values():
                        plain[:] = [made if each is first else each for each in plain]
                    return made
                reason = (
                    f"capture: two calls differ, by {difference}. Give what changes from call to "
                    "call as arguments, and draw by operations."
                )
            except Unmade:
                return None
            except Exception as error:
                self._doubt = partial(self._refuse, found, first, Refusal(form), error)
                return None
        self._refuse(found, first, Refusal(form), reason)
        return made

    def _refuse(self, found: list[Any], first: Any, refusal: Refusal, why: str | Exception) -> None:
        """Leave calls of a signature, of which there may be a first recording, to eager."""
        if not isinstance(why, MemoryError):  # a shortage may have passed by the next call
            self._refused += 1
            if first in found:
                found[found.index(first)] = refusal
            else:
                found.append(refusal)
        self._tell(str(why) or repr(why))

    def _give_up(self, recording: Recording, reason: str) -> None:
        """Leave the calls that a recording was made for to eager."""
        for found in self._found.values():
            if recording in found:
                found[found.index(recording)] = Refusal(recording.form)
        for plain in self._plain.values():
            if recording in plain:
                plain.remove(recording)
        self._tell(reason)

    def _made(self, given: list[Any], form: Any, final: bool) -> Recording:
        """A recording; a final one has loops, and what is computed again, if asked for."""
        backend, device = home("capture", given, roots(self.function))
        loops = self.fuse and backend.fuser() is not None
        tape = Tape(backend, kernels=True, loops=loops, device=device)
        places = tape.places = Live(tape)
        left: list[Left] = []

        def step(args: Any, kwargs: Any) -> Any:
            variables = [x for x in variables_in((args, kwargs)) if x.requires_grad]
            with Recorder(places.reports):
                returned = self.function(*args, **kwargs)
            refuse_numbers("what it returns", returned)
            left.extend(places.left(variables))
            places.refuse_graph(returned)
            return returned, [each.tree for each in left]

        step.__name__ = self.name
        inputs = tuple(map(value_like, given))
        around, random = Around(self.function), random_state()
        try:
            with around.kept():
                deeper = [*around.links, *around.parameters, *around.variables]
                owners = [*roots(self.function), *deeper]
                whole = recorded(step, form, inputs, tape, owners)
                program = with_early_checks(optimized(whole))
            around.refuse_changes()
            if _seeded(random["stream"], random_state()["stream"]):
                raise TraceError("capture: core.seed is called in the step. Call it outside.")
        except BaseException:
            around.restore()
            set_random_state(random)
            raise
        places.refuse_chained(program.places)
        places.refuse_others(program.places)
        changed = {*places.updated, *[t.value for t, _ in program.changes if isinstance(t, Place)]}
        around.compare_elements(
            [place.read() for place in program.places if place.value not in changed],
            [place.read() for place in whole.places if place.value in changed],
        )
        first = program
        if final and self.fuse:
            program = self._fused(program)
        if final and self.remat is not None:
            program = self._rematerialized(program, self.remat)
        put = [each.put for each in left]
        apart = apart_in_order(whole, places.updated)
        made = Recording(program, places, around, put, device, apart)
        made.first = first
        made.is_early = self.calls == 1
        return made

    def _fused(self, program: Program) -> Program:
        began = time.perf_counter()
        found = program.fused()
        seconds = time.perf_counter() - began
        groups = [equation.call.function for equation in found.equations]
        inside = [len(each.equations) for each in groups if isinstance(each, Group)]
        told = f"  {len(inside)} loops of {sum(inside)} operations, made in {seconds:.2f} s"
        self._loops.append(told)
        return found

    def _rematerialized(self, program: Program, most: int) -> Program:
        """The program with what is computed again; warns where `most` bytes cannot be reached."""
        found = rematerialized(program, most)
        repeated, reached = len(found.equations) - len(program.equations), peak(found)
        self._loops.append(
            f"  {reached:,} bytes in use at most, {repeated} operations repeated; "
            f"{peak(program):,} without"
        )
        if reached > most:
            warn(
                f"core.capture: {self.name}: expected at most {most:,} bytes in use (remat), got "
                f"{reached:,}. What is left is not computed again cheaply: give smaller batches, "
                "or more bytes."
            )
        return found

    def _tell(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)
            warn(f"core.capture: {self.name} is not replayed: {reason}")

    @property
    def programs(self) -> list[Any]:
        """The programs of the recordings, to be printed."""
        every = [each for found in self._found.values() for each in found]
        return [each.program for each in every if isinstance(each, Recording)]

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Where the time of a replay goes: a `Profile`, shown as a table.

        These are real steps, three before ten that are timed. Raises TraceError where steps with
        such arguments are not replayed.
        """
        from core.programs import profiled

        for _ in range(3):  # the last of which is replayed
            self(*args, **kwargs)
        _, recording = self._known(args, kwargs)
        if recording is None:
            raise TraceError(
                f"capture: {self.name}.profile: expected arguments of replayed steps. Its report() "
                "says what is not replayed, and why."
            )
        return profiled(recording, recording.program, lambda: self(*args, **kwargs), True)

    def __repr__(self) -> str:
        signatures = f"{self._recordings} signature{'s' * (self._recordings != 1)}"
        replayed = f"{self.replayed} of {self.calls} calls replayed"
        left = self.calls - self.replayed
        return f"<captured {self.name}: {signatures}, {replayed}, {left} made as it is>"

    def report(self) -> str:
        """What was recorded and replayed, and what was not, and why."""
        some = "recording" if self._recordings == 1 else "recordings"
        lines = [
            f"{self.name}: {self.calls} calls, {self.replayed} of them replayed, "
            f"{self._recordings} {some}"
        ]
        refused = [f"  not replayed: {reason}" for reason in self.reasons]
        every = [each for found in self._found.values() for each in found]
        stages = [line for each in every if isinstance(each, Recording) for line in each.stages()]
        return "\n".join([*lines, *self._loops, *stages, *refused])


def _seeded(before: Any, after: Any) -> bool:
    """Whether the stream of random numbers was seeded anew between two states."""
    if before is None or after is None:
        return before is not after
    return bool(before["seed"] != after["seed"] or before["draws"] > after["draws"])
