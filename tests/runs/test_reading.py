"""Folders of results are read as far as they can be, whatever stands in them."""

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.runs import curves, graphs
from plugrad.runs.files import read, walk
from plugrad.runs.reader import Reader, as_json
from plugrad.runs.texts import documents, shown

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.integers()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.lists(
    st.fixed_dictionaries({"iteration": st.integers(0, 10**6)}).flatmap(
        lambda head: st.dictionaries(st.text(), VALUES, max_size=4).map(lambda d: {**d, **head})
    ),
    max_size=6,
)


def run_of(folder, **files):
    """A folder with these files, and what is read from it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content if isinstance(content, str | bytes) else json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Reader([folder]).read()


def same(a, b):
    return json.dumps(a) == json.dumps(b)  # NaN too


# -- texts ----------------------------------------------------------------------------------------


@given(RECORDS, st.sampled_from([None, 4]))
def test_a_list_is_read_whole_and_a_beginning_of_it_as_far_as_it_goes(records, indent):
    text = json.dumps(records, indent=indent)
    found, problem = documents(text)
    assert problem is None and same(found, records)
    for end in range(1, len(text), max(1, len(text) // 7)):
        found, problem = documents(text[:end])
        assert same(found, records[: len(found)])
        assert problem is not None


@given(RECORDS, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")))
def test_a_damaged_line_costs_no_other(records, line):
    lines = [json.dumps(record) for record in records]
    text = "\n".join([*lines, '{"half": ' + line.replace("}", "").replace("]", ""), *lines])
    found, problem = documents(text)
    assert same(found, records * 2)
    assert "1 damaged line" in problem


@given(st.binary())
def test_no_bytes_are_too_strange(content):
    documents(content.decode("utf-8", "replace"))


def test_what_is_nested_without_end_is_damaged():
    found, problem = documents("[" * 100_000)
    assert not found and "damaged" in problem


@given(st.text(st.characters()))
def test_what_is_shown_can_be_seen_in_one_line(text):
    assert shown(text).isprintable()
    assert shown(text) == text or not text.isprintable() or len(text) > 300


@given(VALUES)
def test_data_cannot_end_their_script(value):
    value = {"x": str(value) + "</script><!--"}
    text = as_json(value)
    assert not set("<>&") & set(text) and text.isascii()
    assert json.loads(text) == value


# -- curves ---------------------------------------------------------------------------------------


@given(st.lists(st.floats(), min_size=1, max_size=400), st.integers(5, 60))
def test_thinned_curves_keep_ends_extremes_and_what_is_not_finite(values, most):
    points = [(float(i), None, None, value) for i, value in enumerate(values)]
    found = curves.thinned(points, most)
    assert len(found) <= max(most, 0)
    places = [point[0] for point in found]
    assert places == sorted(set(places))
    assert {places[0], places[-1]} == {0.0, float(len(values) - 1)}
    assert all(points[int(point[0])] is point for point in found)
    finite = [value for value in values if math.isfinite(value)]
    kept = [point[3] for point in found]
    assert not finite or {min(finite), max(finite)} <= set(kept)
    assert all(map(math.isfinite, kept)) == (len(finite) == len(values))


@given(RECORDS)
def test_every_number_of_a_record_becomes_a_point(records):
    found = curves.series(records)
    for name, points in found.items():
        had = [r for r in records if isinstance(r.get(name), int | float)]
        had = [r for r in had if not isinstance(r[name], bool)]
        assert [point[0] for point in points] == [float(r["iteration"]) for r in had]


# -- folders --------------------------------------------------------------------------------------


def test_a_run_is_read_with_all_that_its_extensions_wrote(tmp_path):
    log = [{"main/loss": 0.5, "note": "ok", "epoch": 1, "iteration": 10, "elapsed_time": 2.5}]
    record = [{"started": "now", "command": ["python", "a.py"], "ended": "then", "error": None}]
    data = run_of(tmp_path, log=log, **{"run.json": record, "loss.png": b"\x89PNG"})
    (run,) = data["runs"]
    assert run["series"] == [{"name": "main/loss", "total": 1, "points": [[10, 1, 2.5, 0.5]]}]
    assert run["texts"] == [["note", "ok"]]
    assert (run["state"], run["said"]) == ("ended", "")
    assert ["command", "python a.py"] in run["record"][0][1]
    assert [group["name"] for group in run["pictures"]] == ["loss.png"]
    assert not run["problems"] and not data["problems"]


@pytest.mark.parametrize(
    ("ended", "error", "state"),
    [(None, None, "running"), ("then", None, "ended"), ("then", "ValueError: x", "failed")],
)
def test_the_record_says_how_it_ended(tmp_path, ended, error, state):
    record = [{"started": "now", "command": [], "ended": ended, "error": error}]
    (run,) = run_of(tmp_path, **{"run.json": record})["runs"]
    assert run["state"] == state and run["said"] == (error or "")


def test_runs_stand_beside_each_other_in_the_order_of_their_numbers(tmp_path):
    log = [{"loss": 1, "iteration": 1}]
    names = [f"run-{i}/log" for i in (10, 9, 1)]
    data = run_of(tmp_path, **dict.fromkeys(names, log))
    assert [run["name"] for run in data["runs"]] == ["run-1", "run-9", "run-10"]


def test_pictures_below_a_run_are_its_own_and_those_of_a_number_are_frames(tmp_path):
    files = {f"images/main_x/{i}.png": b"x" for i in (100, 20, 3)}
    log = [{"loss": 1, "iteration": 1}]
    (run,) = run_of(tmp_path, **{"a/log": log}, **{f"a/{n}": c for n, c in files.items()})["runs"]
    (group,) = run["pictures"]
    assert [frame["label"] for frame in group["frames"]] == ["3", "20", "100"]


def test_logs_that_begin_another_are_not_shown_twice(tmp_path):
    log = [{"loss": math.nan, "iteration": i} for i in range(4)]
    other = [{"loss": 1.0, "iteration": i} for i in range(2)]
    (run,) = run_of(tmp_path, log_1=log[:2], log_2=log, **{"fast.jsonl": other})["runs"]
    assert [each["name"] for each in run["series"]] == ["loss (log_2)", "loss (fast.jsonl)"]


@pytest.mark.parametrize("content", ['[{"loss": 1, "iteration": 1}, {"lo', "[\n    {", "{{{{"])
def test_a_damaged_log_is_told(tmp_path, content):
    (run,) = run_of(tmp_path, log=content)["runs"]
    assert "damaged" in run["problems"][0]


def test_a_snapshot_is_not_read_as_a_log(tmp_path):
    (run,) = run_of(tmp_path, snapshot_iter_1=b"PK\3\4", log=[{"loss": 1, "iteration": 1}])["runs"]
    assert not run["problems"]


def test_an_empty_folder_has_no_runs(tmp_path):
    assert run_of(tmp_path)["runs"] == []


def test_numbers_that_json_lacks_come_by_their_names(tmp_path):
    log = '[{"loss": NaN, "iteration": 1}, {"loss": -Infinity, "iteration": 1e999}, {"loss": 1%s}]'
    (run,) = run_of(tmp_path, log=log.replace("%s", "0" * 400))["runs"]
    json.loads(as_json(run))
    values = [point[3] for point in run["series"][0]["points"]]
    assert values == ["NaN", "-Infinity"]
    assert run["series"][0]["points"][1][0] == 2  # no iteration: the number of the record


def test_a_log_of_many_records_is_thinned(tmp_path):
    lines = [json.dumps({"loss": i % 7, "iteration": i}) for i in range(30_000)]
    (run,) = run_of(tmp_path, **{"log.jsonl": "\n".join(lines)})["runs"]
    (series,) = run["series"]
    assert series["total"] == 30_000 and len(series["points"]) <= 2000


def test_links_out_of_the_folder_are_refused_and_told(tmp_path):
    inside = tmp_path / "result"
    inside.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (inside / "there.png").write_bytes(b"fine")
    os.symlink(tmp_path / "secret.png", inside / "stolen.png")
    os.symlink(tmp_path, inside / "folder")
    os.symlink("there.png", inside / "again.png")
    os.symlink("loop", inside / "loop")
    tree = walk(inside)
    assert sorted(found.name for found in tree.files) == ["again.png", "there.png"]
    told = " ".join(tree.problems)
    assert "stolen.png" in told and "folder" in told


def test_a_pipe_does_not_hold_up_the_reader(tmp_path):
    os.mkfifo(tmp_path / "log")
    assert walk(tmp_path).files == []
    with pytest.raises(OSError, match="regular"):
        read(tmp_path / "log")


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path, monkeypatch):
    run_of(tmp_path, log=[{"loss": 1, "iteration": 1}])
    reader = Reader([tmp_path])
    first = reader.read()
    monkeypatch.setattr("plugrad.runs.reader.read", lambda *_: pytest.fail("read again"))
    assert reader.read() is first
    monkeypatch.undo()
    (tmp_path / "log").write_text('[{"loss": 2, "iteration": 1}]\n')
    (tmp_path / "other").write_text('[{"x": 3, "iteration": 1}]')
    read_again = []
    monkeypatch.setattr(
        "plugrad.runs.reader.read", lambda path, *_: read_again.append(path.name) or read(path, *_)
    )
    series = reader.read()["runs"][0]["series"]
    assert [(each["name"], each["points"][0][3]) for each in series] == [("loss", 2), ("x", 3)]
    assert set(read_again) == {"log", "other"}
    read_again.clear()
    (tmp_path / "other").write_text('[{"x": 4, "iteration": 22}]')
    reader.read()
    assert set(read_again) == {"other"}


NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=40
).filter(lambda name: name not in (".", "..") and len(name.encode()) < 200)


@given(name=NAMES, folder=NAMES, records=RECORDS)
def test_no_name_is_too_strange(tmp_path_factory, name, folder, records):
    root = tmp_path_factory.mktemp("runs")
    (root / folder).mkdir()
    (root / folder / name).write_text(json.dumps(records))
    (root / folder / "picture.png").write_bytes(b"x")
    reader = Reader([root])
    data = json.loads(as_json(reader.read()))
    for run in data["runs"]:
        for word in (run["name"], *[each["name"] for each in run["series"]]):
            assert word.isprintable()
    assert all(picture.path.is_relative_to(root.resolve()) for picture in reader.pictures.values())


# -- histograms and graphs ------------------------------------------------------------------------


@given(VALUES, VALUES, VALUES)
def test_histograms_that_are_none_are_left_out(tmp_path_factory, low, high, counts):
    root = tmp_path_factory.mktemp("run")
    good = {"low": 0, "high": 1, "counts": [1, 2]}
    bad = {"low": low, "high": high, "counts": counts}
    records = [{"iteration": 1, "histograms": {"good": good, "bad": bad}}]
    data = run_of(root, **{"histograms.json": records, "log": [{"iteration": 1, "x": 1}]})
    found = {each["name"]: each["records"] for each in data["runs"][0]["histograms"]}
    assert found["good"] == [[1, 0, 1, [1, 2], 0]]
    json.loads(as_json(data))


DAGS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
    )
)


@given(DAGS)
def test_graphs_are_placed_downwards_and_without_boxes_upon_each_other(drawn):
    n, pairs = drawn
    nodes = {f"n{i}": (f"label {i}", "function") for i in range(n)}
    edges = [(f"n{min(pair)}", f"n{max(pair)}") for pair in pairs if len(set(pair)) > 1]
    found = graphs.placed(graphs.Graph(nodes, list(dict.fromkeys(edges))))
    boxes = found["boxes"]
    for a, b in found["edges"]:
        assert boxes[a][1] < boxes[b][1]
    for i, (x, y, width, *_) in enumerate(boxes):
        assert width / 2 <= x + 1 and x <= found["size"][0] - width / 2 + 1
        for other in boxes[:i]:
            assert y != other[1] or abs(x - other[0]) >= (width + other[2]) / 2


def test_layers_stand_below_each_other_with_their_parameters_beside_them():
    nodes, edges = {"y0": ("(64, 10), float32", "constant")}, []
    for i in range(8):
        nodes |= {f"f{i}": ("LinearFunction", "function"), f"y{i + 1}": ("(64, 10)", "between")}
        nodes |= {f"{name}{i}": (f"/predictor/l{i}/{name}: (10, 10)", "leaf") for name in "Wb"}
        edges += [(f"{name}{i}", f"f{i}") for name in "yWb"] + [(f"f{i}", f"y{i + 1}")]
    found = graphs.placed(graphs.Graph(nodes, edges))
    across = [x for x, _, _, _, role in found["boxes"] if role in ("function", "between")]
    assert max(across) - min(across) < 20 and found["size"][0] < 1000


def test_a_circle_is_told(tmp_path):
    text = 'flowchart TB\n  n0["a"]:::function\n  n1["b"]:::function\n  n0 --> n1\n  n1 --> n0\n'
    log = [{"iteration": 1, "x": 1}]
    (run,) = run_of(tmp_path, **{"cg.mmd": text, "log": log})["runs"]
    assert "circle" in run["problems"][0] and not run["graphs"]


def test_the_graph_that_is_dumped_is_understood(tmp_path):
    import numpy as np

    import core
    import core.functions as F
    from core.show.computational_graph import build_computational_graph

    x = core.Variable(np.ones((2, 3), "f"), name='<b>"x"&#')
    graph = build_computational_graph([F.sum(F.relu(x) + x)])
    found = graphs.parse(graph.dump("mermaid"))
    assert len(found.nodes) == len(graph.nodes) and len(found.edges) == len(graph.edges)
    assert any('<b>"x"&#' in label for label, _ in found.nodes.values())
