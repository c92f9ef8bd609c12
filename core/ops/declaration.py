"""Reading a declared operation: what its class says, worked out once, when the class is created.

The names of `compute`'s arguments are the inputs. The names that a gradient rule asks for, beside
its cotangent `g`, say what is retained for it: an input, `out` (one of `output_names` where there
are several), or one of the intermediates that `compute` keeps (`saved`). A wrong name is refused
here. Of `output_names = ("*parts",)`, of which there is any number, none is retained.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from core.errors import DeclarationError, nearest
from core.errors.arguments import arguments
from core.ops.class_reading import fields, kinds, mentions, names, own_classes, reads

Rule = Callable[..., Any]

_NAMESPACE = re.compile("^_|[xnc]p|namespace|lib|api|module|backend|math")
"""What the namespace is called, as also `np`, `lib` or `_`."""


class Declaration:
    """What a class with a `compute` declares.

    `names` are the inputs, of which the last `optional` may be missing; with `variadic` there is
    any number of inputs, all under one name; so of outputs where it `gives_any`. `fields` maps
    settings to defaults, `kinds` to what they may be. `joint` is the rule for all inputs together,
    `rules` maps an input's name to the rule for it alone; without any it is not `differentiable`.
    """

    def __init__(self, cls: Any, outputs: tuple[str, ...] = ()) -> None:
        self.cls, self.label = cls, cls.__name__
        asked = arguments(cls.compute)
        parameters = asked[2:]
        self.names = tuple([p.name for p in parameters])
        self.variadic = any([p.variadic for p in parameters])
        self.optional = sum([p.optional for p in parameters])
        if not parameters or not _NAMESPACE.search(asked[1].name):  # which is taken for an input
            raise DeclarationError(
                f"{self.label}.compute: expected (self, xp, INPUT, ...), found "
                f"({', '.join([p.name for p in asked])})"
            )
        if self.variadic and len(parameters) != 1:
            raise DeclarationError(f"{self.label}.compute: expected only *{self.names[-1]}")
        self.outputs = outputs
        self.gives_any = any([name.startswith("*") for name in outputs])
        self.saved: tuple[str, ...] = tuple(getattr(cls, "saved", ()))
        self.fields = fields(cls)
        self.kinds = kinds(cls, self.fields)
        self.joint: Rule | None = getattr(cls, "gradient", None)
        author: dict[str, Any] = next((vars(b) for b in cls.__mro__ if "gradient" in vars(b)), {})
        self.recorded: Any = author.get("recorded_gradient")
        self.rules = {n: r for n in self.names if (r := getattr(cls, f"gradient_{n}", None))}
        self.differentiable = bool(self.joint or self.rules)
        self.uses = {name: self._asked(rule) for name, rule in self.rules.items()}
        self.joint_uses = self._asked(self.joint) if self.joint else ()
        self.rederived = {
            name: (method, tuple(names(method)[2:]))
            for name in self.saved
            if (method := getattr(cls, f"recompute_{name}", None))
        }

    @property
    def reads_xp(self) -> bool:
        """Whether some gradient rule looks at the namespace it is given."""
        return any(reads(rule, 1) for rule in (self.joint, *self.rules.values()) if rule)

    @property
    def reads_backend(self) -> bool:
        """Whether some method of the class looks at `self.backend`."""
        return any(
            mentions(method, "backend")
            for base in own_classes(self.cls)
            for method in base.__dict__.values()
            if isinstance(method, FunctionType)
        )

    def _asked(self, rule: Rule) -> tuple[str, ...]:
        """The names that `rule` asks for after (self, xp, g)."""
        asked = tuple(names(rule)[3:])
        output = self.outputs or ("out",)
        known = (*self.names, *output, *self.saved, "needs_grad")
        for name in asked:
            if name not in known:
                raise DeclarationError(
                    f"{self.label}.{rule.__name__}: argument {name!r} is none of "
                    f"{', '.join(known)}.{nearest(name, known)}"
                )
        return asked

    def inputs_of(self, count: int) -> tuple[str, ...]:
        """Names of the inputs of a call with `count` of them."""
        if self.variadic:
            return tuple([f"{self.names[0]}{i}" for i in range(count)])
        return self.names[:count]

    def sources_of(self, count: int) -> tuple[str, ...]:
        """The same, as rules ask for them: of repeated inputs for all by one name."""
        return self.names * count if self.variadic else self.names[:count]

    def fits(self, count: int) -> bool:
        """Whether the operation takes that many inputs."""
        if self.variadic:
            return count > 0
        return len(self.names) - self.optional <= count <= len(self.names)

    def kept(self, name: str, count: int) -> int:
        """For the gradients of which inputs, as a bit mask, the array called `name` is retained."""
        everything = (1 << count) - 1
        if self.joint:
            return everything if name in self._with_sources(self.joint_uses) else 0
        mask = 0
        for i, key in enumerate(self.names[:count]):
            if key in self.rules and name in self._with_sources(self.uses[key]):
                mask |= 1 << i
        return mask

    def _with_sources(self, asked: tuple[str, ...]) -> set[str]:
        """What is asked for, and what a saved intermediate is computed from anew."""
        sources = set(asked)
        for name in asked:
            if name in self.rederived:
                sources.update(self.rederived[name][1])
        return sources
