"""Tables: what is read of them, and what is made of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dataset import TabularDataset
from core.dataset.tabular import DelegateDataset, from_data
from core.iterators import MultiprocessIterator, SerialIterator


def tens(i):
    return i * 10


def table():
    return from_data((("a", np.arange(5)), ("b", [4, 5, 6, 7, 8]), ("c", tens)))


def listed(columns):
    """Columns, or values, in plain lists."""
    if isinstance(columns, dict):
        return {key: listed(column) for key, column in columns.items()}
    if isinstance(columns, tuple):
        return tuple(map(listed, columns))
    return np.asarray(columns).tolist()


ROWS = [(0, 4, 0), (1, 5, 10), (2, 6, 20), (3, 7, 30), (4, 8, 40)]


def columns(rows, keys=(0, 1, 2)):
    return tuple([row[k] for row in rows] for k in keys)


def test_a_table_of_columns():
    t = table()
    assert (t.keys, t.mode, len(t)) == (("a", "b", "c"), tuple, 5)
    assert [t[i] for i in range(-5, 5)] == ROWS * 2
    assert t[1:3] == t[[1, 2]] == ROWS[1:3]
    assert listed(t.fetch()) == columns(ROWS)
    a, b, c = t.convert(t.fetch())
    assert {type(x) for x in (a, b, c)} == {np.ndarray} and c.tolist() == [0, 10, 20, 30, 40]
    d = t.asdict()
    assert (d.mode, d[1]) == (dict, {"a": 1, "b": 5, "c": 10})
    assert listed(d.convert(d.fetch())) == dict(zip("abc", columns(ROWS), strict=True))
    assert d.astuple()[1] == ROWS[1]


def test_one_column_has_values_as_examples():
    for given_data in (("a", [1, 2]), [1, 2], np.array([1, 2])):
        t = from_data(given_data)
        assert (t.mode, t[1], listed(t.fetch()), listed(t.convert(t.fetch()))) == (
            None,
            2,
            [1, 2],
            [1, 2],
        )
        assert t.astuple()[1] == (2,) and list(t.asdict()[1].values()) == [2]
    assert from_data([1]).keys != from_data([1]).keys


def test_functions_give_columns():
    assert from_data(("x", tens), size=3).fetch() == [0, 10, 20]
    pairs = from_data((("x", "y"), lambda i: (i, -i)), size=2)
    assert (pairs.keys, pairs.mode, pairs[1]) == (("x", "y"), tuple, (1, -1))
    named = from_data((("x", "y"), lambda i: {"y": -i, "x": i}), size=2)
    assert (named.mode, named[1]) == (dict, {"x": 1, "y": -1})
    mixed = from_data({("x", "y"): lambda i: (i, -i), "z": [7, 8]})
    assert (mixed.mode, mixed[1]) == (dict, {"x": 1, "y": -1, "z": 8})


masks = st.lists(st.booleans(), min_size=5, max_size=5)
index = st.one_of(st.slices(5), st.lists(st.integers(-5, 4)), masks)


def pick(rows, which):
    if isinstance(which, slice):
        return rows[which]
    if which and all(isinstance(i, bool) for i in which):
        return [row for row, taken in zip(rows, which, strict=True) if taken]
    return [rows[i] for i in which]


@given(masks)
def test_a_mask_of_numpys_truth_values_is_one(mask):
    found = [pick(ROWS, mask)] * 3
    assert [table().slice[m][:] for m in (mask, np.array(mask), [*np.array(mask)])] == found


@given(index, st.lists(st.integers(-3, 2), max_size=4), st.data())
def test_slices_of_slices(which, keys, data):
    for t in (table(), table().concat(table().slice[:0]), table().slice[::-1].slice[::-1]):
        part = t.slice[which]
        rows = pick(ROWS, which)
        assert listed(part.fetch()) == listed(columns(rows))
        assert [part[i] for i in range(len(part))] == rows
        again = data.draw(st.slices(len(rows)))
        narrow = part.slice[again, tuple(keys)]
        assert narrow.keys == tuple("abc"[k] for k in keys)
        assert listed(narrow.fetch()) == listed(columns(rows[again], keys))


def test_a_column_alone():
    part = table().slice[1:3, "b"]
    assert (part.keys, part.mode, part[0], part.fetch()) == (("b",), None, 5, [5, 6])
    assert table().slice[:, -1].keys == ("c",)
    for whole in (table(), from_data({"b": [1]}), part):
        with pytest.raises(TypeError, match=r"got 'b'\. dataset\.slice\[:, key\] has a column"):
            whole["b"]
    assert table().slice[np.array([True, False, False, True, False])].fetch()[1] == [4, 7]


@given(index)
def test_tables_below_and_beside_each_other(which):
    t = table()
    whole = t.concat(t, t.slice[2:3])
    rows = ROWS + ROWS + ROWS[2:3]
    assert len(whole) == 11 and listed(whole.fetch()) == columns(rows)
    assert listed(whole.slice[3:8:2].fetch()) == columns(rows[3:8:2])
    assert [whole[i] for i in range(-11, 11)] == rows * 2
    wide = t.asdict().join(from_data(("z", list("vwxyz"))), from_data({"y": range(5)}))
    assert (wide.keys, wide.mode) == (("a", "b", "c", "z", "y"), dict)
    assert wide[2] == {"a": 2, "b": 6, "c": 20, "z": "x", "y": 2}
    assert wide.slice[which, ("z", "a")].fetch()["z"] == pick(list("vwxyz"), which)
    assert from_data([1, 2]).join(from_data([3, 4]))[1] == (2, 4)


class Asked(TabularDataset):
    """Notes what it is asked for."""

    keys = ("x", "y")
    mode = tuple

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 6

    def get_examples(self, indices, key_indices):
        self.asked.append((indices, key_indices))
        rows = (
            range(6)
            if indices is None
            else range(6)[indices]
            if isinstance(indices, slice)
            else indices
        )
        return tuple([i * (k + 1) for i in rows] for k in (key_indices or (0, 1)))


def test_only_what_is_needed_is_asked_for():
    asked = Asked()
    assert asked.slice[1:5].slice[2:, ("y",)].fetch() == ([6, 8],)
    assert asked.slice[::-1].slice[:, "x"].fetch() == [5, 4, 3, 2, 1, 0]
    assert asked.join(from_data(("z", range(6)))).slice[[4, 0], ("z", "y")].fetch() == (
        [4, 0],
        [8, 0],
    )
    assert asked[3] == (3, 6)
    assert asked.asked == [
        (slice(3, 5, 1), [1]),
        (slice(5, None, -1), [0]),
        ([4, 0], [1]),
        ([3], None),
    ]


def test_transforms():
    t = table()
    sums = t.transform("s", lambda a, b, c: a + b)
    assert (sums.keys, sums.mode, sums[1], listed(sums.fetch())) == (
        ("s",),
        None,
        6,
        [4, 6, 8, 10, 12],
    )
    both = t.transform(("s", "d"), lambda a, b, c: (a + b, a - b))
    assert (both.mode, both[1]) == (tuple, (6, -4))
    named = t.asdict().transform(("s", "d"), lambda b, **rest: {"d": b, "s": sorted(rest)})
    assert (named.mode, named[1]) == (dict, {"s": ["a", "c"], "d": 5})
    assert from_data([1, 2]).transform("q", lambda y: y + 1).fetch() == [2, 3]
    batch = t.transform_batch(("m", "n"), lambda a, b, c: (a * 2, b))
    assert listed(batch.slice[1:3].fetch()) == ([2, 4], [5, 6])
    assert t.transform_batch("m", lambda a, b, c: a * 2)[3] == 6
    assert t.slice[:0].transform(("s",), lambda *x: {"s": 1}).mode is tuple


def test_the_kind_of_example_is_known_from_rows_that_were_computed_anyway():
    calls = []

    def function(a, b, c):
        calls.append(int(a))
        return {"s": a}

    t = table().transform(("s",), function)
    assert t.get_examples([], None) == ([],)
    assert listed(t.slice[2:4].fetch()) == {"s": [2, 3]} and t.mode is dict
    assert calls == [2, 3]


def test_a_converter_stays_with_what_is_made():
    def own(*args, **named):
        return "own", args, named

    t = table().with_converter(own)
    assert t.convert((1, 2)) == ("own", (1, 2), {})
    assert t.asdict().convert({"a": 1}) == ("own", (), {"a": 1})
    assert t.slice[:2].convert([1]) == ("own", ([1],), {})
    for made in (
        t.transform("s", lambda a, b, c: a),
        t.join(from_data(("z", [0] * 5))),
        t.concat(t),
    ):
        assert made.convert(3) == ("own", (3,), {})


def test_iterators_and_processes_take_tables():
    part = table().slice[1:4].transform(("s", "t"), add)
    assert SerialIterator(part, 3, shuffle=False).next() == [(6, 1), (8, 2), (10, 3)]
    assert listed(pickle.loads(pickle.dumps(part)).fetch()) == ([6, 8, 10], [1, 2, 3])
    with MultiprocessIterator(part, 3, shuffle=False, n_processes=1) as iterator:
        assert iterator.next() == [(6, 1), (8, 2), (10, 3)]


def add(a, b, c):
    return a + b, a


def test_a_dataset_derived_from_another():
    class Titled(DelegateDataset):
        title = "five rows"

    t = Titled(table())
    assert (t.title, t.keys, t.mode, t[4], listed(t.slice[1:2, "c"].fetch())) == (
        "five rows",
        ("a", "b", "c"),
        tuple,
        (4, 8, 40),
        [10],
    )


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda t: t.slice[:, "d"], KeyError, "has no 'd'; its keys are a, b, c"),
        (lambda t: t.slice[:, 3], KeyError, "has no 3"),
        (lambda t: t.slice[[5]], IndexError, "no row 5 in a dataset of 5 rows"),
        (lambda t: t.slice[[True, False]], ValueError, "a mask of 5 booleans, got 2"),
        (lambda t: t.slice[2], TypeError, "rows as a slice or a list, got 2"),
        (lambda t: t.slice[1, 2, 3], IndexError, "got 3 things"),
        (lambda t: t[5], IndexError, "index 5 is outside of 5 examples"),
        (lambda t: t.join(t), ValueError, "got a, b, c repeatedly"),
        (lambda t: t.join(from_data([1])), ValueError, r"one length, got \[5, 1\]"),
        (lambda t: t.concat(t.slice[:, ("b",)]), ValueError, "expected datasets with the keys"),
        (lambda t: t.transform(("x",), lambda *r: 1)[0], ValueError, "tuple of 1 values .* got 1"),
        (lambda t: t.transform(("x", "y"), lambda *r: {"x": 1})[0], ValueError, "got {'x': 1}"),
        (
            lambda t: t.transform_batch("x", lambda *columns: columns[0][:1]).fetch(),
            ValueError,
            r"transform_batch: .* columns of 5 rows, as many as it was given, got \[1\]",
        ),
        (
            lambda t: t.transform_batch(("x", "y"), lambda a, *columns: (a, 7)).slice[1:3].fetch(),
            ValueError,
            r"columns of 2 rows, .* got \[2, 'int'\]",
        ),
        (lambda t: from_data({"x": 7}), TypeError, "function as the column 'x', got 7"),
        (lambda t: from_data(iter([1])), TypeError, "Make a list of what can be read once"),
        (lambda t: from_data(([1], [1, 2])), ValueError, r"one length; got \[1, 2\]"),
        (lambda t: from_data(("x", tens)), ValueError, "give size="),
        (lambda t: from_data(("x", [1]), size=2), ValueError, r"got \[1, 2\]"),
        (lambda t: from_data((tens, [1])), ValueError, "a name for a function"),
        (lambda t: from_data((("x", [1]), ("x", [1]))), ValueError, "got x repeatedly"),
    ],
)
def test_what_makes_no_table_is_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call(table())


# ---------------------------------------------------------------------- pandas and Arrow


def numbers(table, key):
    return table.slice[:, key].fetch()


def test_columns_of_pandas_are_not_copied():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": np.arange(4.0), "t": np.arange(4), "name": list("abcd")})
    table = from_data(frame)
    assert table.keys == ("x", "t", "name") and table[2] == {"x": 2, "t": 2, "name": "c"}
    for key in ("x", "t"):
        assert np.shares_memory(numbers(table, key), frame[key].to_numpy())
    series = from_data(("x", frame["x"]))
    assert np.shares_memory(series.fetch(), frame["x"].to_numpy()) and series[3] == 3
    kept = pd.Series([1.0, np.nan])
    assert np.isnan(from_data(("x", kept)).fetch()[1])
    whole = from_data(("x", pd.Series([1, 2], dtype="Int64")))
    assert whole.fetch().dtype == np.int64


def test_columns_of_arrow_are_not_copied():
    pa = pytest.importorskip("pyarrow")
    rows = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6.0)), 2)
    given = {"x": pa.array(np.arange(3.0)), "rows": rows, "name": pa.array(["a", "b", "c"])}
    arrow = pa.table({**given, "ok": pa.array([True, False, True])})
    table = from_data(arrow)
    assert numbers(table, "rows").tolist() == [[0, 1], [2, 3], [4, 5]]
    assert numbers(table, "name") == ["a", "b", "c"]
    assert numbers(table, "ok").tolist() == [True, False, True]
    for key, part in (("x", given["x"]), ("rows", rows.flatten())):
        assert np.shares_memory(numbers(table, key), part.to_numpy())
    alone = from_data(given["x"])
    assert np.shares_memory(alone.fetch(), given["x"].to_numpy())
    chunks = pa.chunked_array([[1.0], [2.0, 3.0]])
    assert from_data(("x", chunks)).fetch().tolist() == [1, 2, 3]


def test_what_speaks_arrows_interface():
    pa = pytest.importorskip("pyarrow")

    class Foreign:
        column_names = ("x",)

        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"x": [1.0, 2.0]}).__arrow_c_stream__(requested_schema)

    assert from_data(Foreign())[1] == {"x": 2.0}


def test_what_is_no_number_is_told_by_column():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    times = pd.to_datetime(["2020-01-01", "2020-01-02"])
    for column, text in [
        (pd.Series(["a", None]), "'k', got 1 missing values; fill them by fillna"),
        (pd.Series([1, None], dtype="Int64"), "'k', got 1 missing values"),
        (pd.Series(times), r"'k', got datetime64\[.*\]; categories have \.cat\.codes"),
        (pd.Series([1, 2], dtype="category"), "'k', got category"),
        (pa.array([1, None]), "'k', got 1 missing values; fill them by fill_null"),
        (pa.array([[1, None]], pa.list_(pa.int8(), 2)), "'k', got 1 missing values; fill them by"),
        (pa.array([[1], [2, 3]]), "'k', got list"),
    ]:
        with pytest.raises(ValueError, match=f"expected numbers, truth .* in the column {text}"):
            from_data({"k": column})


def test_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    for frame in (pd.DataFrame([[1, 2]], columns=["x", "x"]), pd.DataFrame({1: [1], "1": [2]})):
        with pytest.raises(ValueError, match=r"columns whose names differ, got 2 called '[x1]'\."):
            from_data(frame)
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="got 2 called 'x'"):
        from_data(pa.table([[1], [2]], names=["x", "x"]))


def test_sparse_columns_are_filled():
    pd = pytest.importorskip("pandas")
    column = pd.Series(pd.arrays.SparseArray([0, 0, 3]))
    assert from_data(("x", column)).fetch().tolist() == [0, 0, 3]
