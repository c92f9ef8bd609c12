"""Kernels in programs: equations that call what a backend has in the place of an operation.

While a tape records kernels, an operation, or its gradient, for which its backend has one becomes
one equation, unless the kernel declines such shapes and dtypes. When the program runs the equation
does what eager does: it gives the kernel a node with these settings, and takes the formula where
the kernel declines these elements.

What a kernel gives, and what it leaves in its node, is found out by a trial with zeros. Values that
an operation refuses (its method `check_values`) are recorded by themselves: a program looks at them
before it changes anything.

A kernel may have an attribute `bound`: of a node and arrays it gives a function of other arrays of
these shapes and dtypes, or None. The function gives the results, and behind them what the kernel
leaves in its node. An attribute `rectified` is a kernel that gives `maximum(y, 0)` instead of y.

It may have an attribute `into`: of a node, an array and what else the kernel is given it gives what
the kernel does, in the memory of the array, which may be one of the others of that shape and dtype;
or NotImplemented, for an array that lies otherwise than what the kernel makes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from copy import copy
from functools import partial
from math import prod
from typing import Any

from core.arrays.backend import Backend, host, random_state, set_random_state
from core.arrays.spec import Spec, intern, spec_of
from core.graph.fitting import is_array
from core.graph.graph_node import GraphNode
from core.ops.widening import widened, widening
from core.programs import Call, Value, mapped, value_like
from core.registry.configuration import current_state, install_hooks
from core.tracing import tape as tapes
from core.tracing.array import TracedArray, TracedSum, as_values, traced


class Recorders:
    """A table for the tracing backend: for each kernel of those traced, what records its call."""

    def __init__(self, backends: list[Backend], section: str, record: Callable[..., Any]) -> None:
        self._backends = backends
        self._section = section
        self._record = record

    def get(self, cls: Any, default: Any = None) -> Any:
        """What records a call of the kernel for a class, or `default`."""
        found = [getattr(b, self._section).get(cls) for b in self._backends]
        if all([kernel is None for kernel in found]):
            return default
        recorder: Any = partial(self._record, cls)
        recorder.takes_halves = any([getattr(kernel, "takes_halves", False) for kernel in found])
        return recorder

    def forget(self) -> None:
        """Nothing is kept here."""


# -- forward ---------------------------------------------------------------------------------------


def forward(cls: Any, f: Any, xp: Any, *arrays: Any) -> Any:
    """Record the kernel of an operation; NotImplemented where eager takes the formula."""
    tape = tapes.current()
    kernel = _usable(tape, tape.backend.kernels.get(cls))
    specs = [_spec(tape, x) for x in arrays]
    if _declines(kernel, cls, specs) or arrays[0].size < getattr(kernel, "least", 0):
        return NotImplemented
    if hasattr(cls, "check_values"):  # where the kernel looks is after what comes before it
        f.check_values(xp, *arrays)
    own = f._own()
    called = _Forward(tape, cls, kernel, arrays, [name for name in own if _is_array(own[name])])
    rest = {name: own[name] for name in own if name not in called.named}
    called.settings = _settings(tape, rest)
    inputs = as_values(tape, (*arrays, *[own[name] for name in called.named]))
    found = _tried(tape, (cls, "forward", repr(called.settings)), called, inputs)
    if found is None:
        return NotImplemented
    results, saved = found
    called.kept = tuple([name for name in saved if _is_kept(tape, saved[name])])
    made = _record(tape, f.label, called, inputs, [*results, *[saved[n] for n in called.kept]])
    for name, array in zip(called.kept, made[len(results) :], strict=True):
        tape.samples[array._value] = saved[name]
    vars(f).update(saved | dict(zip(called.kept, made[len(results) :], strict=True)))
    return tuple(made[: len(results)]) if f.declared.outputs else made[0]


class _Forward:
    """The kernel of an operation with its settings: of arrays its results, and what it keeps."""

    settings: dict[str, Any]
    kept: tuple[str, ...] = ()
    draws = True
    _at_least_0 = False
    _configured: Any = None  # the configuration of which `_run` is
    _run: Callable[..., tuple[Any, ...]] | None = None

    def __init__(
        self, tape: Any, cls: Any, kernel: Any, arrays: tuple[Any, ...], named: list[str]
    ) -> None:
        self.cls = cls
        self.kernel = kernel
        self.named = named  # settings that are arrays, which come after the inputs
        self.count = len(arrays)
        self.xp = tape.backend.ops_xp(max([a.shape for a in arrays], key=prod))

    def applied(self, *arrays: Any) -> Any:
        """The results, and what the kernel has left in its node; None where it declines."""
        f = GraphNode.__new__(self.cls)
        vars(f).update(self.settings)
        if self.named:
            vars(f).update(zip(self.named, arrays[self.count :], strict=True))
        y = self.kernel(f, self.xp, *arrays[: self.count])
        if y is NotImplemented:
            return None
        left = {k: v for k, v in vars(f).items() if v is not self.settings.get(k, self)}
        for name in self.named:
            left.pop(name, None)
        return y if f.declared.outputs else (y,), left

    def rectified(self) -> _Forward | None:
        """The same for `maximum(y, 0)`; None where there is no kernel for that."""
        kernel = getattr(self.kernel, "rectified", None)
        if kernel is None or self.kept or self.cls.declared.outputs:
            return None
        found = copy(self)
        found.kernel, found._at_least_0 = kernel, True
        found._configured = found._run = None
        return found

    def _formula(self, f: Any, arrays: tuple[Any, ...]) -> Any:
        y = formula_of(self.cls, [spec_of(a) for a in arrays])(f, self.xp, *arrays)
        return self.xp.maximum(y, 0.0) if self._at_least_0 else y

    def _bind(self, configured: Any, arrays: tuple[Any, ...]) -> None:
        """Find what the kernel has for arrays of these shapes and dtypes, which stay the same."""
        f, bound = GraphNode.__new__(self.cls), getattr(self.kernel, "bound", None)
        vars(f).update(self.settings)
        self._configured = configured
        self._run = None if bound is None or self.named else bound(f, *arrays)

    def over(self) -> list[tuple[int, int]]:
        """The pairs of a result and of an argument in whose memory the kernel can put it."""
        alone = hasattr(self.kernel, "into") and not (self.named or self.kept)
        return [(0, i) for i in range(self.count)] if alone else []

    def into(self, room: tuple[int, Any], *arrays: Any) -> Any:
        """The result in the memory of an array, or NotImplemented."""
        f = GraphNode.__new__(self.cls)
        vars(f).update(self.settings)
        y = self.kernel.into(f, room[1], *arrays)
        return y if y is NotImplemented else (y,)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        configured = current_state().settings()
        if configured is not self._configured:
            self._bind(configured, arrays)
        if self._run is not None:
            return self._run(*arrays)
        f = GraphNode.__new__(self.cls)
        own = vars(f)
        own.update(self.settings)
        if self.named:
            own.update(zip(self.named, arrays[self.count :], strict=True))
            arrays = arrays[: self.count]
        y = self.kernel(f, self.xp, *arrays)
        if y is NotImplemented:
            y = self._formula(f, arrays)
        results = y if f.declared.outputs else (y,)
        return (*results, *[own[name] for name in self.kept]) if self.kept else results


# -- gradients -------------------------------------------------------------------------------------


def gradient(cls: Any, f: Any, g: Any, needs_grad: int) -> Any:
    """Record the kernel of an operation's gradient; NotImplemented where eager takes the rules."""
    tape = tapes.current()
    kernel = _usable(tape, tape.backend.gradient_kernels.get(cls))
    several = bool(f.declared.outputs)
    if _declines(kernel, cls, [_spec(tape, source.spec) for source in f._sources]) or (
        not several and g.size < getattr(kernel, "least", 0)
    ):
        return NotImplemented
    own = _settings(tape, f._own())
    if f.shapes is not None:
        own["shapes"] = f.shapes
    data = f.data if several else (f.data,)
    tree = (g if several else (g,), [s.data for s in f._sources], data or (), own)
    values: list[Any] = []

    def place(array: Any) -> Any:
        value = as_values(tape, array)
        values.append(value)
        return _At(len(values) - 1)

    flat = mapped(place, tree, (TracedArray, host().xp.ndarray, tape.backend.array_type))
    called = _Gradient(cls, kernel, f._rules[1], needs_grad, several, flat)
    called.sources = [(_spec(tape, s.spec), None if s._sources is None else ()) for s in f._sources]
    if not several:
        called.spec = _spec(tape, f.spec)
    waits = [above is None for _, above in called.sources]
    alike = cls, "gradient", needs_grad, *waits, repr(called.settings), repr(flat)
    result = _tried(tape, alike, called, tuple(values))
    if result is None:
        return NotImplemented
    called.found = tuple([i for i, each in enumerate(result) if each is not None])
    samples = [result[i] for i in called.found]
    specs = [called.sources[i][0] for i in called.found]
    made = _record(tape, f"{f.label}, backward", called, tuple(values), samples, specs)
    gradients: list[Any] = [None] * len(result)
    for i, each in zip(called.found, made, strict=True):
        gradients[i] = each
    return tuple(gradients)


class _At:
    """The place of an array among the arguments."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"${self.number}"


class _Source:
    """What a gradient kernel looks at of an input of its operation."""

    __slots__ = ("_sources", "data", "spec")
    is_function = _constant = False

    def __init__(self, spec: Any, sources: Any, data: Any) -> None:
        self.spec = spec
        self._sources = sources
        self.data = data


class _Gradient:
    """The kernel of a gradient: of what its operation has retained, the gradients of its inputs."""

    sources: list[tuple[Spec, Any]]
    spec: Spec | None = None
    found: tuple[int, ...] = ()
    draws = True

    def __init__(
        self, cls: Any, kernel: Any, raw: Any, needs_grad: int, several: bool, tree: Any
    ) -> None:
        self.cls = cls
        self.kernel = kernel
        self.raw = raw
        self.needs_grad = needs_grad
        self.several = several
        self.given, self.inputs, self.data, own = tree
        self.named = [(name, part) for name, part in own.items() if _places_in(part)]
        self.settings = {name: part for name, part in own.items() if not _places_in(part)}

    def _node(self, arrays: tuple[Any, ...]) -> tuple[Any, Any]:
        f: Any = GraphNode.__new__(self.cls)
        own = vars(f)
        own.update(self.settings)
        for name, part in self.named:
            own[name] = arrays[part.number] if type(part) is _At else _put(part, arrays)
        f.spec = self.spec
        f.needs_grad = self.needs_grad
        f._sources = tuple(
            [
                _Source(spec, above, None if at is None else arrays[at.number])
                for (spec, above), at in zip(self.sources, self.inputs, strict=True)
            ]
        )
        data = [None if at is None else arrays[at.number] for at in self.data]
        given = [None if at is None else arrays[at.number] for at in self.given]
        if self.several:
            f.data = tuple(data)
            return f, tuple(given)
        f.data = data[0] if data else None
        return f, given[0]

    def applied(self, *arrays: Any) -> Any:
        """All gradients that the kernel gives; None where it declines."""
        found = self.kernel(*self._node(arrays), self.needs_grad)
        return None if found is NotImplemented else found

    def over(self) -> list[tuple[int, int]]:
        """The pairs of a result and of an argument in whose memory the kernel can put it."""
        known = [at for at in (*self.given, *self.data, *self.inputs) if at is not None]
        alone = hasattr(self.kernel, "into") and self.found == (0,)
        return [(0, at.number) for at in known] if alone else []

    def into(self, room: tuple[int, Any], *arrays: Any) -> Any:
        """The gradient in the memory of an array, or NotImplemented."""
        f, g = self._node(arrays)
        return self.kernel.into(f, room[1], g, self.needs_grad)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        f, g = self._node(arrays)
        found = self.kernel(f, g, self.needs_grad)
        if found is NotImplemented:
            found = self.raw(f, g, self.needs_grad)
        return tuple([found[i] for i in self.found])


def _usable(tape: tapes.Tape, kernel: Any) -> Any:
    """A kernel that a tape records; None for formulas, which become loops together with others.

    Or whose results are planned to lie where others were, by which more is won.
    """
    in_loops = tape.loops and getattr(kernel, "in_loops", False)
    return kernel if tape.kernels and not in_loops and getattr(kernel, "recorded", True) else None


# -- shared ----------------------------------------------------------------------------------------


def formula_of(cls: Any, specs: list[Any]) -> Callable[..., Any]:
    """What an operation computes of inputs of these specs, in a wider dtype where eager does so."""
    wide, narrow, _ = widening(cls, specs)
    formula: Callable[..., Any] = cls.compute
    return formula if wide is None else widened(formula, specs[0].backend, wide, narrow)


def _declines(kernel: Any, cls: Any, specs: list[Spec]) -> bool:
    """Whether there is none, or eager would widen such inputs before it gives them to the kernel.

    The recorder of a class sees 16-bit floats where the kernel of any backend wants them.
    """
    if kernel is None:
        return True
    return not getattr(kernel, "takes_halves", False) and widening(cls, specs)[0] is not None


def _is_array(x: Any) -> bool:
    return isinstance(x, (TracedArray, host().xp.generic)) or (x is not None and is_array(x))


def _is_kept(tape: tapes.Tape, x: Any) -> bool:
    """Whether it is of the elements of a call: an array, or what a library has around one."""
    around = tape.backend is not host() and hasattr(x, "shape") and not isinstance(x, Spec)
    return around or _is_array(x)


def _spec(tape: tapes.Tape, spec: Any) -> Any:
    """That of real arrays, of the shape and dtype of a spec or a traced array."""
    backend = tape.backend
    dtype = _dtype(backend, spec.dtype)
    return intern(backend, spec.shape, dtype, None if backend is host() else tape.spec_device)


def _dtype(backend: Backend, dtype: Any) -> Any:
    """The dtype of real arrays that the host's stands for."""
    return dtype if backend is host() else backend.dtype(host().dtype_name(dtype))


def _settings(tape: tapes.Tape, own: dict[str, Any]) -> dict[str, Any]:
    """The settings of a node as a kernel of the backend is to see them."""
    backend = tape.backend
    if "backend" in own:
        own["backend"] = backend
    if backend is host():
        return own
    found = mapped(partial(_dtype, backend), own, host().xp.dtype)
    return found  # type: ignore[no-any-return]


def _places_in(tree: Any) -> bool:
    found: list[Any] = []
    mapped(found.append, tree, _At)
    return bool(found)


def _put(tree: Any, arrays: tuple[Any, ...]) -> Any:
    return mapped(lambda at: arrays[at.number], tree, _At)


def _tried(tape: tapes.Tape, alike: Any, called: Any, values: tuple[Value, ...]) -> Any:
    """What a call gives for zeros, outside of the trace; once for calls that are alike.

    Whether it has drawn random numbers is kept in `called.draws`.
    """
    key = (*alike, *[(value.shape, value.dtype, value.scalar) for value in values])
    if key not in tape.trials:
        arrays = [_sample(tape, value) for value in values]
        random = random_state()
        result = copy_context().run(_outside, called.applied, arrays)
        drawn = random_state() != random
        if drawn:
            set_random_state(random)
        tape.trials[key] = result, drawn
    result, called.draws = tape.trials[key]
    return result


def _outside(called: Callable[..., Any], arrays: list[Any]) -> Any:
    for kind in ("hooks", "link_hooks"):
        install_hooks(kind, {})
    with host().xp.errstate(all="ignore"):
        return called(*arrays)


def _sample(tape: tapes.Tape, value: Value) -> Any:
    if value in tape.samples:
        return tape.samples[value]
    backend = tape.backend
    if backend is not host():
        return backend.xp.zeros(value.shape, dtype=_dtype(backend, value.dtype), **tape.placed())
    made = backend.xp.zeros(value.shape, dtype=value.dtype)
    return made[()] if value.scalar else made


def _record(
    tape: tapes.Tape,
    label: str,
    called: Callable[..., Any],
    inputs: tuple[Value, ...],
    samples: list[Any],
    specs: list[Spec] | None = None,
) -> list[TracedArray]:
    """The equation, and the traced arrays of its results, which are like the samples."""
    values: list[Value] = []
    for i, sample in enumerate(samples):
        if _is_array(sample):
            value = value_like(sample)
            value.scalar = isinstance(sample, host().xp.generic)
        elif specs is None:  # which kernels alone know what to do with
            value = Value(tuple(sample.shape), host().dtype("int32"))
        else:  # something that gradients are added to, and of which an array is made in the end
            spec: Any = specs and specs[i]
            dtype = host().dtype(tape.backend.dtype_name(spec.dtype))
            value = Value(spec.shape, dtype, waits=True)
        values.append(value)
    tape.record(Call("kernel", label, None, called), inputs, {}, tuple(values), several=True)
    return [TracedSum(tape, v) if v.waits else traced(tape, v) for v in values]
