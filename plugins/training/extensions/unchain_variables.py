"""Release of graphs that were kept for the observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core import Variable
from core.training import Extension

if TYPE_CHECKING:
    from core.training import Loop


class unchain_variables(Extension):
    """Free the graphs behind all observed Variables, after the other extensions have seen them.

    Of use with `config.keep_graph_on_report`, under which an observed Variable keeps everything
    that it was computed from until the next iteration has made its own: without this, two graphs
    are in memory at the same time.
    """

    priority = 0  # after all that may look at a graph

    def __call__(self, trainer: Loop) -> None:
        """Cut off every observed Variable."""
        for value in trainer.observation.values():
            if isinstance(value, Variable):
                value.unchain_backward()
