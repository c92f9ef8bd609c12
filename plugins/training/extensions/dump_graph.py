"""A picture of the computational graph, as text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import core
from core.errors import nearest
from core.errors.kinds import checked
from core.errors.removed import removed
from core.link.serializer import AbstractSerializer
from core.show.computational_graph import build_computational_graph
from core.training import Extension
from plugins.training.extensions.report_file import ReportFile

if TYPE_CHECKING:
    from core.training import Loop


class DumpGraph(Extension):
    """Write the graph behind the observed Variable `root_name` once, at the first iteration.

    Two files in the trainer's directory: `filename` for Graphviz, and one with the ending '.mmd'
    for Mermaid. Parameters show by their paths in the optimizer's target. `variable_style` and
    `function_style` are DOT attributes.

    Reported Variables keep no graph, so `config.keep_graph_on_report` is turned on before the
    first update and put back afterwards; set it yourself to have later graphs as well. Captured
    steps run as they are meanwhile. A resumed run writes no graph that has been written before.
    """

    default_name = "dump_graph"
    ranks = "first"

    @removed(renamed={"out_name": "filename"})
    def __init__(
        self,
        root_name: str,
        filename: str = "cg.dot",
        variable_style: Any = None,
        function_style: Any = None,
    ) -> None:
        self._root_name = root_name
        self._filename = filename
        self._styles: dict[str, Any] = {
            "variable_style": variable_style or "default",
            "function_style": function_style or "default",
        }
        self._keeping: core.using_config | None = None  # while the flag is turned on
        self._file = ReportFile("dump_graph")
        self._done = False

    def files_in_the_way(self, trainer: Loop) -> Iterable[tuple[Path, str | None]]:
        """What stands where the files go."""
        names = (self._filename, str(Path(self._filename).with_suffix(".mmd")))
        return [each for name in names for each in self._file.standing(trainer.out, name)]

    def initialize(self, trainer: Loop) -> None:
        """Let reported Variables keep their graph."""
        if not self._done:
            self._keeping = core.using_config("keep_graph_on_report", True)
            self._keeping.__enter__()

    def trigger(self, trainer: Loop) -> bool:
        """Once."""
        return not self._done

    def __call__(self, trainer: Loop) -> None:
        """Write both files, and put the flag back."""
        found = trainer.observation.get(self._root_name)
        if self._done and getattr(found, "creator", None) is None:
            return  # called again, by a trigger of the user, and the graph no longer exists
        root = self._root(trainer.observation)
        target = _target(trainer, self._root_name)
        graph = build_computational_graph([root], **self._styles, link=target)
        path = Path(trainer.out) / self._filename
        for target, form in ((path, "dot"), (path.with_suffix(".mmd"), "mermaid")):
            text = graph.dump(form)
            self._file.write(target, partial(Path.write_text, data=text, encoding="utf-8"))
        self._done = True
        self._put_back()

    def _root(self, observation: dict[str, Any]) -> Any:
        name = self._root_name
        if isinstance(observation.get(name), core.Variable):
            return observation[name]
        variables = [key for key, value in observation.items() if isinstance(value, core.Variable)]
        raise KeyError(
            f"dump_graph: expected a reported Variable {name!r}; reported were "
            f"{', '.join(map(repr, variables)) or 'none'}.{nearest(name, variables)}"
        )

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Save or load whether the graph has been written."""
        self._done = bool(serializer.optional_value("done", self._done))
        if self._done:  # a snapshot that loads itself comes after this extension's turn to begin
            self._put_back()

    def finalize(self) -> None:
        """Put the flag back, also where training ended early, and see that the files are there."""
        self._put_back()
        self._file.finish()

    def _put_back(self) -> None:
        if self._keeping is not None:
            self._keeping.__exit__(None, None, None)
            self._keeping = None


def _target(trainer: Loop, root_name: str) -> Any:
    """The target that has reported the Variable, for its paths; else that of the main optimizer."""
    known = trainer.updater.get_all_optimizers()
    optimizer = known.get(root_name.split("/")[0]) or known.get("main")
    return None if optimizer is None else optimizer.target


@checked
@removed(renamed={"out_name": "filename"})
def dump_graph(
    root_name: str,
    filename: str = "cg.dot",
    variable_style: Any = None,
    function_style: Any = None,
) -> DumpGraph:
    """Make a `DumpGraph` extension."""
    return DumpGraph(root_name, filename, variable_style, function_style)
