"""The settings of an operation in the text of its call and of its constructor."""

from __future__ import annotations

from typing import Any

from core.errors.kinds import MISSING, taking
from core.ops.declaration import Declaration


def parameters(declared: Declaration, before: str = "/, ") -> str:
    """The settings as parameters in the text of a function; see `named`."""
    parts = [
        f"{name}_" if default is MISSING else f"{name}_=default[{name!r}]"
        for name, default in declared.fields.items()
    ]
    return f", {before}{', '.join(parts)}" if parts else ""


def assigned(declared: Declaration, node: str, scope: dict[str, Any]) -> list[str]:
    """The lines that give a node its settings, each of its kind; `scope` grows with them."""
    lines = []
    for name in declared.fields:
        kind = declared.kinds[name]
        test = kind.test(f"{name}_", scope)
        scope[f"take_{name}"] = taking(kind, declared.label, name)
        lines += [f"  {node}.{name} = {name}_ if {test} else take_{name}({name}_)"]
    return lines


def named(declared: Declaration, function: Any) -> Any:
    """`function`, whose text has `parameters`, taking the settings by their own names.

    The text calls the setting `f` or `type` by `f_` and `type_`, for it has names of its own.
    """
    own = {f"{name}_": name for name in declared.fields}
    code = function.__code__
    names = tuple([own.get(name, name) for name in code.co_varnames])
    function.__code__ = code.replace(co_varnames=names)
    if function.__kwdefaults__:
        function.__kwdefaults__ = {own[k]: v for k, v in function.__kwdefaults__.items()}
    return function
