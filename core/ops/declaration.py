"""Reading a declared operation: what its class says, worked out once, when the class is created.

The names of `compute`'s arguments are the inputs. The names that a gradient rule asks for, beside
its cotangent `g`, say what is retained for it: an input, `out`, one of several `outputs`, or one of
the intermediates that `compute` keeps (`saved`). A wrong name is refused here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from core.errors import DeclarationError, nearest
from core.errors.arguments import arguments
from core.errors.kinds import MISSING, Kind, kind_of, taking

if TYPE_CHECKING:
    import dis

Rule = Callable[..., Any]
REQUIRED = MISSING  # in the place of a default
_ENGINE = (
    "builtins",
    "core.graph.graph_node",
    "core.graph.hooked",
    "core.ops.function_node",
    "core.ops.general_form",
)
_PARTS = ("self", "backend", "compute", "gradient", "prepare", "operand", "with_scalar")


class Declaration:
    """What a class with a `compute` declares.

    `names` are the inputs, of which the last `optional` may be missing; with `variadic` there is
    any number of inputs, all under one name. `fields` maps settings to defaults, `kinds` to what
    they may be. `joint` is the rule for all inputs together, `rules` maps an input's name to the
    rule for it alone.
    """

    def __init__(self, cls: Any, outputs: tuple[str, ...] = ()) -> None:
        self.cls = cls
        self.label = cls.__name__
        parameters = arguments(cls.compute)[2:]
        self.names = tuple([p.name for p in parameters])
        self.variadic = any([p.variadic for p in parameters])
        self.optional = sum([p.optional for p in parameters])
        if self.variadic and len(parameters) != 1:
            raise DeclarationError(f"{self.label}.compute: expected only *{self.names[-1]}")
        self.outputs = outputs
        self.saved: tuple[str, ...] = tuple(getattr(cls, "saved", ()))
        self.fields = _fields(cls)
        self.kinds = _kinds(cls, self.fields)
        self.joint: Rule | None = getattr(cls, "gradient", None)
        self.rules = {n: r for n in self.names if (r := getattr(cls, f"gradient_{n}", None))}
        self._refuse_strays()
        self._refuse_reserved()
        self.uses = {name: self._asked(rule) for name, rule in self.rules.items()}
        self.joint_uses = self._asked(self.joint) if self.joint else ()
        self.rederived = {
            name: (method, tuple(_names(method)[2:]))
            for name in self.saved
            if (method := getattr(cls, f"recompute_{name}", None))
        }

    def parameters(self, star: str = "") -> str:
        """The settings as parameters in the text of a function; see `named`."""
        parts = [
            f"{name}_" if default is REQUIRED else f"{name}_=default[{name!r}]"
            for name, default in self.fields.items()
        ]
        return f", /, {star}{', '.join(parts)}" if parts else ""

    def assigned(self, node: str, scope: dict[str, Any]) -> list[str]:
        """The lines that give a node its settings, each of its kind; `scope` grows with them."""
        lines = []
        for name in self.fields:
            kind = self.kinds[name]
            test = kind.test(f"{name}_", scope)
            scope[f"take_{name}"] = taking(kind, self.label, name)
            lines += [f"  {node}.{name} = {name}_ if {test} else take_{name}({name}_)"]
        return lines

    def named(self, function: Any) -> Any:
        """`function`, whose text has `parameters`, taking the settings by their own names.

        The text calls the setting `f` or `type` by `f_` and `type_`, for it has names of its own.
        """
        own = {f"{name}_": name for name in self.fields}
        code = function.__code__
        names = tuple([own.get(name, name) for name in code.co_varnames])
        function.__code__ = code.replace(co_varnames=names)
        if function.__kwdefaults__:
            function.__kwdefaults__ = {own[k]: v for k, v in function.__kwdefaults__.items()}
        return function

    @property
    def differentiable(self) -> bool:
        """Whether any input has a gradient rule."""
        return bool(self.joint or self.rules)

    @property
    def reads_xp(self) -> bool:
        """Whether some gradient rule looks at the namespace it is given."""
        return any(_reads(rule, 1) for rule in (self.joint, *self.rules.values()) if rule)

    @property
    def reads_backend(self) -> bool:
        """Whether some method of the class looks at `self.backend`."""
        return any(
            _mentions(method, "backend")
            for base in _own_classes(self.cls)
            for method in base.__dict__.values()
            if isinstance(method, FunctionType)
        )

    def _refuse_strays(self) -> None:
        if self.joint and self.rules:
            raise DeclarationError(
                f"{self.label}: expected `gradient` or one `gradient_INPUT` an input, found both"
            )
        rules = {n for b in _own_classes(self.cls) for n in vars(b) if n.startswith("gradient_")}
        for attribute in sorted(rules):
            name = attribute.removeprefix("gradient_")
            if name not in self.names:
                raise DeclarationError(
                    f"{self.label}.{attribute}: compute has no input {name!r}; it has "
                    f"{', '.join(self.names)}.{nearest(name, self.names)}"
                )

    def _refuse_reserved(self) -> None:
        """A setting or saved intermediate would hide what every function node has."""
        engine = next(base for base in self.cls.__mro__ if is_engine(base))
        for name in (*self.fields, *self.saved):
            if hasattr(engine, name) or name in _PARTS:
                raise DeclarationError(
                    f"{self.label}: {name!r} is a part of every function node; call the setting or "
                    "saved intermediate something else"
                )
        for base in _own_classes(self.cls):
            for name, value in base.__dict__.items():
                if _is_private_method(name, value) and hasattr(engine, name):
                    raise DeclarationError(
                        f"{self.label}.{name} would replace a method of the engine; rename it"
                    )

    def _asked(self, rule: Rule) -> tuple[str, ...]:
        """The names that `rule` asks for after (self, xp, g)."""
        asked = tuple(_names(rule)[3:])
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


def _names(function: Callable[..., Any]) -> list[str]:
    return [a.name for a in arguments(function)]


def _kinds(cls: type, fields: dict[str, Any]) -> dict[str, Kind]:
    """What each setting may be, by its annotation."""
    return {
        name: kind_of(annotation, base.__module__, fields[name])
        for base in _own_classes(cls)
        for name, annotation in base.__annotations__.items()
        if name in fields
    }


def _fields(cls: type) -> dict[str, Any]:
    """Annotated settings, the base classes' first, with their defaults."""
    fields: dict[str, Any] = {}
    for base in _own_classes(cls):
        for name, kind in base.__annotations__.items():
            if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
                fields[name] = getattr(cls, name, REQUIRED)
    return fields


def _own_classes(cls: type) -> list[type]:
    """The class and its bases, the furthest first, without the engine's own."""
    return [base for base in reversed(cls.__mro__) if not is_engine(base)]


def is_engine(cls: type) -> bool:
    """Whether a class is what operations derive from, and declares nothing itself."""
    return cls.__module__ in _ENGINE


def _is_private_method(name: str, value: Any) -> bool:
    """Whether the author wrote it; what the engine gives classes is its own, or no file's."""
    if not isinstance(value, FunctionType) or not name.startswith("_") or name.endswith("__"):
        return False
    return value.__module__ != "core.ops.declaring" and value.__code__.co_filename[0] != "<"


def _reads(function: Callable[..., Any], position: int) -> bool:
    """Whether the code of `function` loads its argument at `position`."""
    import dis

    name = _names(function)[position]
    return any(
        step.opname.startswith("LOAD") and name in _loaded(step)
        for code in _codes(function)
        for step in dis.get_instructions(code)
    )


def _loaded(step: dis.Instruction) -> tuple[Any, ...]:
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _mentions(function: Callable[..., Any], attribute: str) -> bool:
    return any(attribute in code.co_names for code in _codes(function))


def _codes(function: Callable[..., Any]) -> list[Any]:
    """The code of a function and of those defined inside it."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    found, pending = [], [function.__code__]
    while pending:
        code = pending.pop()
        found.append(code)
        pending += [const for const in code.co_consts if isinstance(const, CodeType)]
    return found
