"""Pictures of computational graphs, as text for Graphviz and for Mermaid."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from core.errors import nearest
from core.graph.history import history_of
from core.graph.variable import Variable
from core.graph.variable_node import VariableNode
from core.link import Link
from core.link.parameter import Parameter
from core.ops.function_node import FunctionNode
from core.registry.public import listing

__dir__ = listing(__name__)

Node: TypeAlias = VariableNode | FunctionNode
Edge: TypeAlias = tuple[Node, Node]
Style: TypeAlias = Mapping[str, Any] | str

# What a node is in the graph -> how it looks. Leaves that learn, and results, stand out.
_DOT_STYLES: dict[str, dict[str, str]] = {
    "function": {
        "shape": "box",
        "style": "rounded,filled",
        "fillcolor": "#DCE7F9",
        "color": "#5B84C4",
        "fontcolor": "#1B365D",
    },
    "between": {
        "shape": "plaintext",
        "width": "0.1",
        "height": "0.2",
        "margin": "0.06,0.02",
        "fontsize": "9",
        "fontcolor": "#5F6B7A",
    },
    "leaf": {
        "shape": "box",
        "style": "rounded,filled",
        "fillcolor": "#FDEFD3",
        "color": "#CF9A3C",
        "fontcolor": "#5C4310",
    },
    "constant": {
        "shape": "box",
        "style": "rounded,filled,dashed",
        "fillcolor": "#F3F4F6",
        "color": "#9AA3AF",
        "fontcolor": "#4B5563",
    },
    "result": {
        "shape": "box",
        "style": "rounded,filled",
        "fillcolor": "#DAF0DF",
        "color": "#4F9E63",
        "fontcolor": "#1C4A2A",
    },
}
_DOT_HEAD = [
    'graph [nodesep="0.3" ranksep="0.28" pad="0.2"];',
    'node [fontname="Helvetica,Arial,sans-serif" fontsize="11" margin="0.14,0.07" height="0.3"];',
    'edge [color="#8793A3" arrowsize="0.6" penwidth="0.9"];',
]
# What computation runs along is kept straight, what is fed into it stands aside. A variable in
# between is a label on the way: no arrow ends at it.
_DOT_EDGES = {"aside": "", "on": ' [weight="8"]', "onto": ' [weight="8" arrowhead="none"]'}
_MERMAID_SHAPES = {"function": "[{}]", "between": "({})"}
_MERMAID_OTHERS = "([{}])"
_DIRECTIONS = ("TB", "BT", "LR", "RL")
_FORMATS = ("dot", "mermaid")


class DotNode:
    """One node of a graph in the DOT language.

    Args:
        node: A variable node or a function node.
        attribute: Attributes of its look, beside its label; a shape is added where none is given.
        show_name: Whether the label of a variable begins with its name.
        name: Another name for it.

    >>> import core, numpy as np
    >>> x = core.Variable(np.zeros((2, 3), "f"), name="x")
    >>> DotNode(x.node).label
    'x: (2, 3), float32'
    """

    def __init__(
        self,
        node: Node,
        attribute: Mapping[str, Any] | None = None,
        show_name: bool = True,
        name: str | None = None,
    ) -> None:
        self.node = node
        self.show_name = show_name
        self.name = name
        self.id = f"n{id(node)}"
        shape = "oval" if isinstance(node, VariableNode) else "box"
        self.attribute: dict[str, Any] = {"shape": shape, **(attribute or {})}

    @property
    def label(self) -> str:
        """Shape and dtype of a variable, after its name; the label of a function."""
        node = self.node
        if not self.show_name or not isinstance(node, VariableNode):
            return node.label
        name = node.name if self.name is None else self.name
        return node.label if name is None else f"{name}: {node.label}"

    def __str__(self) -> str:
        attributes = {"label": self.label, **self.attribute}
        record = "record" in str(attributes["shape"])
        pairs = [f'{key}="{_dot_text(value, record)}"' for key, value in attributes.items()]
        return f"{self.id} [{' '.join(pairs)}];"


class ComputationalGraph:
    """Variables and functions with the edges between them, ready to be drawn.

    `build_computational_graph` makes one. `nodes` and `edges` are lists; an edge is a pair of
    nodes in the direction of the forward computation; `names` has other names for some variables.
    Notebooks show it as a picture.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        variable_style: Style = "default",
        function_style: Style = "default",
        rankdir: str = "TB",
        remove_variable: bool = False,
        show_name: bool = True,
        *,
        names: Mapping[Node, str] | None = None,
    ) -> None:
        if rankdir not in _DIRECTIONS:
            raise ValueError(
                f"ComputationalGraph: expected a rankdir of {', '.join(_DIRECTIONS)}, "
                f"got {rankdir!r}."
            )
        self.nodes = list(nodes)
        self.edges = list(edges)
        self.variable_style = _checked_style("variable_style", variable_style)
        self.function_style = _checked_style("function_style", function_style)
        self.rankdir = rankdir
        self.remove_variable = remove_variable
        self.show_name = show_name
        self.names = dict(names or {})

    def dump(self, format: str = "dot") -> str:
        """Return the graph as text: `dot` for Graphviz, `mermaid` for Markdown and notebooks.

        >>> import core, numpy as np
        >>> x = core.Variable(np.zeros(3, "f"), name="x")
        >>> graph = build_computational_graph(x * x)
        >>> print(graph.dump("mermaid").split("classDef")[0].rstrip())
        flowchart TB
          n0(["(3), float32"]):::result
          n1["_ * _"]:::function
          n2(["x: (3), float32"]):::leaf
          n1 --> n0
          n2 --> n1
          n2 --> n1
        """
        if format not in _FORMATS:
            raise ValueError(
                f"ComputationalGraph.dump: expected a format of {', '.join(_FORMATS)}, "
                f"got {format!r}." + nearest(str(format), _FORMATS)
            )
        nodes, edges = self.nodes, self.edges
        if self.remove_variable:
            nodes, edges = _functions_alone(nodes, edges)
        ids = {node: f"n{i}" for i, node in enumerate(nodes)}
        roles = _roles(nodes, edges)
        write = self._dot if format == "dot" else self._mermaid
        return write(ids, roles, edges)

    def render(
        self, path: str | os.PathLike[str] | None = None, format: str | None = None
    ) -> bytes:
        """Draw the graph by Graphviz.

        Args:
            path: The file to write; None for none.
            format: What Graphviz knows: svg, png, pdf, ...; None for the ending of `path`, or svg.

        Returns:
            The content of the file. Needs the extra `graph` and the program `dot` of Graphviz;
            ImportError or RuntimeError names what is missing. `dump("mermaid")` needs nothing.
        """
        from core.show.picture import picture

        if format is None:
            format = ("" if path is None else Path(path).suffix[1:]) or "svg"
        content = picture(self.dump(), format)
        if path is not None:
            Path(path).write_bytes(content)
        return content

    def _repr_svg_(self) -> str | None:
        """For notebooks: the picture, or None where it cannot be drawn."""
        try:
            return self.render(format="svg").decode()
        except (ImportError, RuntimeError):
            return None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """For notebooks: the picture, and Mermaid's text, which they draw themselves."""
        shown = {"text/plain": repr(self), "text/vnd.mermaid": self.dump("mermaid")}
        svg = self._repr_svg_()
        return shown if svg is None else {**shown, "image/svg+xml": svg}

    def __repr__(self) -> str:
        functions = sum(isinstance(node, FunctionNode) for node in self.nodes)
        return (
            f"<computational graph: {functions} functions, {len(self.nodes) - functions} variables>"
        )

    def _dot(self, ids: dict[Node, str], roles: dict[Node, str], edges: Sequence[Edge]) -> str:
        lines = [f'rankdir="{self.rankdir}";', *_DOT_HEAD]
        for node, name in ids.items():
            look = self._style(node, roles[node])
            written = DotNode(node, look, self.show_name, self.names.get(node))
            written.id = name
            lines.append(str(written))
        for tail, head in edges:
            course = _DOT_EDGES[_course(roles[tail], roles[head])]
            lines.append(f"{ids[tail]} -> {ids[head]}{course};")
        return "digraph graphname {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"

    def _style(self, node: Node, role: str) -> Mapping[str, Any]:
        chosen = self.variable_style if isinstance(node, VariableNode) else self.function_style
        return chosen if isinstance(chosen, Mapping) else _DOT_STYLES[role]

    def _mermaid(self, ids: dict[Node, str], roles: dict[Node, str], edges: Sequence[Edge]) -> str:
        lines = [f"flowchart {self.rankdir}"]
        for node, name in ids.items():
            text = DotNode(node, None, self.show_name, self.names.get(node)).label
            label = f'"{_mermaid_text(text)}"'
            shape = _MERMAID_SHAPES.get(roles[node], _MERMAID_OTHERS).format(label)
            lines.append(f"  {name}{shape}:::{roles[node]}")
        for tail, head in edges:
            arrow = "---" if _course(roles[tail], roles[head]) == "onto" else "-->"
            lines.append(f"  {ids[tail]} {arrow} {ids[head]}")
        lines += [f"  classDef {role} {_css(role)}" for role in _DOT_STYLES]
        return "\n".join(lines) + "\n"


def build_computational_graph(
    outputs: Any,
    remove_split: bool = True,
    variable_style: Style = "default",
    function_style: Style = "default",
    rankdir: str = "TB",
    remove_variable: bool = False,
    show_name: bool = True,
    *,
    link: Link | None = None,
) -> ComputationalGraph:
    r"""Build the graph that computed `outputs`, back to its leaves.

    Args:
        outputs: Variables or variable nodes, or a single one.
        remove_split: Kept for old scripts; there are no split nodes, so False is refused.
        variable_style: DOT attributes of variables, or `default`.
        function_style: DOT attributes of functions, or `default`.
        rankdir: The direction of the forward computation: TB, BT, LR or RL.
        remove_variable: Show functions alone.
        show_name: Show the names of variables.
        link: Show the parameters of this link by their paths in it: `/encoder/l1/W`.

    Returns:
        A `ComputationalGraph`; its `dump()` gives the text.

    >>> import core, numpy as np
    >>> x = core.Variable(np.zeros(3, "f"), name="x")
    >>> graph = build_computational_graph(-x, remove_variable=True)
    >>> print(*graph.dump("mermaid").splitlines()[:2], sep="\n")
    flowchart TB
      n0["__neg__"]:::function
    """
    if not remove_split:
        raise ValueError(
            "build_computational_graph: expected remove_split=True. Graphs have no split nodes "
            "any more, so there is nothing to keep; leave the argument out."
        )
    if isinstance(outputs, (Variable, VariableNode)):
        outputs = [outputs]
    nodes, edges = _walk([_node_of(output) for output in outputs])
    return ComputationalGraph(
        nodes,
        edges,
        variable_style,
        function_style,
        rankdir,
        remove_variable,
        show_name,
        names=_paths(nodes, link),
    )


def _node_of(output: Any) -> VariableNode:
    if not isinstance(output, (Variable, VariableNode)):
        raise TypeError(
            "build_computational_graph: expected Variables or their nodes, got "
            f"{type(output).__name__}."
        )
    return output.node if isinstance(output, Variable) else output


def _paths(nodes: Iterable[Node], link: Link | None) -> dict[Node, str]:
    """The paths in `link` of its parameters that are among the nodes."""
    if link is None:
        return {}
    paths = {id(parameter): path for path, parameter in link.namedparams()}
    found: dict[Node, str] = {}
    for node in nodes:
        variable = node.get_variable_or_none() if isinstance(node, VariableNode) else None
        if isinstance(variable, Parameter) and id(variable) in paths:
            found[node] = paths[id(variable)]
    return found


def _course(tail: str, head: str) -> str:
    """What an edge between nodes of these roles is: `_DOT_EDGES`."""
    if tail in ("leaf", "constant"):
        return "aside"
    return "onto" if head == "between" else "on"


def _walk(outputs: Iterable[VariableNode]) -> tuple[list[Node], list[Edge]]:
    """All that leads to the outputs, and what joins it."""
    outputs = list(outputs)
    functions: Iterable[Any] = history_of([node.creator_node for node in outputs])
    nodes: dict[Any, None] = dict.fromkeys(outputs)
    for f in functions:
        nodes |= dict.fromkeys((f, *f.inputs))
    used = [(node, f) for f in functions for node in f.inputs]
    variables = [node for node in nodes if isinstance(node, VariableNode)]
    made = [(f, node) for node in variables if (f := node.creator_node) is not None]
    return list(nodes | dict.fromkeys([f for f, _ in made])), [*made, *used]


def _functions_alone(nodes: Iterable[Node], edges: Iterable[Edge]) -> tuple[list[Node], list[Edge]]:
    """Functions, each joined to those that take its outputs."""
    edges = list(edges)
    makers = {head: tail for tail, head in edges if isinstance(head, VariableNode)}
    joined = [
        (makers[tail], head)
        for tail, head in edges
        if isinstance(tail, VariableNode) and tail in makers
    ]
    return [node for node in nodes if isinstance(node, FunctionNode)], joined


def _roles(nodes: Iterable[Node], edges: Iterable[Edge]) -> dict[Node, str]:
    edges = list(edges)
    made = {head for _, head in edges}
    used = {tail for tail, _ in edges}
    return {node: _role(node, node in made, node in used) for node in nodes}


def _role(node: Node, made: bool, used: bool) -> str:
    if isinstance(node, FunctionNode):
        return "function"
    if made:
        return "between" if used else "result"
    return "leaf" if node.requires_grad else "constant"


def _checked_style(name: str, style: Style) -> Style:
    if isinstance(style, Mapping) or style == "default":
        return style
    raise ValueError(
        f"ComputationalGraph: expected {name} to be a dict of DOT attributes or 'default', "
        f"got {style!r}."
    )


def _dot_text(value: Any, record: bool) -> str:
    text = _printable(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if record:  # these marks have a meaning in labels of this shape
        text = "".join("\\" + mark if mark in "{}|<>" else mark for mark in text)
    return text


def _mermaid_text(text: str) -> str:
    text = _printable(text)
    for mark in '#&"<>`':  # the first one starts the replacements of the others
        text = text.replace(mark, f"#{ord(mark)};")
    return text.replace("\n", "<br/>")


def _printable(value: Any) -> str:
    """The text in lines, with a space for every other control character."""
    lines = str(value).splitlines() or [""]
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def _css(role: str) -> str:
    style = _DOT_STYLES[role]
    css = f"fill:{style.get('fillcolor', 'none')},stroke:{style.get('color', 'none')}"
    css += f",color:{style['fontcolor']}"
    return css + (",stroke-dasharray:4" if "dashed" in style.get("style", "") else "")
