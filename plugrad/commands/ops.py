"""`plugrad info --ops`: which operations there are, and which checks prove each of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from core import registry
from core.ops.function_node import FunctionNode
from core.show.report import Report, table
from core.testing.leaving_out import CHECKS

_DERIVATIVES = ("gradient", "double_gradient")


def ops() -> Report:
    """Every operation with a domain, by family, and how many of them carry each check."""
    found = {cls.__name__: cls for cls in _classes() if cls.domain is not None}
    carried = {name: _carried(cls) for name, cls in sorted(found.items())}
    families = Counter(_family(cls) for cls in found.values())
    counts = Counter(check for checks in carried.values() for check in checks)
    reasons = Counter(
        f"{check}: {reason}"
        for cls in found.values()
        for check, reason in cls.domain.leave_out.items()
    )
    data = {
        "operations": carried,
        "families": dict(sorted(families.items())),
        "checks": {check: counts[check] for check in CHECKS},
        "left_out": dict(sorted(reasons.items())),
    }
    rows = [[check, f"{counts[check]} of {len(found)}"] for check in CHECKS]
    text = [table(["family", "operations"], [[k, str(v)] for k, v in sorted(families.items())])]
    text += [table(["check", "carried by"], rows)]
    if reasons:
        left = [[what, str(count)] for what, count in sorted(reasons.items())]
        text += [table(["left out, for the reason", "operations"], left)]
    return Report(data, "\n\n".join(text))


def _classes() -> list[Any]:
    """The operation classes that people can name, each once."""
    catalogue = registry.catalogue("functions")
    values = [catalogue.get(name) for name in catalogue.names()]
    return list({v for v in values if isinstance(v, type) and issubclass(v, FunctionNode)})


def _family(cls: Any) -> str:
    parts: list[str] = cls.__module__.split(".")
    return parts[-2] if len(parts) > 2 else parts[0]


def _carried(cls: Any) -> list[str]:
    differentiable = cls.declared is None or cls.declared.differentiable
    return [
        check
        for check in CHECKS
        if check not in cls.domain.leave_out and (differentiable or check not in _DERIVATIVES)
    ]
