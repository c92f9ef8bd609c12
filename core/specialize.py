"""Writing the call and the gradient of a declared operation, fitted to its number of inputs.

Generic code would cost more than small operations themselves, so for each class (and number of
inputs) four functions are written as text and compiled once; tracebacks show that text.

    call(x0, x1, settings)   a new node applied to its inputs      -> Variable
    run(f, x0, x1)           the same for a node that exists       -> Variable
    raw(f, g, want)          gradients on arrays                   -> one per input, or None
    var(f, g, want)          the same rules on Variables, so that the gradients have a graph

Names in the text: of input i, `x` is what came, `a` its array, `s` its spec, `n` its node if it
wants a gradient; `f` is the function node, `v` the result, `want` the bit mask of wanted inputs.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from itertools import count
from types import SimpleNamespace
from typing import Any
from weakref import ref

from core.backend import BACKENDS
from core.configuration import current
from core.declaration import REQUIRED, Declaration
from core.namespace import namespace
from core.spec import spec_of
from core.variable import Variable, is_array, wrap
from core.variable_node import VariableNode

next_sequence = count(1).__next__


def specialize(declared: Declaration, arity: int, dispatch: Any) -> SimpleNamespace:
    """The four functions for calls of `declared` with `arity` inputs.

    `dispatch` supplies what the text refers to: the unhurried path, plans, coercion of inputs.
    """
    writer = _Writer(declared, arity, dispatch)
    made = SimpleNamespace(raw=writer.gradients("raw"), var=writer.gradients("var"))
    if declared.outputs:
        made.call = made.run = None
    else:
        made.call, made.run = writer.call(), writer.run()
    return made


class _Writer:
    def __init__(self, declared: Declaration, arity: int, dispatch: Any) -> None:
        self.declared = declared
        self.cls: Any = declared.cls
        self.arity = arity
        self.names = declared.inputs_of(arity)
        self.all = (1 << arity) - 1
        self.scope: dict[str, Any] = {
            "cls": self.cls,
            "plans": self.cls._plans,
            "admit": dispatch.admit,
            "foreign": dispatch.foreign,
            "with_numbers": dispatch.with_numbers,
            "unhurried": dispatch.unhurried,
            "settle": dispatch.settle,
            "constant_node": dispatch.constant_node,
            "unbroadcast": dispatch.unbroadcast,
            "wrong_number": dispatch.wrong_number,
            "current": current,
            "new": object.__new__,
            "Variable": Variable,
            "VariableNode": VariableNode,
            "spec_of": spec_of,
            "next_sequence": next_sequence,
            "ref": ref,
            "default": declared.fields,
            "BACKENDS": BACKENDS,
            "NS": namespace,
            "constant": _as_constant,
        }

    def _each(self, text: str, joint: str = ", ") -> str:
        return joint.join([text.replace("#", str(i)) for i in range(self.arity)])

    # ------------------------------------------------------------------ calls

    def call(self) -> Callable[..., Any]:
        star = "*, " if self.declared.variadic or self.declared.optional else ""
        settings = ", ".join(
            name if default is REQUIRED else f"{name}=default[{name!r}]"
            for name, default in self.declared.fields.items()
        )
        head = f"def call({self._each('x#')}{', ' + star + settings if settings else ''}):"
        lines = [head, "  f = new(cls)"]
        lines += [f"  f.{name} = {name}" for name in self.declared.fields]
        if self.cls._prepares:
            lines += ["  f.prepare()"]
        return self._compile("call", lines + self._body())

    def run(self) -> Callable[..., Any]:
        return self._compile("run", [f"def run(f, {self._each('x#')}):", *self._body()])

    def _body(self) -> list[str]:
        return [*self._read(), *self._compute(), *self._record(), "  return v"]

    def _read(self) -> list[str]:
        lines = ["  state = current()"]
        scalar = getattr(self.cls, "with_scalar", None)
        if scalar is not None:
            self.scope["with_scalar"] = scalar.call
            lines += [
                "  t = type(x1)",
                "  if t is float or t is int: return with_scalar(x0, x1)",
            ]
        everything = self._each("x#") + ("," if self.arity == 1 else "")
        for i in range(self.arity):
            lines += [
                f"  try: a{i} = x{i}._array; s{i} = x{i}._spec; n{i} = x{i}._node",
                "  except AttributeError:",
                f"    found = foreign(f, x{i})",
                f"    if found is None: return with_numbers(f, ({everything}))",
                f"    a{i}, s{i}, n{i} = found",
            ]
        return [*lines, f"  if state.slow: return unhurried(f, ({everything}))"]

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
            f"  if plan is None: plan = admit(f, key, ({specs}{comma}))",
            "  compute, xp, s = plan",
            f"  y = compute(f, xp, {self._each('a#')})",
        ]
        if not self.cls._keeps_spec:
            lines += ["  if type(y) is not s0.type: y = settle(y, s0)", "  s = spec_of(y)"]
        return [
            *lines,
            "  v = new(Variable); v._array = y; v._spec = s; v._grad = None",
        ]

    def _record(self) -> list[str]:
        """What the graph keeps; nothing where no input wants a gradient or none has a rule."""
        if not self.declared.differentiable:
            return ["  v._node = None"]
        wants = " or ".join([f"n{i} is not None" for i in range(self.arity)])
        lines = [f"  if ({wants}) and state.backprop:", f"    f.want = want = {self._want()}"]
        if self.arity > 1:
            lines += [f"    if want != {self.all}:"]
            lines += [
                f"      if n{i} is None: n{i} = constant_node(x{i}, s{i})"
                for i in range(self.arity)
            ]
        lines += [f"    f.inputs = ({self._each('n#')},); f.sequence = next_sequence()"]
        for i, name in enumerate(self.names):
            lines += self._if_kept(self._source_name(i, name), f"n{i}.data = a{i}")
        lines += ["    n = new(VariableNode); n._creator = f; n.extra = None; n.spec = s"]
        mask = self.declared.kept("out", self.arity)
        out = "None" if not mask else "y" if mask == self.all else f"y if want & {mask} else None"
        lines += [f"    n.data = f.out = {out}"]
        lines += ["    n._variable = ref(v); v._node = n; f._outputs = None"]
        for name in self.declared.saved:
            mask = self.declared.kept(name, self.arity)
            if mask != self.all:
                lines += [f"    if not want & {mask}: f.{name} = None"]
        return [*lines, "  else: v._node = None"]

    def _source_name(self, i: int, name: str) -> str:
        return self.declared.names[0] if self.declared.variadic else name

    def _if_kept(self, name: str, action: str) -> list[str]:
        mask = self.declared.kept(name, self.arity)
        if not mask:
            return []
        return [f"    {action}" if mask == self.all else f"    if want & {mask}: {action}"]

    def _want(self) -> str:
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
        lines = [f"def {kind}(f, g, want):"]
        if kind == "raw" and self.cls._gradient_kernels:
            self.scope["kernels"] = self.cls._gradient_kernels
            array_type = "f.inputs[0].spec.type" if declared.outputs else "type(g)"
            lines += [
                f"  kernel = kernels.get({array_type})",
                "  if kernel is not None:",
                "    gradients = kernel(f, g, want)",
                "    if gradients is not NotImplemented: return gradients",
            ]
        if declared.reads_xp:
            lines += [f"  xp = {'NS' if kind == 'var' else 'f.inputs[0].spec.backend.xp'}"]
        else:
            lines += ["  xp = None"]
        if any(declared.kept(n, self.arity) for n in declared.names):
            lines += [f"  {self._each('n#')}, = f.inputs"]
        lines += self._joint(kind) if declared.joint else self._separate(kind)
        return self._compile(kind, lines)

    def _joint(self, kind: str) -> list[str]:
        self.scope["rule"] = self.declared.joint
        asked = self._arguments(kind, self.declared.joint_uses)
        lines = [f"  gradients = rule(f, xp, g{asked})"]
        if self.arity == 1 and not self.declared.variadic:
            lines += ["  if type(gradients) is not tuple: gradients = (gradients,)"]
        lines += [f"  if len(gradients) != {self.arity}: wrong_number(f, gradients)"]
        if self.cls._elementwise and self.arity > 1:
            lines += ["  if f.shapes is not None: return unbroadcast(f, gradients)"]
        return [*lines, "  return gradients"]

    def _separate(self, kind: str) -> list[str]:
        lines = []
        for i, name in enumerate(self.names):
            rule = self.declared.rules.get(name)
            if rule is None:
                lines += [f"  g{i} = None"]
                continue
            self.scope[f"rule{i}"] = rule
            asked = self._arguments(kind, self.declared.uses[name])
            computed = f"rule{i}(f, xp, g{asked})"
            condition = "" if self.arity == 1 else f" if want & {1 << i} else None"
            lines += [f"  g{i} = {computed}{condition}"]
        if self.cls._elementwise and self.arity > 1:
            lines += [f"  if f.shapes is not None: return unbroadcast(f, ({self._each('g#')}))"]
        return [*lines, f"  return {self._each('g#')},"]

    def _arguments(self, kind: str, asked: tuple[str, ...]) -> str:
        return "".join([", " + self._value(kind, name) for name in asked])

    def _value(self, kind: str, name: str) -> str:
        """The text that fetches what a rule asked for by `name`."""
        declared = self.declared
        if name == "wanted":
            return "(" + "".join([f"want & {1 << i} != 0, " for i in range(self.arity)]) + ")"
        fetch = "n{}.data" if kind == "raw" else "n{}.get_variable()"
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
            return f"f._output_variable({i})"
        return f"f.out[{i}]" if declared.outputs else "f.out"

    def _saved(self, kind: str, name: str) -> str:
        if kind == "raw":
            return f"f.{name}"
        if name not in self.declared.rederived:
            return f"constant(f.{name})"
        method, sources = self.declared.rederived[name]
        self.scope[f"recompute_{name}"] = method
        return f"recompute_{name}(f, NS{self._arguments(kind, sources)})"

    # ------------------------------------------------------------------ text to function

    def _compile(self, name: str, lines: list[str]) -> Callable[..., Any]:
        text = "\n".join(lines) + "\n"
        where = f"<{name} of {self.cls.__qualname__} with {self.arity} inputs>"
        linecache.cache[where] = (len(text), None, text.splitlines(True), where)
        scope = dict(self.scope)
        exec(compile(text, where, "exec"), scope)
        made: Callable[..., Any] = scope[name]
        made.__qualname__ = f"{self.cls.__qualname__}.{name}"
        return made


def _as_constant(value: Any) -> Any:
    """A saved intermediate for a rule on Variables: a constant as far as derivatives go."""
    return wrap(value) if is_array(value) else value
