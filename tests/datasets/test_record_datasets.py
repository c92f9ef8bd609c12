"""Datasets of lines of text and of pickled objects."""

import gc
import io
import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import datasets as D
from core.errors import DatasetDamaged, InvalidSetting
from core.iterators import MultiprocessIterator, MultithreadIterator

LINES = ["one\n", "zwölf\n", "\n", "四"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "utf-7"])
def test_lines_of_any_encoding(tmp_path, encoding):
    path = tmp_path / "text"
    path.write_text("".join(LINES), encoding=encoding)
    lines = D.TextDataset(path, encoding=encoding)
    assert lines[:] == LINES
    assert [lines[i] for i in (3, 0, 2, 1)] == [LINES[i] for i in (3, 0, 2, 1)]
    assert pickle.loads(pickle.dumps(lines))[1] == LINES[1]
    lines.close()
    assert lines[-1] == LINES[-1]
    with pytest.raises(IndexError):
        lines[4]


@given(
    st.lists(st.text("aé四 \r\n", max_size=5)),
    st.sampled_from(["utf-8", "gb18030", "utf-8-sig", "utf-16", "hz", "unicode_escape"]),
)
def test_lines_are_those_of_the_file(tmp_path_factory, parts, encoding):
    path = tmp_path_factory.mktemp("text") / "text"
    how = {"encoding": encoding, "errors": "ignore"}
    path.write_text("".join(parts), **how, newline="")
    for newline in (None, "", "\n", "\r", "\r\n"):
        with open(path, **how, newline=newline) as file:
            expected = file.readlines()
        lines = D.TextDataset(path, **how, newline=newline)
        assert lines[:] == expected
        long = [line for line in expected if len(line) > 2]
        assert D.TextDataset(path, **how, newline=newline, filter_func=long.__contains__)[:] == long


def test_files_side_by_side(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1\n2\n3\n")
    second.write_text("x\ny\nz\n")
    both = D.TextDataset([first, str(second)])
    assert both[:] == [("1\n", "x\n"), ("2\n", "y\n"), ("3\n", "z\n")]
    assert D.TextDataset([first])[0] == "1\n"
    second.write_bytes("ä\r\nö\r\nü".encode("latin-1"))
    ways = {"encoding": ["utf-8", "latin-1"], "newline": [None, ""], "errors": ("strict", None)}
    assert D.TextDataset([first, second], **ways)[:2] == [("1\n", "ä\r\n"), ("2\n", "ö\r\n")]
    with pytest.raises(ValueError, match="expected encoding to be one for all files, or a list of"):
        D.TextDataset([first, second], encoding=["utf-8"])
    second.write_text("x\ny\nz\n")
    some = D.TextDataset([first, second], filter_func=lambda a, b: a > "2" and b < "z")
    assert some[:] == [("2\n", "y\n")]
    second.write_text("x\n")
    with pytest.raises(ValueError, match=r"a has 3, .*b has 1"):
        D.TextDataset([first, second])
    with pytest.raises(ValueError, match="at least one path"):
        D.TextDataset([])


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(DatasetDamaged, match=r"'utf-8', got the byte 0xff .* line 2 of .*text\. "):
        D.TextDataset(path, "utf-8")
    assert D.TextDataset(path, "utf-8", errors="replace")[1] == "\N{REPLACEMENT CHARACTER}\n"


WRONG = {
    "utf-8": b"\xff",
    "ascii": b"\x80",
    "gb18030": b"\xff",
    "utf-16-le": b"\x00\xdc",
    "utf-32-le": b"\x00\x00\x00\x7f",
}


@pytest.mark.parametrize("encoding", WRONG)
@given(
    st.lists(st.integers(0, 50_000), min_size=1, max_size=5),
    st.integers(0, 4),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_the_line_of_what_is_no_text_is_told(tmp_path_factory, encoding, lengths, place, end):
    """Wherever it lies in what is read at a time."""
    path = tmp_path_factory.mktemp("text") / "text"
    lines = ["a" * length for length in lengths]
    number = place % len(lines)
    before, after = end.join(lines[: number + 1]), end.join(["", *lines[number + 1 :]])
    path.write_bytes(before.encode(encoding) + WRONG[encoding] + after.encode(encoding))
    with pytest.raises(DatasetDamaged, match=rf"'{encoding}', got .* line {number + 1} of {path}"):
        D.TextDataset(path, encoding)


@pytest.mark.parametrize(
    ("content", "cure"),
    [
        ("zwölf".encode("latin-1"), "Give the encoding .* such as encoding='cp1252', or errors="),
        ("zwölf".encode("utf-16"), "begins as text in 'utf-16' does. Give the encoding"),
        (b"\x89PNG\r\n\x1a\n\x00", "a PNG image: datasets.ImageDataset reads images"),
        (b"\x00\x01\xff", "It is a binary file.$"),
        (b"a\xc3", "unexpected end of data.* line 1"),
    ],
)
def test_what_is_no_text_is_told_with_the_cure(tmp_path, content, cure):
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(DatasetDamaged, match=cure):
        D.TextDataset(path, "utf-8")


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_a_file_without_the_mark_of_its_encoding_is_named_with_the_cure(tmp_path, errors):
    path = tmp_path / "text"
    path.write_bytes(b"one\ntwo\n")
    told = rf"'utf-16' in {path}: .* BOM. Give the encoding that it was written in"
    with pytest.raises(DatasetDamaged, match=told):
        D.TextDataset(path, "utf-16", errors)


@pytest.mark.parametrize("Dataset", [D.ImageDataset, D.LabeledImageDataset])
def test_an_image_in_the_place_of_a_list_of_images(tmp_path, Dataset):
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    with pytest.raises(DatasetDamaged, match=rf"^{Dataset.__name__}: .* given as \[path, \.\.\.\]"):
        Dataset(path)


OBJECTS = [1, "two", {"three": [3.0, None]}, (b"4", 4), ["five"] * 1000]


@pytest.fixture
def pickles(tmp_path):
    path = tmp_path / "objects.pkl"
    with D.open_pickle_dataset_writer(path) as writer:
        for i, thing in enumerate(OBJECTS):
            writer.write(thing)
            if i == 1:
                writer.flush()
                with D.open_pickle_dataset(path) as begun:
                    assert begun[:] == OBJECTS[:2]
    return path


def test_objects_come_back(pickles):
    with D.open_pickle_dataset(pickles) as dataset:
        assert len(dataset) == 5
        assert [dataset[i] for i in (4, 0, -2)] == [OBJECTS[i] for i in (4, 0, -2)]
        with pytest.raises(IndexError):
            dataset[5]
    assert dataset[1] == "two"
    dataset.close()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_any_protocol_and_any_file(protocol):
    file = io.BytesIO()
    writer = D.PickleDatasetWriter(file, protocol)
    for thing in OBJECTS:
        writer.write(thing)
    dataset = D.PickleDataset(io.BytesIO(file.getvalue()))
    assert dataset[:] == OBJECTS
    assert pickle.loads(pickle.dumps(dataset))[:] == OBJECTS
    assert len(D.PickleDataset(io.BytesIO())) == 0


def test_an_object_that_cannot_be_made_is_named(tmp_path):
    """Of a class that is no longer there, or of bytes that are others."""
    path = tmp_path / "examples.pkl"
    with D.open_pickle_dataset_writer(path, protocol=0) as writer:
        writer.write(1)
        writer.write(LINES)
        writer.write(io.BytesIO)
    path.write_bytes(path.read_bytes().replace(b"BytesIO", b"BytesXX"))
    with pytest.raises(AttributeError, match="BytesXX") as raised:
        D.open_pickle_dataset(path)
    (note,) = raised.value.__notes__
    assert "object 2 of" in note and str(path) in note


def test_of_an_object_that_cannot_be_pickled_nothing_is_written(tmp_path):
    """Its beginning made other objects of those that came after it."""
    path, word = tmp_path / "examples.pkl", "".join(["wo", "rd"])
    with D.open_pickle_dataset_writer(path) as writer:
        with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
            writer.write(["a", b"x" * 200_000, "b", lambda: 1])
        writer.write({"first": word, "second": word})
    assert D.open_pickle_dataset(path)[:] == [{"first": "word", "second": "word"}]


def test_a_file_that_breaks_off_is_named(pickles):
    content = pickles.read_bytes()
    whole = [0]
    for thing in OBJECTS:
        whole.append(whole[-1] + len(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)))
    for length in range(1, len(content), 7):
        pickles.write_bytes(content[:length])
        if length in whole:
            assert D.open_pickle_dataset(pickles)[:] == OBJECTS[: whole.index(length)]
            continue
        with pytest.raises(DatasetDamaged, match=r"damaged in object \d, which begins at byte"):
            D.open_pickle_dataset(pickles)


@pytest.mark.parametrize(
    "damaged",
    [b"\x80\x04\x8c\x03t\xffo.", b"\x80\x04\x8e" + b"\xff" * 8 + b"two."],
    ids=["no text", "no length"],
)
def test_bytes_that_are_others_are_damage(pickles, damaged):
    pickles.write_bytes(pickle.dumps(1) + damaged)
    with pytest.raises(DatasetDamaged, match="damaged in object 1, which begins at byte 5 of"):
        D.open_pickle_dataset(pickles)


def test_an_open_file_cannot_be_sent(pickles):
    with open(pickles, "rb") as file:
        dataset = D.PickleDataset(file)
        assert dataset[1] == "two"
        with pytest.raises(TypeError, match=r"Use open_pickle_dataset\(path\)"):
            pickle.dumps(dataset)


def test_threads_and_processes_read_them(tmp_path, pickles):
    text = tmp_path / "text"
    text.write_text("".join(f"{i} {'x' * (i % 90)}\n" for i in range(300)))
    lines = D.TextDataset(text)
    with MultithreadIterator(lines, 300, shuffle=False, n_threads=6) as iterator:
        for _ in range(3):
            assert iterator.next() == lines[:]
    both = D.TupleDataset(lines, D.ConcatenatedDataset(*[D.open_pickle_dataset(pickles)] * 60))
    with MultiprocessIterator(both, 300, shuffle=False, n_processes=2) as iterator:
        assert iterator.next() == both[:]
    assert os.path.exists(pickles)


@pytest.mark.parametrize("make", [D.TextDataset, D.open_pickle_dataset])
@pytest.mark.parametrize("wrap", [lambda number: number, lambda number: [number]])
def test_numbers_of_open_files_are_no_paths(tmp_path, make, wrap):
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"a line\n")
        with pytest.raises(InvalidSetting, match="expected paths? to be a string"):
            make(wrap(file.fileno()))
        gc.collect()
        os.fstat(file.fileno())  # raises where it was closed
        with pytest.raises(InvalidSetting, match="expected path to be a string or a path, got int"):
            D.open_pickle_dataset_writer(file.fileno())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"paths": None}, "paths to be a string, a path or a tuple of strings or paths, got None"),
        ({"paths": b"a"}, "paths to be a string, a path or a tuple of strings or paths, got bytes"),
        ({"encoding": 3}, "encoding to be a string"),
        ({"filter_func": "a"}, "filter_func to be a function or None, got str 'a'"),
    ],
)
def test_arguments_of_another_kind_are_named(tmp_path, arguments, text):
    (tmp_path / "file").write_text("a\n")
    with pytest.raises(InvalidSetting, match=f"TextDataset: expected {text}"):
        D.TextDataset(**{"paths": tmp_path / "file", **arguments})


@pytest.mark.parametrize("make", [D.PickleDataset, D.PickleDatasetWriter])
@pytest.mark.parametrize(
    ("file", "cure"),
    [("a", r"open_pickle_dataset(_writer)?\(path\)"), (None, ""), (3, ""), (io.StringIO(), "mode")],
)
@pytest.mark.filterwarnings("error")  # which pytest makes of errors in __del__
def test_what_is_no_file_of_bytes_is_refused(make, file, cure):
    with pytest.raises(TypeError, match=rf"{make.__name__}: expected a file open for .*{cure}"):
        make(file)
    gc.collect()
