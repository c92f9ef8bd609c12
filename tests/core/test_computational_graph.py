"""Drawn graphs: what is in them, and that no name can break their text."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
import core.links as L
from core.show.computational_graph import ComputationalGraph, DotNode, build_computational_graph


def variable(shape=(3,), name=None, **options):
    return core.Variable(np.zeros(shape, "f"), name=name, **options)


def labels(graph):
    return re.findall(r'label="((?:[^"\\]|\\.)*)"', graph.dump())


def arrows(graph):
    """The edges of the dumped graph, by the labels of their ends."""
    text = graph.dump()
    names = dict(re.findall(r'(n\d+) \[label="((?:[^"\\]|\\.)*)"', text))
    return sorted((names[a], names[b]) for a, b in re.findall(r"(n\d+) -> (n\d+)[^;]*;", text))


def test_nodes_and_edges():
    x, w = variable(name="x"), variable(name="w")
    y = x * w
    y.name = "y"
    graph = build_computational_graph([y])
    assert len(graph.nodes) == 4
    assert set(arrows(graph)) == {
        ("x: (3), float32", "_ * _"),
        ("w: (3), float32", "_ * _"),
        ("_ * _", "y: (3), float32"),
    }
    ends = {(type(a).__name__, type(b).__name__) for a, b in graph.edges}
    assert ends == {("VariableNode", "Multiply"), ("Multiply", "OutputNode")}


def test_a_variable_used_twice_has_two_edges_and_one_node():
    x = variable()
    graph = build_computational_graph(x * x)
    assert len(graph.nodes) == 3
    assert len(graph.edges) == 3


def test_several_outputs_share_what_they_share():
    x = variable()
    h = x * x
    graph = build_computational_graph([h + 1, h * 2])
    assert sum(label == "_ * _" for label in labels(graph)) == 1
    assert len(graph.nodes) == 7


def test_nodes_are_taken_for_variables():
    y = variable() * 2
    assert labels(build_computational_graph([y.node])) == labels(build_computational_graph(y))


def test_functions_alone():
    x = variable(name="x")
    h = x * x
    graph = build_computational_graph(h + h * 2, remove_variable=True)
    assert arrows(graph) == [
        ("_ * 2", "_ + _"),
        ("_ * _", "_ * 2"),
        ("_ * _", "_ + _"),
    ]
    assert "x" not in "".join(labels(graph))


def test_a_graph_without_functions():
    graph = build_computational_graph([variable(name="x")])
    assert labels(graph) == ["x: (3), float32"]
    assert build_computational_graph([]).nodes == []


def test_names_can_be_hidden():
    x = variable(name="x")
    assert "x: (3), float32" not in labels(build_computational_graph(x * x, show_name=False))
    assert DotNode(x.node, show_name=False).label == "(3), float32"
    assert DotNode(x.node).label == "x: (3), float32"


def test_leaves_that_learn_constants_and_results_look_different():
    x, t = variable(name="x"), variable(name="t", requires_grad=False)
    text = build_computational_graph(x * t + x).dump("mermaid")
    roles = re.findall(r":::(\w+)", text)
    assert sorted(set(roles)) == ["between", "constant", "function", "leaf", "result"]
    assert all(f"classDef {role} " in text for role in roles)


def test_styles_are_the_users():
    graph = build_computational_graph(
        variable() * 2,
        variable_style={"shape": "octagon", "fillcolor": "#E0E0E0"},
        function_style={"shape": "record"},
    )
    text = graph.dump()
    assert text.count('shape="octagon" fillcolor="#E0E0E0"') == 2
    assert text.count('shape="record"') == 1


def test_a_dot_node_stands_alone():
    y = variable() * 2
    assert re.fullmatch(r'n\d+ \[label="\(3\), float32" shape="oval"\];', str(DotNode(y.node)))
    node = DotNode(y.creator, {"color": "red"})
    assert re.fullmatch(r'n\d+ \[label="_ \* 2" shape="box" color="red"\];', str(node))


@pytest.mark.parametrize("direction", ["TB", "BT", "LR", "RL"])
def test_directions(direction):
    graph = build_computational_graph(variable() * 2, rankdir=direction)
    assert f'rankdir="{direction}"' in graph.dump()
    assert graph.dump("mermaid").startswith(f"flowchart {direction}\n")


def test_the_same_graph_gives_the_same_text():
    def dump():
        x = variable(name="x")
        return build_computational_graph(x * x + x).dump()

    assert dump() == dump()


def test_what_is_refused():
    y = variable() * 2
    with pytest.raises(ValueError, match="expected a format of dot, mermaid, got 'mermiad'.*'mer"):
        build_computational_graph(y).dump("mermiad")
    with pytest.raises(ValueError, match="expected a rankdir of TB, BT, LR, RL, got 'up'"):
        build_computational_graph(y, rankdir="up")
    with pytest.raises(ValueError, match="remove_split=True"):
        build_computational_graph(y, remove_split=False)
    with pytest.raises(ValueError, match="function_style to be a dict"):
        ComputationalGraph([], [], function_style="pretty")
    with pytest.raises(TypeError, match="expected Variables or their nodes, got ndarray"):
        build_computational_graph([y.array])


def test_deep_graphs_need_no_recursion():
    y = variable((1,))
    for _ in range(20_000):
        y = y + 1
    graph = build_computational_graph(y)
    assert len(graph.nodes) == 40_001
    assert graph.dump().count("->") == 40_000


@given(st.text(min_size=1))
def test_names_are_escaped(name):
    x = variable(name=name)
    (label,) = re.findall(r"label=(.*) shape=", str(DotNode(x.node)))
    assert re.fullmatch(r'"(?:[^"\\\n]|\\.)*"', label), label
    spoken = build_computational_graph(x).dump("mermaid").splitlines()[1:2]
    assert re.fullmatch(r'  n0\(\["[^"<>`\n]*(?:<br/>[^"<>`\n]*)*"\]\):::leaf', spoken[0]), spoken


def test_records_escape_their_own_marks():
    node = variable(name="a|b{c}<d>").node
    assert r"a\|b\{c\}\<d\>: (3)" in str(DotNode(node, {"shape": "record"}))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ['a "quoted" \\ name', "two\nlines", "ünïcode <b>", "a|{b}", "\\"])
@pytest.mark.parametrize("shape", ["box", "record"])
def test_graphviz_reads_it(name, shape):
    x = variable(name=name)
    text = build_computational_graph(x * x + 1, variable_style={"shape": shape}).dump()
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert not done.stderr
    assert b"_ * _" in done.stdout


# ---------------------------------------------------------------------- names by path, pictures


def classifier():
    model = L.Classifier(core.Sequential(L.Linear(3, 4), L.Linear(4, 2)))
    return model, model(np.zeros((1, 3), "f"), np.zeros(1, "i"))


def test_parameters_by_their_paths():
    model, loss = classifier()
    plain = labels(build_computational_graph(loss))
    assert plain.count("W: (4, 3), float32") == 1
    shown = labels(build_computational_graph(loss, link=model))
    assert {label.partition(":")[0] for label in shown if label.startswith("/")} == {
        f"/predictor/{i}/{name}" for i in (0, 1) for name in "Wb"
    }
    assert "/predictor/1/b: (2), float32" in build_computational_graph(loss, link=model).dump(
        "mermaid"
    )
    assert not any(
        label.startswith("/")
        for label in labels(build_computational_graph(loss, link=model, show_name=False))
    )


def test_a_parameter_of_another_link_keeps_its_name():
    model, loss = classifier()
    shown = labels(build_computational_graph(loss, link=model.predictor[0]))
    assert "/W: (4, 3), float32" in shown and "W: (2, 4), float32" in shown


def test_what_runs_through_is_straight_and_has_no_arrows_into_labels():
    x = variable(name="x")
    text = build_computational_graph(-(x * 2)).dump()
    looks = re.findall(r"-> n\d+(.*);", text)
    assert sorted(looks) == [
        "",
        ' [weight="8" arrowhead="none"]',
        ' [weight="8"]',
        ' [weight="8"]',
    ]
    assert build_computational_graph(-(x * 2)).dump("mermaid").count(" --- ") == 1


has_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


@has_dot
@pytest.mark.parametrize(
    ("name", "format", "head"),
    [
        ("g.png", None, b"\x89PNG"),
        ("g.pdf", None, b"%PDF"),
        ("g", None, b"<?xml"),
        ("g.x", "svg", b"<"),
    ],
)
def test_rendering(tmp_path, name, format, head):
    content = build_computational_graph(classifier()[1]).render(tmp_path / name, format)
    assert content.startswith(head) and (tmp_path / name).read_bytes() == content


@has_dot
def test_notebooks_show_the_picture():
    graph = build_computational_graph(classifier()[1])
    bundle = graph._repr_mimebundle_(include=None)
    assert bundle["text/plain"] == "<computational graph: 3 functions, 9 variables>"
    assert bundle["text/vnd.mermaid"] == graph.dump("mermaid")
    assert "</svg>" in bundle["image/svg+xml"] == graph._repr_svg_()


@has_dot
def test_a_format_that_graphviz_does_not_know(tmp_path):
    with pytest.raises(ValueError, match="no format 'sgv'. Take svg, png, pdf"):
        build_computational_graph(variable() * 2).render(tmp_path / "g.sgv")


def test_without_the_package_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    graph = build_computational_graph(variable() * 2)
    with pytest.raises(ImportError, match=r"pip install 'plugrad\[graph\]'"):
        graph.render()
    assert graph._repr_svg_() is None
    assert sorted(graph._repr_mimebundle_()) == ["text/plain", "text/vnd.mermaid"]


def test_without_the_program_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    graph = build_computational_graph(variable() * 2)
    with pytest.raises(RuntimeError, match="program `dot` of Graphviz.*apt install graphviz"):
        graph.render(tmp_path / "g.svg")
    assert graph._repr_svg_() is None and not list(tmp_path.iterdir())
