"""Arguments that functions once had: no part of their signatures, and refused with a cure.

The refusal stands in the function itself, where `removed` writes it when the function is first
called. A wrapper would cost every call another frame; this costs what a test written by hand does.
A function that is `checked` has such a wrapper, and refuses there.
"""

from __future__ import annotations
import __future__

import ast
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from textwrap import dedent
from types import CodeType, FunctionType
from typing import Any, TypeVar

from core.errors.keywords import UNKNOWN

F = TypeVar("F", bound=Callable[..., Any])

_REST, _REFUSE = UNKNOWN, "_refuse_unknown"


def removed(
    *had: str, cures: Mapping[str, str] | None = None, renamed: Mapping[str, str] | None = None
) -> Callable[[F], F]:
    """Let a function refuse arguments that it once had, and say what to write instead.

    A keyword that it never had is refused with the nearest one. A function that has nothing but
    required arguments takes those it once `had` by position too, in this order, and leaves other
    keywords to Python.

    Args:
        had: Names of the arguments; those that `cures` and `renamed` name need not be repeated.
        cures: Name -> the sentence that says what to write instead.
        renamed: Removed name -> name of an argument with a default; what is given by the removed
            name alone is accepted silently.

    >>> @removed(cures={"deterministic": "Leave it out."}, renamed={"sz": "size"})
    ... def area(x, size=1):
    ...     return x * size
    >>> area(2, sz=3)
    6
    >>> area(2, deterministic=True)
    Traceback (most recent call last):
    core.errors.RemovedArgument: area: the argument 'deterministic' no longer exists. Leave it out.
    >>> area(2, sise=3)
    Traceback (most recent call last):
    TypeError: area: unexpected keyword argument 'sise'. Did you mean 'size'?
    """

    def decorate(function: F) -> F:
        assert isinstance(function, FunctionType)  # noqa: S101 - what a decorator of functions gets
        plain: Any = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        plain = wraps(function)(plain)
        plain.__kwdefaults__ = function.__kwdefaults__
        del plain.__wrapped__
        function.__dict__["__wrapped__"] = plain
        plain.__removed__ = function.__dict__["__removed__"] = (cures or {}, renamed or {})

        def first(*args: Any, **given: Any) -> Any:
            code = plain.__code__
            with suppress(OSError, SyntaxError):  # without its source it refuses in Python's words
                code = _written(function, plain, had, cures or {}, renamed or {})
            function.__code__ = code
            return function(*args, **given)

        function.__code__ = _calling(first, plain.__code__)
        return function

    return decorate


def _first_call(*args: Any, **given: Any) -> Any:
    return "first".__call__(*args, **given)  # type: ignore[operator]


def _calling(first: Callable[..., Any], code: CodeType) -> CodeType:
    """The code of `_first_call`, which calls `first`, for a function that has `code`."""
    template = _first_call.__code__
    constants: Any = tuple([first if each == "first" else each for each in template.co_consts])
    return template.replace(co_consts=constants, co_freevars=code.co_freevars)


def _written(
    function: FunctionType,
    plain: FunctionType,
    had: tuple[str, ...],
    cures: Mapping[str, str],
    renamed: Mapping[str, str],
) -> CodeType:
    """The code of a function with `plain` code that refuses first."""
    code, source = plain.__code__, dedent(inspect.getsource(plain))
    tree = ast.parse(source)
    definition: Any = tree.body[0]
    if getattr(definition, "name", None) != code.co_name or not _is_of(source, code):
        raise OSError("the source is another's")  # as that of `python -c`, or of an edited file
    definition.decorator_list = []
    taken = definition.args
    names = [a.arg for a in (*taken.args, *taken.kwonlyargs)]
    title = _title(function, names)

    def refuse(given: str) -> str:
        return (
            f"\n from core.errors import refuse_unknown as {_REFUSE}"
            f"\n {_REFUSE}({title}, {given}, {names!r}, {dict(cures)!r})"
        )

    if taken.defaults or taken.kwonlyargs or taken.vararg:
        taken.kwarg = ast.arg(_REST)
        default = _defaults(taken)
        takes = [
            f"\n if {new} == {default[new]}: {new} = {_REST}.pop({old!r}, {new})"
            for old, new in renamed.items()
        ]
        tests = [f"if {_REST}:{''.join(takes)}{refuse(_REST)}"]
    else:
        taken.args += [ast.arg(name) for name in had]
        function.__defaults__ = (None,) * len(had)  # while its code takes anything
        tests = [f"if {name} is not None:{refuse(f'{{{name!r}: {name}}}')}" for name in had]
    written = ast.parse("\n".join(tests)).body
    for node in (node for test in written for node in ast.walk(test)):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno = node.end_lineno = definition.lineno
    definition.body[:0] = written
    return _compiled(code, tree)


def _is_of(source: str, code: CodeType) -> bool:
    """Whether `code` was compiled from the source, by the names and constants in it."""
    tree: Any = ast.parse(source)
    tree.body[0].decorator_list = []
    return _words(_compiled(code, tree)) == _words(code)


def _words(code: CodeType) -> tuple[Any, ...]:
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    undented = [each.split() if isinstance(each, str) else each for each in constants]
    return code.co_names, code.co_varnames, undented


def _defaults(taken: ast.arguments) -> dict[str, str]:
    """The texts of the defaults."""
    positional = zip(reversed(taken.args), reversed(taken.defaults), strict=False)
    keyword = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    return {a.arg: ast.unparse(default) for a, default in (*positional, *keyword) if default}


def _title(function: FunctionType, names: list[str]) -> str:
    """The text that gives what errors call the function; a constructor goes by its class."""
    owner, _, name = function.__qualname__.rpartition("<locals>.")[2].rpartition(".")
    if not owner:
        return repr(name)
    return f"type({names[0]}).__name__" + (f" + {'.' + name!r}" if name != "__init__" else "")


def _compiled(old: CodeType, tree: ast.Module) -> CodeType:
    """The code of the one function in `tree`, in the place and the scope of the `old` one."""
    ast.increment_lineno(tree, old.co_firstlineno - 1)
    scope = ast.parse(f"def scope({', '.join(old.co_freevars)}): pass")
    scope.body[0].body = tree.body  # type: ignore[attr-defined]
    flags = old.co_flags & __future__.annotations.compiler_flag
    code: Any = compile(ast.fix_missing_locations(scope), old.co_filename, "exec", flags, True)
    for name in ("scope", old.co_name):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    made: CodeType = code.replace(co_qualname=old.co_qualname)
    return made
