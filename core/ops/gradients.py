"""Writing the gradients of a declared operation: its rules, with what they asked for.

    raw(f, g, needs_grad)    gradients on arrays                   -> one per input, or None
    var(f, g, needs_grad)    the same rules on Variables, so that the gradients have a graph

A `gradient` of several array operations may have a `recorded_gradient` beside it: one operation of
`g` and what the rule asks for, in this order, which `var` applies in its place.

Names in the text are those of `core.ops.specialize`; `g` is the cotangent, `g0` the gradient of
input 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.graph.variable import variable_of
from core.ops import operands, widening
from core.ops.declaration import Declaration
from core.ops.namespace import namespace_of
from core.ops.operation import Operation
from core.ops.writer import Writer

# Where the inputs are, as on arrays: not at the current backend, whose dtypes may be others.
RECORDED_XP = "namespace_of(f._sources[0].spec.backend)"


class GradientWriter(Writer):
    """Writes `raw` and `var`, summed back from broadcasting, and computed in a wider dtype."""

    def __init__(
        self,
        declared: Declaration,
        arity: int,
        broadcast: bool,
        wide: str | None,
        mixed: bool,
        planned: bool,
    ) -> None:
        scope = {
            "widen": widening.widen,
            "narrow_all": widening.narrow_all,
            "wrong_number": wrong_number,
            "only_needed": only_needed,
            "namespace_of": namespace_of,
            "constant": operands.as_constant,
            "as_array": operands.scalar_as_array,
            "variable_of": variable_of,
        }
        super().__init__(declared, arity, scope)
        self.broadcast, self.wide, self.mixed, self.planned = broadcast, wide, mixed, planned
        self.inline = self.cls.inline and not wide
        self.reads_xp = declared.reads_xp or wide is not None
        self.xp = "xp" if self.reads_xp else "None"  # the text for it among a rule's arguments

    def written(self, kind: str) -> Callable[..., Any] | None:
        """`raw` or `var`: the declared rules with what they asked for."""
        declared = self.declared
        if not declared.differentiable:
            return None
        lines = self._kernels() if kind == "raw" else []
        if self.reads_xp:
            lines += [f"  xp = {RECORDED_XP if kind == 'var' else 'f._sources[0].spec.xp'}"]
        if self.wide:
            lines += ["  backend = f._sources[0].spec.backend", f"  g = {self._widened('g')}"]
        if any(declared.kept(n, self.arity) for n in declared.names):
            lines += [f"  {self.each('n#')}, = f._sources"]
        lines += self._joint(kind) if declared.joint else self._separate(kind)
        result = f"({self.each('g#')},)" if not declared.joint else "gradients"
        if self.broadcast:
            result = f"f._unbroadcast({result})"
        if self.wide:
            result = f"narrow_all(f, xp, {result}, {self.wide!r})"
        name = kind + "_broadcast" * self.broadcast + f"_{self.wide}" * bool(self.wide)
        head = [f"def {kind}(f, g, needs_grad=None):"]
        if any("needs_grad" in line for line in lines):
            head += ["  if needs_grad is None: needs_grad = f.needs_grad"]
        return self.compiled(name, [*head, *lines, f"  return {result}"], kind)

    def _widened(self, text: str) -> str:
        return f"widen(xp, backend, {text}, {self.wide!r})" if self.wide else text

    def _kernels(self) -> list[str]:
        """A backend's own gradient, if it has one, which may decline.

        Of what is computed in a wider dtype, one that takes 16-bit floats as they are.
        """
        lines = []
        for i, (known, kernel) in enumerate(self.cls._gradient_kernels.items()):
            if self.wide and (self.mixed or not getattr(kernel, "takes_halves", False)):
                continue
            if getattr(kernel, "with_compute", False) and not self.planned:
                continue
            self.scope[f"type{i}"], self.scope[f"kernel{i}"] = known, kernel
            least = 0 if self.declared.outputs else getattr(kernel, "least", 0)
            large = f" and g.size >= {least}" if least else ""
            # Of a result without dimensions, NumPy's arithmetic may have made a scalar.
            g = "g" if self.declared.outputs else f"g if type(g) is type{i} else as_array(g)"
            lines += [
                f"  if f._sources[0].spec.type is type{i}{large}:",
                f"    gradients = kernel{i}(f, {g}, needs_grad)",
                "    if gradients is not NotImplemented: return gradients",
            ]
        return lines

    def _joint(self, kind: str) -> list[str]:
        rule: Any = self.declared.joint
        self.scope["rule"] = rule
        texts = self._texts(kind, self.declared.joint_uses)
        if kind == "var" and self.declared.recorded:
            self.scope["recorded"] = self.declared.recorded.ready_call()
            return [f"  gradients = (recorded({', '.join(texts[2:])}),)"]
        lone = self.arity == 1 and not self.many
        if self.inline and lone and (inline := self.expression(rule, texts)):
            return [f"  gradients = ({inline},)"]
        lines = [f"  gradients = rule({', '.join(texts)})"]
        if lone:
            lines += ["  if type(gradients) is not tuple: gradients = (gradients,)"]
        return [
            *lines,
            "  if (count := len(gradients)) != len(f._sources): wrong_number(f, gradients)",
            "  if needs_grad + 1 != 1 << count: gradients = only_needed(gradients, needs_grad)",
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
        texts = self._texts(kind, self.declared.uses[name])
        inline = self.expression(rule, texts) if self.inline else None
        return inline or f"rule{i}({', '.join(texts)})"

    def _texts(self, kind: str, asked: tuple[str, ...]) -> list[str]:
        """The arguments of a rule that asks for these."""
        return ["f", self.xp, "g", *[self._value(kind, name) for name in asked]]

    def _value(self, kind: str, name: str) -> str:
        """The text that fetches what a rule asked for by `name`."""
        if name == "needs_grad":
            bits = "".join([f"needs_grad & {1 << i} != 0, " for i in range(self.arity)])
            many = "*[needs_grad >> i & 1 != 0 for i in range(len(f._sources))],"
            return f"({many if self.many else bits})"
        return self._widened(self._fetched(kind, name))

    def _fetched(self, kind: str, name: str) -> str:
        declared = self.declared
        fetch = "n{}.data" if kind == "raw" else "variable_of(n{})"
        if name in declared.names:
            if declared.variadic:
                return f"tuple([{fetch.format('')} for n in n_all])"
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
        texts = ["f", RECORDED_XP, *[self._value(kind, source) for source in sources]]
        return f"recompute_{name}({', '.join(texts)})"


def wrong_number(f: Operation, gradients: tuple[Any, ...]) -> None:
    """Refuse what a rule for all inputs gave, which is not one gradient an input."""
    raise ValueError(
        f"{f.label}.gradient: expected {len(f._sources)} gradients, one for each of "
        f"{', '.join(f.declared.inputs_of(len(f._sources)))}, got {len(gradients)}"
    )


def only_needed(gradients: tuple[Any, ...], needs_grad: int) -> tuple[Any, ...]:
    """The gradients of the inputs that need one, None for the others, whatever a rule gave."""
    return tuple([g if needs_grad >> i & 1 else None for i, g in enumerate(gradients)])
