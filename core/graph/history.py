"""Where a variable comes from: the function that made it, and all those before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.graph.graph_node import GraphNode


def creator_of(source: Any) -> GraphNode | None:
    """The function behind a source; None for a leaf, and where the graph was cut."""
    if source.is_function:
        return None if source._sources is None else source
    return source._creator  # type: ignore[no-any-return]


def history_of(
    functions: Iterable[GraphNode | None], leaves: set[Any] | None = None
) -> Iterable[GraphNode]:
    """Recorded functions and all that lead to them; None, and what was cut, is passed over.

    The sources that no function leads to are added to `leaves`.

    >>> import core, numpy as np
    >>> x = core.Variable(np.ones(2, "f"))
    >>> [f.label for f in history_of([(-x * x).creator_node])]
    ['_ * _', '__neg__']
    """
    found: dict[GraphNode, None] = {}
    leaves = set() if leaves is None else leaves
    pending = list(functions)
    while pending:
        f = pending.pop()
        if f is not None and f not in found and (sources := f._sources) is not None:
            found[f] = None
            for source in sources:  # a loop: comprehensions, and `creator_of`, cost a call each
                inner = source._sources
                if inner is None:
                    leaves.add(source)
                else:  # of one of several outputs ()
                    pending.append(source if inner else source._creator)
    return found


def rank_of(function: GraphNode) -> int:
    """Length of the longest path from a leaf to a function, found without recursion."""
    ranks: dict[Any, int] = {}
    for f in sorted(history_of([function]), key=lambda f: f.sequence):
        before = [creator_of(source) for source in f._sources]
        ranks[f] = max([ranks.get(g, 0) + 1 for g in before if g is not None], default=0)
    return ranks.get(function, 0)


class History:
    """What a variable, and a node that stands for one, tells of the function that made it."""

    __slots__ = ()

    _source: Any  # see core.graph.variable_node; None for a variable without gradient
    node: Any

    @property
    def creator_node(self) -> GraphNode | None:
        """The function node that made it; None for a leaf, and where the graph was cut."""
        return None if self._source is None else creator_of(self._source)

    @creator_node.setter
    def creator_node(self, function: GraphNode | None) -> None:
        (self._source or self.node._source).come_from(function)

    def set_creator_node(self, fnode: GraphNode | None) -> None:
        """Make the function node `fnode` the creator."""
        self.creator_node = fnode

    @property
    def creator(self) -> Any:
        """What made the variable, an old-style Function as such; None for a leaf."""
        function = self.creator_node
        return None if function is None else function.creator

    @creator.setter
    def creator(self, creator: Any) -> None:
        self.creator_node = getattr(creator, "node", creator)

    def set_creator(self, gen_func: Any) -> None:
        """Make `gen_func`, a function node or an old-style Function, the creator."""
        self.creator = gen_func

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf."""
        function = self.creator_node
        return 0 if function is None else function.rank + 1

    def unchain(self) -> None:
        """Forget how the variable was made; the graph before it may die."""
        self.creator_node = None

    def unchain_backward(self) -> None:
        """Cut the graph behind this variable, as truncated backpropagation does."""
        for function in history_of([self.creator_node]):
            function.unchain()
