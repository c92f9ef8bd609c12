"""Writing the call and the gradient of a declared operation, fitted to its number of inputs.

Generic code would cost more than small operations themselves, so for each class (and number of
inputs) four functions are written as text and compiled once; tracebacks show that text.

    call(x0, x1, settings)   a new node applied to its inputs      -> Variable, or several
    run(f, x0, x1)           the same for a node that exists       -> the same
    raw(f, g, needs_grad)    gradients on arrays                   -> one per input, or None
    var(f, g, needs_grad)    the same rules on Variables, so that the gradients have a graph

Names in the text: of input i, `x` is what came, `a` its array, `s` its spec, `n` its node if it
needs a gradient; `f` is the function node, `v` the result, `needs_grad` a bit mask of inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.arrays.spec import ensure_array, spec_of
from core.graph.graph_node import next_sequence
from core.graph.variable import Variable, variable_of
from core.ops import dispatch, operands, widening
from core.ops.declaration import Declaration
from core.ops.namespace import namespace
from core.registry.configuration import current_state


class Variant:
    """The functions for calls of `declared` with `arity` inputs.

    `call`, `run`, `raw` and `var` are written at once, gradients of other forms when first needed.
    """

    def __init__(self, declared: Declaration, arity: int) -> None:
        self._declared = declared
        self._arity = arity
        self._rules: dict[Any, tuple[Any, Any]] = {}
        self._run_hooked: Any = None
        self.raw, self.var = self.rules()
        self.call: Any = _Writer(declared, arity).call()
        self.run = _Writer(declared, arity).run()

    @property
    def run_hooked(self) -> Callable[..., Any]:
        """`run` with what hooks and debug mode do in between: the slow path."""
        if self._run_hooked is None:
            self._run_hooked = _Writer(self._declared, self._arity).run(hooked=True)
        return self._run_hooked  # type: ignore[no-any-return]

    def rules(self, broadcast: bool = False, wide: str | None = None) -> tuple[Any, Any]:
        """`raw` and `var`, summed back from broadcasting, and computed in a wider dtype."""
        key = broadcast, wide
        if key not in self._rules:
            writer = _Writer(self._declared, self._arity, broadcast, wide)
            self._rules[key] = writer.gradients("raw"), writer.gradients("var")
        return self._rules[key]


class _Writer:
    def __init__(
        self, declared: Declaration, arity: int, broadcast: bool = False, wide: str | None = None
    ) -> None:
        from core.ops.inline import expression  # not loaded before an operation is called

        self.expression = expression
        self.declared = declared
        self.cls: Any = declared.cls
        self.arity = arity
        self.broadcast = broadcast
        self.wide = wide
        self.inline = self.cls.inline and not wide
        self.names = declared.inputs_of(arity)
        self.all = (1 << arity) - 1
        self.scope: dict[str, Any] = {
            "cls": self.cls,
            "plans": self.cls._plans,
            "plan_for": dispatch.plan_for,
            "array_operand": operands.array_operand,
            "in_dtype_of": operands.in_dtype_of,
            "with_numbers": operands.with_numbers,
            "take_slow_path": dispatch.take_slow_path,
            "ensure_array": ensure_array,
            "as_outputs": dispatch.as_outputs,
            "link_outputs": dispatch.link_outputs,
            "constant_node": operands.constant_node,
            "widen": widening.widen,
            "narrow_all": widening.narrow_all,
            "wrong_number": dispatch.wrong_number,
            "only_needed": dispatch.only_needed,
            "current_state": current_state,
            "new": object.__new__,
            "Variable": Variable,
            "spec_of": spec_of,
            "next_sequence": next_sequence,
            "default": declared.fields,
            "NS": namespace,
            "constant": operands.as_constant,
            "variable_of": variable_of,
        }

    def _each(self, text: str, joint: str = ", ") -> str:
        return joint.join([text.replace("#", str(i)) for i in range(self.arity)])

    # ------------------------------------------------------------------ calls

    def call(self) -> Callable[..., Any]:
        star = "*, " if self.declared.variadic or self.declared.optional else ""
        head = f"def call({self._each('x#')}{self.declared.parameters(star)}):"
        lines = [head, "  f = new(cls)"]
        lines += self.declared.assigned("f", self.scope)
        if self.cls._prepares:
            lines += ["  f.prepare()"]
        return self.declared.named(self._compile("call", lines + self._body()))  # type: ignore[no-any-return]

    def run(self, hooked: bool = False) -> Callable[..., Any]:
        lines = [f"def run(f, {self._each('x#')}):", *self._body(hooked)]
        return self._compile("run with hooks" if hooked else "run", lines, "run")

    def _body(self, hooked: bool = False) -> list[str]:
        read, computed, recorded = self._read(hooked), self._compute(), self._record()
        if not hooked:
            return [*read, *computed, *recorded, "  return v"]
        arrays = f"({self._each('a#')},)"
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
        if scalar is not None and not hooked:
            self.scope["with_scalar"] = scalar.ready_call()
            lines += [
                "  t = type(x1)",
                "  if t is not Variable and (t is float or t is int): return with_scalar(x0, x1)",
            ]
        everything = self._each("x#") + ("," if self.arity == 1 else "")
        for i in range(self.arity):
            lines += [
                f"  try: a{i} = x{i}._array; s{i} = x{i}._spec; n{i} = x{i}._source",
                "  except AttributeError:",
                *(["    x1 = in_dtype_of(x0, x1)"] if scalar is not None and i == 1 else []),
                f"    found = array_operand(f, x{i})",
                f"    if found is None: return with_numbers(f, ({everything}))",
                f"    a{i}, s{i}, n{i} = found",
            ]
        if hooked:
            return lines
        return [*lines, f"  if state.slow_path: return take_slow_path(f, ({everything}))"]

    def _compute(self) -> list[str]:
        specs = self._each("s#")
        settings = "".join([f", f.{name}" for name in self.declared.fields])
        if self.cls._plan_by_settings and settings:
            key = f"({specs}{settings})"
        elif self.arity == 1:
            key = "s0"
        else:
            alike = " and ".join([f"s0 is s{i}" for i in range(1, self.arity)])
            key = f"s0 if {alike} else ({specs})"
        comma = "," if self.arity == 1 else ""
        lines = [
            f"  key = {key}",
            "  try: plan = plans[key]",
            "  except (KeyError, TypeError): plan = None",
            f"  if plan is None: plan = plan_for(f, key, ({specs}{comma}))",
            "  compute, xp, s = plan",
            f"  y = {self._result()}",
        ]
        if self.declared.outputs:
            return [*lines, "  v = as_outputs(f, y, s0)"]
        if not self.cls._keeps_spec:
            lines += ["  if type(y) is not s0.type: y = ensure_array(y, s0)", "  s = spec_of(y)"]
        return [
            *lines,
            "  v = new(Variable); v._array = y; v._spec = s",
        ]

    def _result(self) -> str:
        computed = f"compute(f, xp, {self._each('a#')})"
        if self.cls._inlined:
            arrays = [f"a{i}" for i in range(self.arity)]
            inline = self.expression(self.cls.compute, ["f", "xp", *arrays])
            return f"{inline} if compute is None else {computed}"
        return computed

    def _record(self) -> list[str]:
        """What the graph keeps; nothing where no input needs a gradient or none has a rule."""
        several = bool(self.declared.outputs)
        some = " or ".join([f"n{i} is not None" for i in range(self.arity)])
        if not self.declared.differentiable:
            if several:
                return [f"  if {some}:", "    for w in v: w._nondifferentiable = f.label"]
            return ["  v._source = None", f"  if {some}: v._nondifferentiable = f.label"]
        lines = [
            f"  if ({some}) and state.backprop:",
            f"    f.needs_grad = needs_grad = {self._mask()}",
        ]
        lines += self._retain()
        lines += [f"    f._sources = ({self._each('n#')},); f.sequence = next_sequence()"]
        if several:
            lines += [f"    f.spec = None; link_outputs(f, v, ({self._retained_outputs()},))"]
        else:
            mask = self.declared.kept("out", self.arity)
            kept = "y" if mask == self.all else f"y if needs_grad & {mask} else None"
            lines += [f"    f.spec = s; f.data = {kept if mask else None}; v._source = f"]
        for name in self.declared.saved:
            mask = self.declared.kept(name, self.arity)
            if mask != self.all:
                lines += [f"    if not needs_grad & {mask}: f.{name} = None"]
        return lines if several else [*lines, "  else: v._source = None"]

    def _source_name(self, name: str) -> str:
        return self.declared.names[0] if self.declared.variadic else name

    def _retain(self) -> list[str]:
        """Arrays of inputs that rules ask for. Mostly all inputs need a gradient: tested first."""
        masks = [self.declared.kept(self._source_name(n), self.arity) for n in self.names]
        kept = [(mask, f"n{i}.data = a{i}") for i, mask in enumerate(masks) if mask]
        everything = "; ".join([text for _, text in kept])
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
        return ", ".join(
            [
                f"v[{i}]._array if needs_grad & {mask} else None" if mask else "None"
                for i, mask in enumerate(masks)
            ]
        )

    def _mask(self) -> str:
        if self.arity == 1:
            return "1"
        if self.arity == 2:
            return "(3 if n1 is not None else 1) if n0 is not None else 2"
        return " | ".join([f"(n{i} is not None) << {i}" for i in range(self.arity)])

    # ------------------------------------------------------------------ gradients

    def gradients(self, kind: str) -> Callable[..., Any] | None:
        """`raw` or `var`: the declared rules with what they asked for."""
        declared = self.declared
        if not declared.differentiable:
            return None
        lines = [f"def {kind}(f, g, needs_grad):"]
        if kind == "raw" and not self.wide:
            lines += self._kernels()
        if self._reads_xp:
            lines += [f"  xp = {'NS' if kind == 'var' else 'f._sources[0].spec.backend.xp'}"]
        if self.wide:
            lines += ["  backend = f._sources[0].spec.backend", f"  g = {self._widened('g')}"]
        if any(declared.kept(n, self.arity) for n in declared.names):
            lines += [f"  {self._each('n#')}, = f._sources"]
        lines += self._joint(kind) if declared.joint else self._separate(kind)
        result = f"({self._each('g#')},)" if not declared.joint else "gradients"
        if self.broadcast:
            result = f"f._unbroadcast({result})"
        if self.wide:
            result = f"narrow_all(f, xp, {result}, {self.wide!r})"
        name = kind + "_broadcast" * self.broadcast + f"_{self.wide}" * bool(self.wide)
        return self._compile(name, [*lines, f"  return {result}"], kind)

    def _widened(self, text: str) -> str:
        return f"widen(xp, backend, {text}, {self.wide!r})" if self.wide else text

    def _kernels(self) -> list[str]:
        """A backend's own gradient, if it has one, which may decline."""
        lines = []
        array_type = "f._sources[0].spec.type" if self.declared.outputs else "type(g)"
        for i, (known, kernel) in enumerate(self.cls._gradient_kernels.items()):
            self.scope[f"type{i}"], self.scope[f"kernel{i}"] = known, kernel
            lines += [
                f"  if {array_type} is type{i}:",
                f"    gradients = kernel{i}(f, g, needs_grad)",
                "    if gradients is not NotImplemented: return gradients",
            ]
        return lines

    @property
    def _reads_xp(self) -> bool:
        return self.declared.reads_xp or self.wide is not None

    @property
    def _xp(self) -> str:
        return "xp" if self._reads_xp else "None"

    def _joint(self, kind: str) -> list[str]:
        rule: Any = self.declared.joint
        self.scope["rule"] = rule
        texts = ["f", self._xp, "g", *[self._value(kind, n) for n in self.declared.joint_uses]]
        lone = self.arity == 1 and not self.declared.variadic
        inline = self.expression(rule, texts) if self.inline and lone else None
        if inline:
            return [f"  gradients = ({inline},)"]
        lines = [f"  gradients = rule({', '.join(texts)})"]
        if lone:
            lines += ["  if type(gradients) is not tuple: gradients = (gradients,)"]
        lines += [f"  if len(gradients) != {self.arity}: wrong_number(f, gradients)"]
        return [
            *lines,
            f"  if needs_grad != {self.all}: gradients = only_needed(gradients, needs_grad)",
        ]

    def _separate(self, kind: str) -> list[str]:
        texts = [self._gradient(kind, name, i) for i, name in enumerate(self.names)]
        every = [f"  g{i} = {text}" for i, text in enumerate(texts)]
        if self.arity == 1:
            return every
        needed = [
            f"  g{i} = {text} if needs_grad & {1 << i} else None" for i, text in enumerate(texts)
        ]
        return [
            f"  if needs_grad == {self.all}:",
            *[f"  {line}" for line in every],
            "  else:",
            *[f"  {line}" for line in needed],
        ]

    def _gradient(self, kind: str, name: str, i: int) -> str:
        """The text of one input's gradient."""
        rule = self.declared.rules.get(name)
        if rule is None:
            return "None"
        self.scope[f"rule{i}"] = rule
        texts = ["f", self._xp, "g", *[self._value(kind, use) for use in self.declared.uses[name]]]
        inline = self.expression(rule, texts) if self.inline else None
        return inline or f"rule{i}({', '.join(texts)})"

    def _arguments(self, kind: str, asked: tuple[str, ...]) -> str:
        return "".join([", " + self._value(kind, name) for name in asked])

    def _value(self, kind: str, name: str) -> str:
        """The text that fetches what a rule asked for by `name`."""
        if name == "needs_grad":
            return "(" + "".join([f"needs_grad & {1 << i} != 0, " for i in range(self.arity)]) + ")"
        return self._widened(self._fetched(kind, name))

    def _fetched(self, kind: str, name: str) -> str:
        declared = self.declared
        fetch = "n{}.data" if kind == "raw" else "variable_of(n{})"
        if name in declared.names:
            if declared.variadic:
                parts = [fetch.format(i) for i in range(self.arity)]
                return "(" + ", ".join(parts) + ",)"
            i = declared.names.index(name)
            return fetch.format(i) if i < self.arity else "None"
        if name in declared.saved:
            return self._saved(kind, name)
        i = declared.outputs.index(name) if declared.outputs else 0
        if kind == "var":
            return f"f._output_variable({i})" if declared.outputs else "variable_of(f)"
        return f"f.data[{i}]" if declared.outputs else "f.data"

    def _saved(self, kind: str, name: str) -> str:
        if kind == "raw":
            return f"f.{name}"
        if name not in self.declared.rederived:
            return f"constant(f.{name})"
        method, sources = self.declared.rederived[name]
        self.scope[f"recompute_{name}"] = method
        return f"recompute_{name}(f, NS{self._arguments(kind, sources)})"

    # ------------------------------------------------------------------ text to function

    def _compile(self, name: str, lines: list[str], defined: str = "") -> Callable[..., Any]:
        """The function that the text defines, under `name` unless it says `defined`."""
        text = "\n".join(lines) + "\n"
        where = (
            f"<{name} of {self.cls.__module__}.{self.cls.__qualname__} with {self.arity} inputs>"
        )
        import linecache

        linecache.cache[where] = (len(text), None, text.splitlines(True), where)
        scope = {"__name__": self.cls.__module__, **self.scope}
        exec(compile(text, where, "exec"), scope)
        made: Callable[..., Any] = scope[defined or name]
        made.__qualname__ = f"{self.cls.__qualname__}.{name}"
        return made
