"""Kinds of settings: what an annotation lets a setting be, and how anything else is refused.

Ops annotate their settings, functions and links their arguments: `alpha: float`,
`axis: int | None`, `stride: int | tuple[int, ...]`, `Annotated[float, "[0, 1)"]` where numbers have
an interval (`core.typing` names some). That is the whole declaration. What has one of the expected
types passes at the cost of looking at its type; a NumPy scalar, an array of no dimensions or a list
is brought into the declared form; the rest is refused by name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import CodeType, MappingProxyType
from typing import Any, NamedTuple, TypeVar

from core import typing as shared
from core.errors.arguments import annotations_of as annotations_of
from core.errors.arguments import signature_of
from core.errors.exceptions import InvalidSetting
from core.errors.interval import Interval
from core.errors.scalars import is_single, python_number
from core.errors.suggestions import refuse_unknown
from core.typing import Array

# What a Variable and an array are: core.graph.variable, above this room, says it.
Variable: Any = ()
as_array: Any = None
is_array: Any = None

_Function = TypeVar("_Function", bound=Callable[..., Any])

_ONE: dict[Any, tuple[str, tuple[type, ...]]] = {
    complex: ("a number", (complex, float, int, bool)),
    float: ("a number", (float, int)),
    int: ("a whole number", (int,)),
    bool: ("True or False", (bool,)),
    str: ("a string", (str,)),
    type(None): ("None", (type(None),)),
}
"""What is annotated -> it in words, and the types that pass as they are."""

_FITS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    Callable: ("a function", callable),
    os.PathLike: ("a path", lambda value: isinstance(value, os.PathLike)),
}

MISSING: Any = object()
"""What stands where there is no value of the kind, and no default."""

UNKNOWN = "unknown_keywords"
"""What a function calls the keywords that it takes only to refuse them."""


class Kind:
    """What a setting may be: a value of one of `types`, or a tuple of elements of the kind `each`.

    `length` is that of the tuple, where only one is right. Numbers are `within` an interval, where
    there is one. What one of the functions in `fits` is true of is right as well, with `arrays`
    the arrays of all backends, and Variables. A kind without words takes anything.
    """

    def __init__(
        self,
        words: tuple[str, ...] = (),
        types: tuple[type, ...] = (),
        each: Kind | None = None,
        length: int | None = None,
        fits: tuple[Callable[[Any], bool], ...] = (),
        arrays: bool = False,
        within: Interval | None = None,
    ) -> None:
        self.words = words
        self.types = frozenset(types)
        self.each = each
        self.length = length
        self.fits = fits
        self.arrays = arrays
        self.within = within

    @property
    def anything(self) -> bool:
        """Whether every value is right."""
        return not self.words

    def __str__(self) -> str:
        *others, last = self.words or ("a constant",)
        return f"{', '.join(others)} or {last}" if others else last

    def __or__(self, other: Kind) -> Kind:
        if self.anything or other.anything:
            return ANYTHING
        row = self if self.each else other
        words = tuple(dict.fromkeys(self.words + other.words))
        fits, arrays = (*self.fits, *other.fits), self.arrays or other.arrays
        types, within = (*self.types, *other.types), self.within or other.within
        return Kind(words, types, row.each, row.length, fits, arrays, within)

    def test(self, name: str, scope: dict[str, Any]) -> str:
        """The text of a test that right values mostly pass; `scope` grows what it refers to."""
        if self.anything:
            scope["Variable"] = Variable
            return f"not isinstance({name}, Variable)"
        tests = []
        ranged = frozenset() if self.within is None else self.types & {int, float}
        if self.types - ranged:
            scope[f"types_{name}"] = self.types - ranged
            tests += [f"type({name}) in types_{name}"]
        if ranged and self.within is not None:
            scope[f"ranged_{name}"] = ranged
            tests += [f"type({name}) in ranged_{name} and {self.within.test(name)}"]
        scope |= {f"fits{i}_{name}": fits for i, fits in enumerate(self.fits)}
        tests += [f"fits{i}_{name}({name})" for i in range(len(self.fits))]
        if self.arrays:
            scope |= {"Variable": Variable, "is_array": is_array}
            tests += [f"isinstance({name}, Variable) or is_array({name})"]
        if self.each is not None and self.each.each is not None:
            scope[f"suits_{name}"] = self.suits
            tests += [f"suits_{name}({name})"]
        elif self.each is not None and self.each.types and self.each.within is None:
            scope[f"each_{name}"] = self.each.types.issuperset
            counted = "" if self.length is None else f" and len({name}) == {self.length}"
            tests += [f"type({name}) is tuple{counted} and each_{name}(map(type, {name}))"]
        return " or ".join(tests) or "False"

    def suits(self, value: Any) -> bool:
        """Whether the value is tuples all the way to what `take` would give as it is."""
        each = self.each
        if each is None or type(value) is not tuple:
            return type(value) in self.types and self.within is None
        if self.length is not None and self.length != len(value):
            return False
        if each.each is None:
            return each.within is None and each.types.issuperset(map(type, value))
        return all([each.suits(v) for v in value])

    def take(self, value: Any) -> Any:
        """The value in the declared form; `MISSING` if it is of another kind.

        Of Variables only the array of one without gradient is taken, by settings of no other kind.
        """
        if self.arrays and is_array(as_array(value)):
            return value
        if isinstance(value, Variable):
            return value.array if self.anything and not value.requires_grad else MISSING
        if self.anything:
            return value
        one = self._one(python_number(value))
        if self.within is not None and isinstance(one, (int, float)) and one not in self.within:
            return MISSING
        return self._several(value, self.each) if one is MISSING and self.each else one

    def takes(self, value: Any) -> bool:
        """Whether the value is of this kind."""
        return self.take(value) is not MISSING

    def _one(self, value: Any) -> Any:
        if type(value) in self.types or (str in self.types and isinstance(value, str)):
            return value
        if any([fits(value) for fits in self.fits]):
            return value
        if bool in self.types and type(value) is int and value in (0, 1):
            return bool(value)
        if type(value) in (bool, float, complex, str) or hasattr(value, "shape"):
            return MISSING
        if int in self.types and hasattr(value, "__index__"):
            return value.__index__()
        if float in self.types and hasattr(value, "__float__"):
            return float(value)
        return MISSING

    def _several(self, value: Any, each: Kind) -> Any:
        if isinstance(value, (str, bytes)) or is_single(value) or not _is_row(value):
            return MISSING
        taken = tuple([each.take(element) for element in value])
        wrong = MISSING in taken or (self.length is not None and len(taken) != self.length)
        return MISSING if wrong else taken


ANYTHING = Kind()
ARRAY = Kind(("an array",), arrays=True)


def _is_row(value: Any) -> bool:
    # Arrays of the bare standard have no __iter__. Of a dict or a set the order says nothing.
    if isinstance(value, (dict, set, frozenset)):
        return False
    return hasattr(value, "__iter__") or hasattr(value, "__getitem__")


def kind_of(annotation: Any, module: str = "builtins", default: Any = MISSING) -> Kind:
    """The kind that an annotation in a module declares, and the type of a default beside it.

    An annotation that names any other class says nothing: what it means is left to those who read
    the setting.

    >>> print(kind_of("int | tuple[int, ...] | None"))
    a whole number, a tuple of whole numbers or None
    >>> from core.typing import Ratio
    >>> print(kind_of(Ratio))
    a number in [0, 1)
    """
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, {**vars(shared), **vars(sys.modules[module])})
        except Exception:  # a name that only type checkers know
            return ANYTHING
    kind = _meaning(type(None) if annotation is None else annotation, module)
    if annotation is Array:  # an input, which the operation refuses that it is given to
        return ANYTHING
    if default is MISSING or isinstance(default, type) or kind.take(default) is not MISSING:
        return kind
    return kind | _meaning(type(default), module)


def _meaning(annotation: Any, module: str) -> Kind:
    try:
        words, types = _ONE[annotation]
    except (KeyError, TypeError):
        return _compound(annotation, module)
    return Kind((words,), types)


def _compound(annotation: Any, module: str) -> Kind:
    parts = getattr(annotation, "__args__", ())
    origin = getattr(annotation, "__origin__", None)
    if annotation is Array:
        return ARRAY
    for note in getattr(annotation, "__metadata__", ()):
        one, within = _meaning(origin, module), Interval(note)
        return Kind(tuple([f"{w} in {note}" for w in one.words]), tuple(one.types), within=within)
    for known, (word, fits) in _FITS.items():
        if known is annotation or known is origin:
            return Kind((word,), fits=(fits,))
    if not parts:
        return ANYTHING
    if isinstance(annotation, type(int | str)) or str(origin) == "typing.Union":
        found = _meaning(parts[0], module)
        for part in parts[1:]:
            found |= _meaning(part, module)
        return found
    if not isinstance(origin, type) or not hasattr(origin, "__reversed__") and origin is not tuple:
        return ANYTHING
    return _row(parts, module)


def _row(parts: tuple[Any, ...], module: str) -> Kind:
    """Several of one kind: any number of them, or as many as there are parts."""
    each = kind_of(parts[0], module)
    anyhow = len(parts) == 1 or parts[1] is ...
    if each.anything or not anyhow and any([part != parts[0] for part in parts]):
        return ANYTHING
    count = "a tuple of" if anyhow else "a pair of" if len(parts) == 2 else f"{len(parts)}"
    words = f"{count} {' or '.join(map(_plural, each.words))}"
    return Kind((words,), (), each, None if anyhow else len(parts))


def _plural(word: str) -> str:
    noun = word.partition(" of ")[0].partition(" in ")[0]
    return noun.removeprefix("a ") + "s" * word.startswith("a ") + word[len(noun) :]


def taking(kind: Kind, where: str, name: str) -> Callable[..., Any]:
    """The function that takes what did not pass the test of a setting: cures it, or refuses it.

    The refusal speaks for `where`, or for the class of the object whose constructor was called.
    """

    def take(value: Any, owner: Any = None) -> Any:
        taken = kind.take(value)
        if taken is MISSING:
            raise refusal(kind, where if owner is None else type(owner).__name__, name, value)
        return taken

    return take


def truth(where: str, name: str, value: Any) -> bool:
    """The value, where it is a truth value of some library; InvalidSetting for anything else."""
    return taking(kind_of("bool"), where, name)(value)  # type: ignore[no-any-return]


def whole(where: str, name: str, value: Any) -> int:
    """The value, where it is a whole number of some library; InvalidSetting for anything else."""
    return taking(kind_of("int"), where, name)(value)  # type: ignore[no-any-return]


def refusal(kind: Kind, where: str, name: str, value: Any) -> InvalidSetting:
    """The error for a setting of another kind."""
    whole = int in kind.types and float not in kind.types
    cure = "; round it, as by int() or //" if whole and type(value) is float else ""
    if getattr(value, "shape", ()) and not isinstance(value, Variable) and "tuple" not in str(kind):
        cure = (
            ". Is it one argument too many, as labels for a model that takes none, or one of a "
            "tuple?"
        )
    return InvalidSetting(f"{where}: expected {name} to be {kind}, got {_described(value)}{cure}")


def _described(value: Any) -> str:
    if isinstance(value, Variable):
        return "a Variable. A setting has no gradient: give the number, or the array, itself"
    if value is None:
        return "None"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} of the shape {shape}"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) < 60 else text[:56] + ' ...'}"


# ---------------------------------------------------------------------- functions


def checked(function: _Function) -> _Function:
    """The function, refusing arguments of another kind than it annotates before it uses them.

    Keywords that it does not take are answered with what is meant. For functions that work with
    their settings; those that only hand them on leave it to the op, and to `removed`.

    >>> @checked
    ... def halve(x, times: int = 1):
    ...     return x / 2**times
    >>> halve(8, times="1")
    Traceback (most recent call last):
    core.errors.InvalidSetting: halve: expected times to be a whole number, got str '1'
    >>> halve(8, time=1)
    Traceback (most recent call last):
    TypeError: halve: unexpected keyword argument 'time'. Did you mean 'times'?
    """
    plain: Any = function
    refused = getattr(function, "__removed__", None)  # by the function that is written here
    if refused is not None:
        plain = plain.__wrapped__
    made: Any = wraps(plain)(written(plain, removed=refused or Removed()))
    made.__removed__ = refused or Removed()
    return made  # type: ignore[no-any-return]


def narrowed(function: Any, by_name: Iterable[str] = (), **fixed: Any) -> Any:
    """The function with some arguments fixed and others taken by name alone, the rest as `checked`.

    >>> def power(exponent, x: float, scale: float = 1.0):
    ...     return scale * x**exponent
    >>> cube = narrowed(power, ("scale",), exponent=3)
    >>> cube(2.0, scale=0.5)
    4.0
    """
    import inspect

    function = inspect.unwrap(function)
    made: Any = wraps(function)(written(function, fixed, by_name))
    signature = signature_of(function)
    taken = [p for p in signature.parameters.values() if p.name not in fixed]
    taken = [p.replace(kind=p.KEYWORD_ONLY) if p.name in by_name else p for p in taken]
    made.__signature__ = signature.replace(parameters=sorted(taken, key=lambda p: p.kind))
    said = annotations_of(function)
    made.__annotations__ = {name: said[name] for name in said if name not in fixed}
    return made


class Removed(NamedTuple):
    """What a function once took: names in order, what to write instead, and what has a new name."""

    had: tuple[str, ...] = ()
    cures: Mapping[str, str] = MappingProxyType({})
    renamed: Mapping[str, str] = MappingProxyType({})


def written(
    function: Any,
    fixed: Mapping[str, Any] = MappingProxyType({}),
    by_name: Iterable[str] = (),
    removed: Removed | None = None,
    *,
    checks: bool = True,
    calls: str = "_function",
    **scope: Any,
) -> Any:
    """A function of the same arguments, written for them as the calls of ops are.

    It stands in one line, which tracebacks and errors take for the first of the function itself: it
    refuses keywords that are not known, checks the others, and hands them on.

    Args:
        function: Whose arguments, annotations and defaults it has.
        fixed: Arguments that it does not take, and what they are.
        by_name: Arguments that it takes by keyword alone.
        removed: What it refuses by name, with a cure. A function that has nothing but required
            arguments takes what it `had` by position too, and, unless it is checked, leaves other
            keywords to Python.
        checks: Whether arguments have to be of the kinds that their annotations say.
        calls: What is called, an expression.
        **scope: What names in it stand for.
    """
    removed = removed or Removed()
    arguments = _Arguments(function, fixed, by_name)
    where, title, owner = _titles(function, arguments.ordered)
    scope |= {"_function": function, **fixed}
    takes = _checks(function, arguments, where, owner, scope) if checks else []
    had: tuple[str, ...] = ()
    refusals, last = [], arguments.keywords
    if not last:
        refuse = f"refuse_unknown({title}, {{}}, known, cures)"
        scope |= {"refuse_unknown": refuse_unknown, "known": arguments.known}
        scope["cures"] = removed.cures
        if arguments.are_required:  # left to Python: to take any keyword costs a dict
            had = removed.had
            refusals = [f"{refuse.format(f'{{{n!r}: {n}}}')} if {n} is not None else " for n in had]
        if checks or not arguments.are_required:
            takes.insert(0, f"{UNKNOWN} and {refuse.format(UNKNOWN)}; ")
            last = [f"**{UNKNOWN}"]
        for old, new in removed.renamed.items():
            scope[f"default_{new}"] = arguments.defaults[new]
            alone_given = f"{UNKNOWN} and {new} is default_{new}"
            found = f"{UNKNOWN}.pop({old!r}, {new})"
            takes.insert(0, f"{new} = {found} if {alone_given} else {new}; ")
    head = ", ".join([*arguments.front, *had, *arguments.by_name, *last])
    body = f"{''.join(takes)}return {''.join(refusals)}{calls}({', '.join(arguments.passed)})"
    # Globals of its own cost less than a closure, of which every call takes all cells.
    scope["__name__"] = function.__globals__.get("__name__", "")
    exec(f"def made({head}): {body}", scope)
    return _dressed(scope["made"], function.__code__, arguments, len(had))


class _Arguments:
    """The arguments of a function, as another one takes them and hands them on."""

    def __init__(self, function: Any, fixed: Mapping[str, Any], by_name: Iterable[str]) -> None:
        code = function.__code__
        names, count = code.co_varnames, code.co_argcount
        end = count + code.co_kwonlyargcount
        ordered, keyed, rest = names[:count], names[count:end], [*names[end:]]
        more = [f"*{rest.pop(0)}"] if code.co_flags & 4 else []
        self.keywords = [f"**{rest.pop(0)}"] if code.co_flags & 8 else []
        self.ordered = ordered
        self.passed = [*ordered, *more, *[f"{name}={name}" for name in keyed], *self.keywords]
        given = function.__defaults__ or ()
        self.defaults = dict(zip(reversed(ordered), reversed(given), strict=False))
        self.defaults |= function.__kwdefaults__ or {}
        self.are_required = not (self.defaults or keyed or more or self.keywords)
        self.positional = [name for name in ordered if name not in fixed and name not in by_name]
        self.own = [*[name for name in ordered if name in by_name], *keyed]
        self.known = [*self.positional, *self.own][ordered[:1] == ("self",) :]
        alone = [name for name in ordered[: code.co_posonlyargcount] if name in self.positional]
        self.front = [*alone, *["/"] * bool(alone), *self.positional[len(alone) :]]
        self.by_name = [*(more or ["*"] * bool(self.own)), *self.own]


def _checks(
    function: Any, arguments: _Arguments, where: str, owner: str, scope: dict[str, Any]
) -> list[str]:
    """The text of what checks each argument; `scope` grows what it refers to."""
    takes, annotated = [], annotations_of(function)
    for name in (*arguments.positional, *arguments.own):
        default = arguments.defaults.get(name, MISSING)
        annotation = annotated.get(name, Any)
        kind = kind_of(annotation, function.__module__, default)
        if not kind.anything:
            scope[f"take_{name}"] = taking(kind, where, name)
            test = kind.test(name, scope)
            takes += [f"{name} = {name} if {test} else take_{name}({name}{owner}); "]
    return takes


def _dressed(made: Any, code: CodeType, arguments: _Arguments, had: int) -> Any:
    """The function with the place, the name and the defaults of that which it stands for."""
    named = ("co_filename", "co_firstlineno", "co_name", "co_qualname")
    made.__code__ = made.__code__.replace(**{name: getattr(code, name) for name in named})
    defaults = arguments.defaults
    ends = [defaults[name] for name in arguments.positional if name in defaults]
    made.__defaults__ = (*ends, *[None] * had) or None
    own = {name: defaults[name] for name in arguments.own if name in defaults}
    made.__kwdefaults__ = own or None
    return made


def _titles(function: Any, arguments: Sequence[str]) -> tuple[str, str, str]:
    """What errors call a function, the text that gives that, and the text of whose constructor."""
    owner, _, name = function.__qualname__.rpartition("<locals>.")[2].rpartition(".")
    if name == "__init__":
        return "", f"type({arguments[0]}).__name__", f", {arguments[0]}"
    where = function.__name__.lstrip("_")
    if owner and arguments[:1] == ("self",):
        return where, f"type(self).__name__ + {'.' + name!r}", ""
    return where, repr(where), ""
