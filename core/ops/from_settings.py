"""Function nodes as what their settings make them: shown, and made anew."""

from __future__ import annotations

from typing import Any, Self

from core.graph.graph_node import GraphNode
from core.ops.class_reading import is_engine


class FromSettings:
    """A node as its class and its settings."""

    __slots__ = ()

    def __repr__(self: Any) -> str:
        name = type(self).__name__
        if self.declared is None:
            return f"<{name}>"
        settings = [f"{field}={getattr(self, field)!r}" for field in self.declared.fields]
        return f"{name}({', '.join(settings)})"

    def _own(self) -> dict[str, Any]:
        """The settings, and what has been saved, without what the graph keeps."""
        engine = next(base for base in type(self).__mro__ if is_engine(base))
        return {name: kept for name, kept in vars(self).items() if not hasattr(engine, name)}

    def again(self) -> Self:
        """Make a node with the same settings and hooks that is in no graph."""
        cls: Any = type(self)
        made: Any = GraphNode.__new__(cls)
        vars(made).update(self._own())
        hooks = getattr(self, "_local_hooks", None)
        if hooks:
            made._local_hooks, made._rules = hooks, (False, *made._rules[1:])
        return made  # type: ignore[no-any-return]
