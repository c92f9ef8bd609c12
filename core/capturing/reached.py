"""What a function can read from outside: names, objects and lists behind them, arrays."""

from __future__ import annotations

import dis
import os
import sys
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterable, Iterator, Set
from contextvars import ContextVar
from types import CellType, CodeType, FunctionType, GetSetDescriptorType, ModuleType
from typing import Any, NamedTuple

from core.arrays.backend import host
from core.capturing.generators import state_of
from core.errors import TraceError
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.link import Link
from core.link.parameter import Parameter
from core.ops.function_node import FunctionNode
from core.optimizer import Optimizer
from core.programs import PLAIN, names_in
from core.tracing import attribute, roots

MOST = 10_000
"""So many objects and entries can be looked at before each replay."""


class Name(NamedTuple):
    """A name from outside: a key of a dict, or an attribute of another object."""

    label: str
    where: Any
    key: str

    def read_as(self, where: str) -> str:
        """Python's text that reads the name, where `where` is the text for its owner."""
        if type(self.where) is dict:
            return f"{where}.get({self.key!r})"
        if isinstance(self.where, CellType):
            return f"{where}.cell_contents"
        return f"getattr({where}, {self.key!r}, None)"

    def read(self) -> Any:
        """What the name stands for; None for nothing."""
        if type(self.where) is dict:
            return self.where.get(self.key)
        try:
            return getattr(self.where, self.key, None)
        except Exception:  # a cell that is not filled yet, or a property that says so
            return None

    def is_missing(self) -> bool:
        """Whether the name stands for nothing, not even for None."""
        if type(self.where) is dict:
            return self.key not in self.where
        return not hasattr(self.where, self.key)

    def write(self, x: Any) -> None:
        """Let the name stand for `x`."""
        if type(self.where) is dict:
            self.where[self.key] = x
            return
        held = getattr(type(self.where), self.key, None)
        if not isinstance(held, property) or held.fset is not None:  # else others make it up
            setattr(self.where, self.key, x)

    def remove(self) -> None:
        """Let the name stand for nothing."""
        if type(self.where) is dict:
            self.where.pop(self.key, None)
        elif not self.is_missing():
            delattr(self.where, self.key)


class Content(Name):
    """What a variable of a context holds; None where nothing is set, and it gives its default."""

    def read_as(self, where: str) -> str:
        """The text that reads it, of a name for `where`."""
        return f"{where}.get(None)"

    def read(self) -> Any:
        """What it holds."""
        return self.where.get(None)

    def is_missing(self) -> bool:
        """Whether it stands for nothing, which none of them does."""
        return False

    def write(self, x: Any) -> None:
        """Let it hold something again."""
        if x is not None:
            self.where.set(x)


class Reached:
    """What a function can read from outside, by the names in its code and that of what it calls.

    Functions of the user's own are followed into their closures, globals and defaults; lists,
    tuples, dicts and sets into their entries; objects, classes and modules into those attributes
    that some function among them names.
    """

    def __init__(self, function: Any) -> None:
        self.names: list[Name] = []
        self.containers: list[tuple[str, Any]] = []
        self.arrays: list[tuple[str, Any]] = []
        self.links: list[Link] = []
        self.parameters: list[Parameter] = []  # of no link that is named
        self.variables: list[Variable] = []  # of no link
        self.optimizers: list[Optimizer] = []
        self.generators: list[tuple[str, Any]] = []  # of random numbers
        self.caches: list[Any] = []  # of functions that keep what they have given
        self._count = 0
        self._kept: list[Any] = []  # for what is known by its id must not go
        self._seen: set[Any] = set()
        self.used: set[str] = set()
        self._asked: set[str] = set()  # by code that goes on where there is nothing of the name
        self._owners: list[tuple[str, Any]] = []
        self._classes: dict[int, dict[str, list[type]]] = {}  # by the id of a class
        self._waiting: list[tuple[str, Any]] = []
        self.scope = getattr(_inner(function), "__globals__", None)
        self._reach("the step", function)
        for each in roots(function):
            owner = each if isinstance(each, Link) else each.target
            for path, link in () if owner is None else owner.namedlinks():
                self._reach(path, link)
        self._follow()

    def attributes(self) -> list[tuple[str, dict[str, Any]]]:
        """Those of objects and modules, but for links and optimizers."""
        others = [each for each in self._owners if not isinstance(each[1], (Link, Optimizer))]
        found = [(label, getattr(owner, "__dict__", None)) for label, owner in others]
        return [(label, names) for label, names in found if type(names) is dict]

    def _follow(self) -> None:
        looked: tuple[int, int] | None = None
        while looked != (len(self._owners), len(self.used)):
            looked = len(self._owners), len(self.used)
            for label, owner in self._owners.copy():
                for name in sorted(self.used | self._unnamed(owner) | self._all_of(owner)):
                    self._attribute(label, owner, name)
            self._go_on()

    def _go_on(self) -> None:
        while self._waiting:
            label, x = self._waiting.pop()
            self._count += len(x) + 1 if isinstance(x, _CONTAINERS) else 1
            if self._count > MOST:
                raise TraceError(
                    f"capture: {label}, with other names from outside, holds more than {MOST:,} "
                    "objects, which cannot be looked at before each replay. Give what the step "
                    "needs of them as arguments, or names of their own."
                )
            self._expand(label, x)

    def _is_new(self, *key: Any) -> bool:
        """Whether a key is asked about for the first time."""
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _reach(self, label: str, x: Any) -> None:
        if not isinstance(x, (*PLAIN, host().xp.generic)) and self._is_new(id(x)):
            self._kept.append(x)
            self._waiting.append((label, x))

    def _name(self, label: str, where: Any, key: str, kind: type[Name] = Name) -> None:
        if self._is_new("name", id(where), key):
            name = kind(label, where, key)
            self.names.append(name)
            self._reach(label, name.read())

    def _expand(self, label: str, x: Any) -> None:
        if isinstance(x, _CONTAINERS):
            self._container(label, x)
        elif isinstance(x, FunctionType):
            self._function(label, x)
        elif isinstance(x, Link):
            self._link(label, x)
        elif isinstance(x, Variable):
            alike: list[Any] = self.parameters if isinstance(x, Parameter) else self.variables
            alike.append(x)
        elif is_array(x) or isinstance(x, host().array_type):
            self.arrays.append((label, x))
        elif isinstance(x, Iterator) and type(x).__module__ in ("builtins", "itertools"):
            raise TraceError(
                f"capture: {label} is an iterator, of which a replay would take nothing. Give what "
                "is taken of it as an argument."
            )
        elif isinstance(x, ContextVar):
            self._name(label, x, "get", Content)
        elif isinstance(x, (type, ModuleType)):
            self._class_or_module(x)
        else:
            if state_of(x) is not None:
                self.generators.append((label, x))
            self._object(x)

    def _container(self, label: str, x: Any) -> None:
        if not isinstance(x, (tuple, frozenset)):
            self.containers.append((label, x))
        for part in parts_of(x):
            self._reach(label, part)
        if _is_own_class(type(x)):
            self._object(x)

    def _function(self, label: str, x: FunctionType) -> None:
        operation = getattr(x, "operation", None)
        if _is_operation(operation):  # the engine has written x, and changes what it names
            self._reach(label, operation)
        elif self._is_followed(x):
            self._code(x)
        else:  # of a package, as what a decorator gives: it may call others
            cells = [Name(label, cell, "cell_contents") for cell in x.__closure__ or ()]
            self._functions(label, [attribute(x, "__wrapped__"), *[c.read() for c in cells]])

    def _class_or_module(self, x: Any) -> None:
        if _is_own_module(x if isinstance(x, ModuleType) else sys.modules.get(x.__module__)):
            self._owners.append((x.__name__, x))
        if _is_operation(x):
            for rule in _rules_of(x):
                self._reach(rule.__name__, rule)

    def _functions(self, label: str, some: Iterable[Any]) -> None:
        for x in some:
            if isinstance(x, FunctionType):
                self._reach(label, x)

    def _is_followed(self, function: FunctionType) -> bool:
        scope, file = function.__globals__, function.__code__.co_filename
        return scope is self.scope or is_own(file, function.__module__)

    def _code(self, function: FunctionType) -> None:
        scope, used = function.__globals__, set(names_in(function.__code__))
        texts = _texts(function.__code__)
        self.used |= used | (texts if used & _BY_TEXT else set())
        self._asked |= texts if used & {"getattr", "hasattr"} else set()
        if not used.isdisjoint(_ENVIRONMENT):
            self._reach("os.environ", vars(os.environ)["_data"])
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._name(name, cell, "cell_contents")
        named = set(_globals_in(function.__code__))
        for name in sorted(named | (texts if "globals" in used else set())):
            if name in scope and self._is_new(id(scope), name):
                if isinstance(scope[name], ModuleType):
                    self._reach(name, scope[name])
                else:
                    self._name(name, scope, name)
            else:  # perhaps a module that is imported in the function
                for path in (name, f"{scope.get('__package__')}.{name}"):
                    self._reach(name, sys.modules.get(path))
        self.names.append(Name(f"{function.__name__}.__code__", function, "__code__"))
        for key in ("__defaults__", "__kwdefaults__"):
            if getattr(function, key):
                self._name(f"{function.__name__}.{key}", function, key)
        self._owners.append((function.__name__, function))

    def _link(self, label: str, link: Link) -> None:
        """Its attributes; what they stand for is compared by the recording."""
        self.links.append(link)
        own = _is_own_class(type(link))
        for name, x in vars(link).items():
            own_value = is_array(x) or isinstance(x, Variable)
            if name in link._params or name in link._persistent or own_value:
                continue
            compared = type(x) in (list, dict, set) and (name in _OF_LINKS or not own)
            for part in parts_of(x) if compared else [x]:
                self._reach(f"{label.rstrip('/')}/{name}", part)
        self._owners.append((label, link))

    def _object(self, x: Any) -> None:
        for key in ("__wrapped__", "func", "__func__", "__self__", "args", "keywords"):
            if not isinstance(x, Optimizer):
                self._reach(type(x).__name__, attribute(x, key))
        if isinstance(x, Optimizer):
            self.optimizers.append(x)
        if isinstance(x, (ChainMap, UserDict, UserList)):
            key = "maps" if isinstance(x, ChainMap) else "data"
            self._name(f"{type(x).__name__}.{key}", x, key)
        if not _is_own_class(type(x)):
            self._functions(type(x).__name__, (attribute(x, "__dict__") or {}).values())
        if attribute(x, "cache_clear") is not None:
            self.caches.append(x)
        if not getattr(type(x), "is_capture", False):  # whose attributes are not the step's
            self._owners.append((type(x).__name__, x))

    def _having(self, cls: type) -> dict[str, list[type]]:
        """Which of a class and its bases have something by a name, in their order."""
        if id(cls) not in self._classes:
            found = self._classes[id(cls)] = {}
            for each in cls.__mro__:
                for name in vars(each):
                    found.setdefault(name, []).append(each)
        return self._classes[id(cls)]

    def _unnamed(self, owner: Any) -> Set[str]:
        """The methods of an object that code calls without their names."""
        if isinstance(owner, (type, ModuleType, FunctionType)):
            return set()
        found = self._having(type(owner)).keys() & _IMPLICIT
        return found | {"forward"} if isinstance(owner, Link) else found

    def _all_of(self, owner: Any) -> Set[str]:
        """The attributes of an object, where code asks for all of them at once."""
        if _TOGETHER.isdisjoint(self.used) or isinstance(owner, (type, ModuleType, Link)):
            return set()
        fields = attribute(type(owner), "__dataclass_fields__") or ()
        return {*(attribute(owner, "__dict__") or ()), *fields}

    def _is_computed(self, x: Any) -> bool:
        """Whether `x` is a property whose code is not followed, as that of installed packages."""
        get = x.fget if isinstance(x, property) else None
        own = isinstance(get, FunctionType) and self._is_followed(get)
        return isinstance(x, (property, GetSetDescriptorType)) and not own

    def _attribute(self, label: str, owner: Any, name: str) -> None:
        inherits = "super" in self.used
        if not self._is_new(id(owner), name, inherits, name in self._asked):
            return
        own, cls = getattr(owner, "__dict__", {}), owner if isinstance(owner, type) else type(owner)
        classes = self._having(cls).get(name, ())
        if isinstance(owner, Optimizer) or (isinstance(owner, Link) and name in own):
            return
        if not classes:
            if name in own or (name in self._asked and _may_get(owner)):
                self._name(f"{label}.{name}", owner, name)
            return
        common = vars(classes[0])[name]
        if self._is_computed(common):
            self._computed(Name(f"{label}.{name}", owner, name))
        elif _is_code(_inside(common)) and (isinstance(owner, type) or name not in own):
            for each in classes if inherits else classes[:1]:
                held = vars(each)[name]
                self._method(name, owner, cls if held is common else each, held)
        elif name in own or _is_value(common):
            self._name(f"{label}.{name}", owner, name)
        elif _is_own_class(type(common)):  # a descriptor
            self._reach(name, common)

    def _computed(self, found: Name) -> None:
        """A property of an object, whose value is compared."""
        if isinstance(found.where, (type, ModuleType, FunctionType, Link)):
            return
        if isinstance(found.read(), (*PLAIN, host().xp.generic)):
            self.names.append(found)

    def _method(self, name: str, owner: Any, where: type, held: Any) -> None:
        """What a class has for its objects to call; `where` may have another one later."""
        function = _inside(held)
        if not _is_code(function) or _is_made(name, function):
            return
        self._reach(name, function)
        of_object = isinstance(held, FunctionType) and not isinstance(owner, type)
        if of_object and _is_own_class(where):
            self._name(f"{where.__name__}.{name}", where, name)


_OF_LINKS = ("_params", "_persistent", "_children", "_layers", "_set_in_scope")
_CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_OPERATORS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_UNNAMED = (
    *("call", "get", "getattr", "getattribute", "getitem", "missing", "len", "iter", "next"),
    *("reversed", "contains", "enter", "exit", "bool", "int", "float", "complex", "index", "hash"),
    *("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "round", "trunc"),
    *("floor", "ceil", *[kind + name for kind in ("", "r", "i") for name in _OPERATORS]),
)
_IMPLICIT = frozenset([f"__{name}__" for name in _UNNAMED])
"""Methods that code calls without their names."""

_BY_TEXT = {"getattr", "hasattr", "vars", "__dict__", "attrgetter", "globals"}
_ENVIRONMENT = frozenset(["environ", "getenv"])
_TOGETHER = frozenset(["vars", "__dict__", "asdict", "astuple"])
_LIBRARY = os.path.dirname(os.__file__)


def _may_get(owner: Any) -> bool:
    """Whether the owner may get an attribute that it lacks, and is asked without running code."""
    if isinstance(owner, ModuleType):
        return "__getattr__" not in vars(owner)
    return not isinstance(owner, (Link, FunctionType)) and not hasattr(type(owner), "__getattr__")


def _is_value(x: Any) -> bool:
    """Whether an attribute of a class is read by instances as it is: a number, a list, a slot."""
    return type(x).__name__ == "member_descriptor" or not hasattr(type(x), "__get__")


def _is_code(x: Any) -> bool:
    """Whether `x` is a function, or one that caches its results."""
    return isinstance(x, FunctionType) or attribute(x, "cache_clear") is not None


def _is_made(name: str, function: Any) -> bool:
    """Whether `dataclass` has generated a method such as `__eq__`, which reads all attributes."""
    code = attribute(function, "__code__")
    return name in _IMPLICIT and code is not None and code.co_filename == "<string>"


def _inside(x: Any) -> Any:
    """The function of a property, a method, a cached property."""
    for key in ("fget", "__func__", "func"):
        x = attribute(x, key) or x
    return x


def _inner(function: Any) -> Any:
    """The function of a partial, a method, or a wrapper."""
    for key in ("__wrapped__", "func", "__func__"):
        inner = attribute(function, key)
        if inner is not None:
            return _inner(inner)
    if isinstance(function, FunctionType):
        return function
    return attribute(type(function), "__call__")


def _globals_in(code: CodeType) -> Iterator[str]:
    """The names of globals in a function, and in those within it, without names of attributes.

    A global that merely has the name of an attribute is not read by the step, and may change.
    """
    for each in dis.get_instructions(code):
        if each.opcode in dis.hasname and not each.opname.endswith(("_ATTR", "_METHOD")):
            yield each.argval
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _globals_in(part)


def _is_operation(x: Any) -> bool:
    return isinstance(x, type) and issubclass(x, FunctionNode)


def optimizers_of(function: Any) -> list[Optimizer]:
    """The optimizers that a function names, or else those of what it names; none, if too many."""
    named = [each for each in roots(function) if isinstance(each, Optimizer)]
    try:
        return named or Reached(function).optimizers
    except TraceError:  # who records the function is told
        return []


def _rules_of(operation: Any) -> Iterator[FunctionType]:
    """The methods that the author of an operation has written: its forward and its gradients."""
    for base in filter(_is_operation, operation.__mro__):
        for x in vars(base).values():
            if isinstance(x, FunctionType) and not _is_written(x, base):
                yield x


def _is_written(x: FunctionType, operation: type) -> bool:
    """Whether the engine has made a method, or Python itself (annotations, from 3.14 on)."""
    return x.__globals__.get("cls") is operation or x.__name__.startswith("__annotate")


def _texts(code: CodeType) -> set[str]:
    """The texts in a function that could be names."""
    found = {x for x in code.co_consts if isinstance(x, str) and x.isidentifier()}
    return found.union(*[_texts(x) for x in code.co_consts if isinstance(x, CodeType)])


def is_own(file: str | None, module: str | None) -> bool:
    """Whether a file is the user's own, and not of an installed package."""
    if (module or "").partition(".")[0] in ("core", "plugins", *sys.stdlib_module_names):
        return module == "__main__"
    return not file or not ("site-packages" in file or file.startswith((_LIBRARY, "<frozen")))


def _is_own_class(cls: type) -> bool:
    return _is_own_module(sys.modules.get(cls.__module__))


def _is_own_module(module: ModuleType | None) -> bool:
    return module is not None and is_own(getattr(module, "__file__", None), module.__name__)


def parts_of(x: Any) -> list[Any]:
    """What a list, tuple, set or dict holds, with the keys."""
    return [*x, *x.values()] if isinstance(x, dict) else list(x)
