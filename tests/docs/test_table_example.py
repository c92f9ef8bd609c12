"""The example of a table, on files of pandas and of Arrow, and on what is no table."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "table" / "train_table.py"
SCRIPT = runpy.run_path(str(EXAMPLE))


def finish(*arguments, before="pass"):
    run = f"import sys, runpy; {before}; sys.argv[0] = {str(EXAMPLE)!r}; "
    code = f"{run}runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def written(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{path.suffix[1:]}")(path)
    return path


@pytest.fixture(scope="module")
def table():
    frame = SCRIPT["generated"](200)
    frame.loc[3, "place"] = None
    return frame


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_file_is_read_as_the_same_table(table, tmp_path, suffix):
    if suffix != "csv":
        pytest.importorskip("pyarrow")
    path = written(table, tmp_path / f"table.{suffix}")
    rows, held_out, vocabulary = SCRIPT["prepare"](SCRIPT["read"](path), "rent")
    expected, _, _ = SCRIPT["prepare"](table, "rent")
    assert (len(rows), len(held_out), vocabulary) == (160, 40, 7)  # six places, and none
    for name, column in expected.fetch().items():
        np.testing.assert_allclose(rows.fetch()[name], column, rtol=1e-5, atol=1e-5)
    numbers = rows.fetch()["numbers"]
    assert numbers.shape == (160, 3) and np.isfinite(numbers).all()
    np.testing.assert_allclose(numbers[:, 1:].std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-4)


def test_it_trains_on_a_table_of_ones_own(tmp_path):
    frame = pandas.DataFrame({"x": np.linspace(0, 1, 300), "y": np.linspace(0, 1, 300) ** 2})
    path = written(frame, tmp_path / "own.csv")
    done = finish("--table", path, "--target", "y", "--out", tmp_path, "--check", 90)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "before", "message"),
    [
        (["--target", "price"], "pass", "--target to be one of size, age, floor, place, rent"),
        (["--target", "place"], "pass", "expected numbers as --target"),
        (["--table", "nowhere.csv"], "pass", "No such file"),
        ([], "sys.modules['pandas'] = None", "`pip install 'plugrad[table]'`"),
        (["--table", "t.parquet"], "sys.modules['pyarrow'] = None", "pip install 'plugrad[table]'"),
    ],
)
def test_what_is_no_table_is_told_in_one_line(tmp_path, arguments, before, message):
    done = finish("--out", tmp_path, *arguments, before=before)
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
