"""Writing the calls of a declared operation, fitted to its number of inputs.

Generic code would cost more than small operations themselves, so for each class (and number of
inputs) four functions are written as text and compiled once; tracebacks show that text.

    call(x0, x1, settings)   a new node applied to its inputs      -> Variable, or several
    run(f, x0, x1)           the same for a node that exists       -> the same
    raw, var                 gradients on arrays, and on Variables: see core.ops.gradients

Names in the text: of input i, `x` is what came, `a` its array, `s` its spec, `n` its node if it
needs a gradient; `f` is the function node, `v` the result, `needs_grad` a bit mask of inputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from core.arrays.backend import BACKENDS
from core.arrays.spec import spec_of
from core.graph.graph_node import places
from core.graph.variable import Variable
from core.ops import dispatch, operands, outputs
from core.ops.declaration import Declaration
from core.ops.gradients import GradientWriter
from core.ops.settings import assigned, named, parameters
from core.ops.wrappers import Form
from core.ops.writer import Writer
from core.registry.configuration import current_state
from core.registry.once import once


class Variant:
    """The functions for calls of `declared` with `arity` inputs.

    `call`, `run`, `raw` and `var` are written at once, gradients of other forms when first needed.
    """

    def __init__(self, declared: Declaration, arity: int) -> None:
        self._declared = declared
        self._arity = arity
        self._rules: dict[Any, tuple[Any, Any]] = {}
        self.raw, self.var = self.rules()
        self.call: Any = _Calls(declared, arity).call()
        self.run = _Calls(declared, arity).run()

    @once
    def run_hooked(self) -> Callable[..., Any]:
        """`run` with what hooks and debug mode do in between: the slow path."""
        return _Calls(self._declared, self._arity).run(hooked=True)

    def rules(self, form: Form = (False, None, False, False)) -> tuple[Any, Any]:
        """`raw` and `var`, summed back from broadcasting, and computed in a wider dtype."""
        if form not in self._rules:
            writer = GradientWriter(self._declared, self._arity, *form)
            self._rules[form] = writer.written("raw"), writer.written("var")
        return self._rules[form]


class _Calls(Writer):
    def __init__(self, declared: Declaration, arity: int) -> None:
        scope = {
            "plans": declared.cls._plans,
            "plan_for": dispatch.plan_for,
            "array_operand": operands.array_operand,
            "BACKENDS": BACKENDS,
            "with_numbers": operands.with_numbers,
            "NUMBERS": frozenset({float, int}),
            "take_slow_path": dispatch.take_slow_path,
            "as_result": outputs.as_result,
            "as_outputs": outputs.as_outputs,
            "link_outputs": outputs.link_outputs,
            "constant_node": operands.constant_node,
            "current_state": current_state,
            "new": object.__new__,
            "Variable": Variable,
            "spec_of": spec_of,
            "places": places,
        }
        super().__init__(declared, arity, scope)
        self.node = "f"  # the text that gives a node
        self.inline: str | None = None  # what computes where a plan says None
        if self.cls._inlined:
            arrays = [f"a{i}" for i in range(arity)]
            self.inline = self.expression(self.cls.compute, ["f", "xp", *arrays])

    def call(self) -> Callable[..., Any]:
        before = "" if self.many else "/, *, " if self.declared.optional else "/, "
        inputs, lines = self.each("x#").split(", "), []
        required = len(self.declared.names) - self.declared.optional
        if self.declared.optional and self.arity > required:  # None is no input
            given = [*inputs[:-1], *[f"{name}={name}_" for name in self.declared.fields]]
            fewer = f"cls.variant({self.arity - 1}).call({', '.join(given)})"
            lines = [f"  if {inputs[-1]} is None: return {fewer}"]
            inputs[required:] = [f"{x}=None" for x in inputs[required:]]
        lines = [f"def call({', '.join(inputs)}{parameters(self.declared, before)}):", *lines]
        if self._records_only:
            self.node = "new(cls)"
        else:
            lines += ["  f = new(cls)", *assigned(self.declared, "f", self.scope)]
        if self.cls._prepares:
            lines += ["  f.prepare()"]
        return named(self.declared, self.compiled("call", lines + self._body()))  # type: ignore[no-any-return]

    @property
    def _records_only(self) -> bool:
        """Whether a call needs a node for the graph alone, and makes none without one."""
        declared = self.declared
        if declared.fields or declared.outputs or declared.reads_backend or self.cls._prepares:
            return False
        return self.inline is not None and not re.search(r"\bf\b", self.inline)

    def run(self, hooked: bool = False) -> Callable[..., Any]:
        lines = [f"def run(f, {self.each('x#')}):", *self._body(hooked)]
        return self.compiled("run with hooks" if hooked else "run", lines, "run")

    def _body(self, hooked: bool = False) -> list[str]:
        read, computed, recorded = self._read(hooked), self._compute(), self._record()
        if not hooked:
            return [*read, *computed, *recorded, "  return v"]
        arrays = f"({self.each('a#')},)"
        outputs = "v" if self.declared.outputs else "(v,)"
        return [
            *read,
            f"  f._before_forward(state, {arrays})",
            *computed,
            f"  f._after_forward(state, {arrays}, {outputs})",
            *recorded,
            "  f._after_recording(state)",
            "  return v",
        ]

    def _read(self, hooked: bool) -> list[str]:
        lines = ["  state = current_state()"]
        scalar = self.cls.with_scalar if self.cls._elementwise else None
        everything = "x_all" if self.many else f"({self.each('x#')},)"
        if self.many:
            lines += ["  if not x_all: cls.variant(0)  # refuses it"]
            lines += ["  needs_grad = 0; a_all, s_all, n_all = [], [], []", "  for x in x_all:"]
        each = [("    ", "")] if self.many else [("  ", i) for i in range(self.arity)[::-1]]
        for to, i in each:
            beside, read = "", f"a{i} = x{i}._array; s{i} = x{i}._spec; n{i} = x{i}._source"
            if scalar is not None and i == 1:  # often no Variable, of which an exception tells late
                self.scope["with_scalar"], beside, to = scalar.ready_call(), ", x0", "    "
                number = "  elif type(x1) in NUMBERS: return with_scalar(x0, x1)"
                lines += [f"  if type(x1) is Variable: {read}", *([] if hooked else [number])]
                lines += ["  elif type(x1) in BACKENDS: a1, s1, n1 = array_operand(x1, x0)"]
                lines += ["  else:"]
            lines += [
                f"{to}try: {read}",
                f"{to}except AttributeError:",
                f"{to}  found = array_operand(x{i}{beside})",
                f"{to}  if found is None: return with_numbers({self.node}, {everything})",
                f"{to}  a{i}, s{i}, n{i} = found",
            ]
        if self.many:
            lines += ["    if n is not None: needs_grad |= 1 << len(n_all)"]
            lines += ["    a_all.append(a); s_all.append(s); n_all.append(n)", "  s0 = s_all[0]"]
        slow = f"  if state.slow_path: return take_slow_path({self.node}, {everything})"
        return lines if hooked else [*lines, slow]

    def _compute(self) -> list[str]:
        specs = self.each("s#")
        settings = "".join([f", f.{name}" for name in self.declared.fields])
        if self.cls._plan_by_settings and settings:
            key = f"({specs}{settings})"
        elif self.arity == 1:
            key = "s0 if all([s is s0 for s in s_all]) else (*s_all,)" if self.many else "s0"
        else:
            alike = " and ".join([f"s0 is s{i}" for i in range(1, self.arity)])
            key = f"s0 if {alike} else ({specs})"
        lines = [
            f"  key = {key}",
            "  try: compute, xp, s = plans[key]",
            "  except (KeyError, TypeError): compute = plans",
            *self._result(f"plan_for(f, key, ({specs},))"),
        ]
        if self.declared.outputs:
            return [*lines, "  v = as_outputs(f, y, s0)"]
        if not self.cls.keeps_dtype:
            lines += [
                f"  if type(y) is not s0.type: y = as_result({self.node}, y, s0)",
                "  s = spec_of(y)",
            ]
        return [*lines, "  v = new(Variable); v._array = y; v._spec = s"]

    def _result(self, planned: str) -> list[str]:
        """What computes; where there is no plan yet, one is made with a node for its errors."""
        plan = f"  if compute is plans: compute, xp, s = {planned}"
        before = "f.backend = s0.backend; " if self.declared.reads_backend else ""
        computed = f"{before}y = compute(f, xp, {self.each('a#')})"
        if self.inline is None:
            return [plan, f"  {computed}"]
        inline = f"  if compute is None: {before}y = {self.inline}"
        made = [f"    f = {self.node}"] if self.node != "f" else []
        return [inline, "  else:", *made, f"  {plan}", f"  {inline}", f"    else: {computed}"]

    def _record(self) -> list[str]:
        """What the graph keeps; nothing where no input needs a gradient or none has a rule."""
        several = bool(self.declared.outputs)
        some = "needs_grad" if self.many else self.each("n# is not None").replace(", ", " or ")
        if not self.declared.differentiable:
            if several:
                return [f"  if {some}:", "    for w in v: w._nondifferentiable = f.label"]
            return ["  v._source = None", f"  if {some}: v._nondifferentiable = {self.node}.label"]
        lines = [
            f"  if ({some}) and state.backprop:",
            *(["    if compute is None: f = new(cls)"] if self.node != "f" else []),
            f"    f.needs_grad = needs_grad = {self._mask()}",
        ]
        lines += self._retain()
        lines += [f"    f._sources = ({self.each('n#')},); f.sequence = next(places)"]
        if several:
            lines += [f"    f.spec = None; link_outputs(f, v, {self._retained_outputs()})"]
        else:
            mask = self.declared.kept("out", self.arity)
            kept = "y" if mask == self.all else f"y if needs_grad & {mask} else None"
            lines += [f"    f.spec = s; f.data = {kept if mask else None}; v._source = f"]
        for name in self.declared.saved:
            mask = self.declared.kept(name, self.arity)
            if mask != self.all:
                lines += [f"    if not needs_grad & {mask}: f.{name} = None"]
        return lines if several else [*lines, "  else: v._source = None"]

    def _retain(self) -> list[str]:
        """Arrays of inputs that rules ask for. Mostly all inputs need a gradient: tested first."""
        declared = self.declared
        masks = [declared.kept(n, self.arity) for n in declared.sources_of(self.arity)]
        kept = [(mask, f"n{i}.data = a{i}") for i, mask in enumerate(masks) if mask]
        everything = "; ".join([text for _, text in kept])
        if self.many:
            made = "constant_node(x, s) if n is None else n for x, s, n in zip(x_all, s_all, n_all)"
            each = ["    for n, a in zip(n_all, a_all): n.data = a"] if kept else []
            return [f"    n_all = [{made}]", *each]
        if self.arity == 1:
            return [f"    {everything}"] if everything else []
        return [
            f"    if needs_grad == {self.all}: {everything or 'pass'}",
            "    else:",
            *[
                f"      if n{i} is None: n{i} = constant_node(x{i}, s{i})"
                for i in range(self.arity)
            ],
            *[f"      if needs_grad & {mask}: {text}" for mask, text in kept],
        ]

    def _retained_outputs(self) -> str:
        masks = [self.declared.kept(name, self.arity) for name in self.declared.outputs]
        kept = "v[{}]._array if needs_grad & {} else None"
        some = [kept.format(i, m) if m else "None" for i, m in enumerate(masks)]
        return "(None,) * len(v)" if self.declared.gives_any else f"({', '.join(some)},)"

    def _mask(self) -> str:
        if self.arity == 1:
            return "needs_grad" if self.many else "1"
        if self.arity == 2:
            return "(3 if n1 is not None else 1) if n0 is not None else 2"
        return " | ".join([f"(n{i} is not None) << {i}" for i in range(self.arity)])
