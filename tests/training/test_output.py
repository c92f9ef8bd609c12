"""Logs, tables, bars and pictures, also in notebooks and where nothing can be written."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import small
from small import run

from core import training
from core.training import extensions
from plugins.training.extensions import log_report, report_file

# -- JSON lines -------------------------------------------------------------------------------


def test_a_log_of_json_lines_has_a_line_for_a_record(tmp_path):
    plain = extensions.LogReport()
    by_name, by_choice = (
        extensions.LogReport(filename="log.jsonl"),
        extensions.LogReport(filename="other", format="jsonl"),
    )
    list_after_all = extensions.LogReport(filename="list.jsonl", format="json")
    run(tmp_path, plain, by_name, by_choice, list_after_all)
    expected = [small.timeless(r) for r in json.loads((tmp_path / "log").read_text())]
    for name in ("log.jsonl", "other"):
        lines = (tmp_path / name).read_text().splitlines()
        assert [small.timeless(json.loads(line)) for line in lines] == expected
    assert len(json.loads((tmp_path / "list.jsonl").read_text())) == 2
    with pytest.raises(ValueError, match="Did you mean 'jsonl'"):
        extensions.LogReport(format="jsonlines")


@pytest.mark.parametrize("name", ["log", "log.jsonl"])
def test_a_record_of_a_log_is_made_text_once(tmp_path, monkeypatch, name):
    """Of thousands of records each step would take longer than the one before."""
    made, dumps = [], json.dumps
    monkeypatch.setattr(json, "dumps", lambda o, **how: made.append(o) or dumps(o, **how))
    log = extensions.LogReport(trigger=(1, "iteration"), filename=name)
    run(tmp_path, log)
    assert [*map(id, made)] == [*map(id, log.log)] and len(made) == 10
    text = (tmp_path / name).read_text()
    whole = dumps(log.log, indent=4) + "\n"
    assert text == (whole if name == "log" else "".join([dumps(r) + "\n" for r in log.log]))


def test_a_file_that_is_written_often_takes_a_twentieth_of_the_time(tmp_path, monkeypatch):
    """A whole file of 100,000 records for each of them would take longer than the training."""
    now, at_work, path = [0.0], [0.0], tmp_path / "log"
    monkeypatch.setattr(report_file, "time", SimpleNamespace(monotonic=lambda: now[0]))
    file = report_file.ReportFile("LogReport")
    for number in range(2000):

        def write(temporary, number=number):
            now[0] += number / 1000  # seconds, more for each record
            at_work[0] += number / 1000
            temporary.write_text(str(number))

        now[0] += 0.1
        file.write(path, write, often=True)
    assert at_work[0] < now[0] / 20 + 2
    assert int(path.read_text()) > 1500  # not long ago
    file.write(tmp_path / "other", lambda temporary: temporary.write_text("other"), often=True)
    assert path.read_text() == "1999"
    file.write(tmp_path / "other", lambda temporary: temporary.write_text("last"), often=True)
    file.finish()
    assert (tmp_path / "other").read_text() == "last"


def test_a_long_log_is_whole_at_the_end(tmp_path, monkeypatch):
    replaced, replace, ticks = [], os.replace, count()
    monkeypatch.setattr(os, "replace", lambda *paths: replaced.append(paths) or replace(*paths))
    monkeypatch.setattr(report_file, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(log_report, "MANY", 3)
    run(tmp_path, extensions.LogReport(trigger=(1, "iteration")))
    assert [r["iteration"] for r in json.loads((tmp_path / "log").read_text())] == [*range(1, 11)]
    assert len(replaced) == 4


def test_a_log_waits_for_the_disk_at_the_end_alone(tmp_path, monkeypatch):
    """A small step takes less than the disk does: nothing but the end has to wait for it."""
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle)) or sync(handle))
    run(tmp_path, extensions.LogReport(trigger=(1, "iteration")))
    (whole,) = synced
    assert os.path.samestat(whole, (tmp_path / "log").stat())


def test_reports_make_the_folders_that_their_names_ask_for(tmp_path):
    run(
        tmp_path,
        extensions.LogReport(filename="logs/{epoch}.json"),
        extensions.PlotReport("main/loss", filename="pictures/loss.png"),
    )
    assert sorted(os.listdir(tmp_path / "logs")) == ["1.json", "2.json"]
    assert os.listdir(tmp_path / "pictures") == ["loss.png"]


def test_two_that_write_one_file_are_told(tmp_path):
    each = extensions.LogReport(trigger=(1, "iteration"))
    with pytest.warns(UserWarning, match=r"log is the file of another extension") as told:
        run(tmp_path / "one", extensions.LogReport(), each)
    assert len(told) == 1
    for place in ("two", "three"):  # one run after another
        run(tmp_path / place, extensions.LogReport(filename=str(tmp_path / "log")))


def test_names_of_files_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Did you mean 'epoch'"):
        run(tmp_path, extensions.LogReport(filename="log_{epochs}"))
    began = training.Trainer(small.updater(), (2, "epoch"), tmp_path)
    began.extend(extensions.PlotReport("main/loss", filename="loss.pgn"))
    with pytest.raises(ValueError, match="Did you mean 'png'"):
        began.run(show_loop_exception_msg=False)
    assert began.updater.iteration == 0


# -- places that cannot be written to ---------------------------------------------------------


@contextmanager
def small_disk(size=100):
    """No file may grow beyond so many bytes, as on a full disk; gives a function that changes it.

    Not a fixture: pytest may be writing to a file as well, before it takes fixtures down.
    """
    previous = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def limit(size=100):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, previous[1]))

    try:
        limit(size)
        yield limit
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous)
        signal.signal(signal.SIGXFSZ, handler)


REPORTS = {
    "LogReport": (extensions.LogReport, "log"),
    "PlotReport": (lambda: extensions.PlotReport("main/loss"), "plot.png"),
    "VariableStatisticsPlot": (
        lambda: extensions.VariableStatisticsPlot(small.Model().l1.W),
        "statistics.png",
    ),
    "dump_graph": (lambda: extensions.dump_graph("main/loss"), "cg"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_full_disk_is_a_warning_and_at_the_end_an_error(tmp_path, name):
    make, file = REPORTS[name]
    with (
        pytest.warns(
            UserWarning, match=rf"{name}: could not write .*{file}.*limit on the size"
        ) as told,
        pytest.raises(OSError, match="File too large|No space left") as info,
        small_disk(40),
    ):
        run(tmp_path, make())
    assert len({str(w.message) for w in told}) == len(told)  # not again and again
    told_at_the_end = [note for note in info.value.__notes__ if f"{name}: {tmp_path}" in note]
    assert len(told_at_the_end) == 1 and " lacks what was " in told_at_the_end[0]
    assert any(f"extension {name!r} in finalize" in note for note in info.value.__notes__)
    assert os.listdir(tmp_path) == []


def test_a_disk_with_room_again_gets_the_whole_log(tmp_path):
    full = training.make_extension(trigger=(1, "iteration"), priority=1000)(
        lambda trainer: limit(100 if trainer.updater.iteration < 8 else 10**6)
    )
    with pytest.warns(UserWarning, match="Training goes on"), small_disk() as limit:
        run(tmp_path, full, extensions.LogReport(trigger=(1, "iteration")))
    assert [r["iteration"] for r in json.loads((tmp_path / "log").read_text())] == [*range(1, 11)]


def test_a_log_that_only_failed_last_is_written_at_the_end(tmp_path):
    log, made = extensions.LogReport(), training.Trainer(small.updater(), (2, "epoch"), tmp_path)
    made.extend(log)

    class Room(training.Extension):
        priority = 1000

        def __call__(self, trainer):
            pass

        def finalize(self):
            limit(10**6)

    made.extend(Room())
    with pytest.warns(UserWarning, match="Training goes on"), small_disk() as limit:
        made.run()
    assert len(json.loads((tmp_path / "log").read_text())) == 2


# -- terminals --------------------------------------------------------------------------------


def broken(error):
    class Broken(io.StringIO):
        encoding = "utf-8"

        def write(self, text):
            raise error

        def isatty(self):
            return True

    return Broken()


def closed():
    out = io.StringIO()
    out.close()
    return out


@pytest.mark.parametrize(
    "out",
    [broken(BrokenPipeError(32, "Broken pipe")), broken(OSError(28, "No space left")), closed()],
    ids=["pipe", "disk", "closed"],
)
def test_a_terminal_that_goes_away_does_not_end_the_training(tmp_path, out):
    with pytest.warns(UserWarning, match="cannot be written to any more") as told:
        made = run(
            tmp_path,
            extensions.LogReport(),
            extensions.PrintReport(["epoch"], out=out),
            extensions.ProgressBar(update_interval=1, out=out),
            trigger=(1, "iteration"),
        )
    assert made.updater.epoch == 2
    assert sorted(str(w.message).partition(":")[0] for w in told) == ["PrintReport", "ProgressBar"]


def test_a_program_without_an_output_trains(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    made = run(
        tmp_path,
        extensions.LogReport(),
        extensions.PrintReport(["epoch"]),
        extensions.ProgressBar(update_interval=1),
    )
    assert made.updater.epoch == 2


def test_a_bar_of_training_that_ends_with_its_first_batch(tmp_path):
    out = io.StringIO()
    updater = small.updater(batch_size=2 * len(small.data()))
    made = training.Trainer(updater, (1, "epoch"), tmp_path)
    made.extend(extensions.ProgressBar(update_interval=1, out=out))
    made.run()
    assert updater.epoch_detail > 1 and "epoch 1.00/1" in out.getvalue()


@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_a_bar_leaves_a_narrow_terminal_room_for_times_and_speed(tmp_path, monkeypatch, columns):
    out = io.StringIO()
    out.isatty = lambda: True
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("LINES", "24")
    run(tmp_path, extensions.ProgressBar(update_interval=1, out=out))
    text = out.getvalue().replace("\x1b[A", "")  # of a bar that another test has left open
    lines = [line.rstrip() for line in text.replace("\n", "\r").split("\r") if line.strip()]
    assert max(map(len, lines)) <= columns
    assert lines[-1].startswith("100%|█") and lines[-1].count("█") <= 50
    if columns > 50:
        assert lines[-1].endswith(" iterations/s]")
        assert len(lines[-1]) == columns or lines[-1].count("█") == 50


def test_a_real_pipe_that_closes_early(tmp_path):
    body = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import small
        from core import training
        from core.training import extensions
        made = training.Trainer(small.updater(), (30, "epoch"), {str(tmp_path)!r})
        made.extend(extensions.LogReport())
        made.extend(extensions.PrintReport(["epoch", "main/loss"]))
        made.extend(extensions.ProgressBar())
        made.run()
        print("epochs:", made.updater.epoch, file=sys.stderr)
        sys.stdout = None
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(body)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert "epochs: 30" in errors and "cannot be written to any more" in errors
    assert len(json.loads((tmp_path / "log").read_text())) == 30


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_encodings_that_lack_characters(tmp_path, encoding):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, write_through=True)
    run(
        tmp_path,
        extensions.observe_value("損失", lambda trainer: 0.5),
        extensions.LogReport(),
        extensions.PrintReport(["epoch", "損失"], out=out),
        extensions.ProgressBar(update_interval=1, out=out),
    )
    lines = raw.getvalue().decode(encoding).splitlines()
    title = "損失" if encoding == "utf-8" else r"\u640d\u5931"
    assert lines[0].split() == ["epoch", title]
    stroke = "-" if encoding in ("ascii", "latin-1") else "─"
    assert set(lines[1]) == {stroke, " "}
    assert lines[2].split() == ["1", "0.50000"] and "100%|" in lines[-1]
    assert lines[0].rstrip() == lines[0] and len(lines[1]) == 9 + 2 + max(len(title), 9)


# -- notebooks --------------------------------------------------------------------------------


@pytest.fixture
def shown():
    """What a notebook's front end would be sent: ("display" or "update", id, HTML)."""
    display = pytest.importorskip("IPython.core.displaypub")
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    sent = []

    class Publisher(display.DisplayPublisher):
        def publish(self, data, metadata=None, *, transient=None, update=False, **kwargs):
            kind = "update" if update else "display"
            sent.append((kind, (transient or {}).get("display_id"), data["text/html"]))

    class Shell(interactive.InteractiveShell):
        display_pub_class = Publisher
        kernel = object()  # what marks the shell of a notebook

    class Quiet(Shell):
        def init_history(self):
            from IPython.core.history import HistoryManager

            self.history_manager = HistoryManager(shell=self, parent=self, enabled=False)

    interactive.InteractiveShell.clear_instance()
    Quiet.instance()
    yield sent
    Quiet.clear_instance()
    vars(sys).pop("ps1", None)  # by which a signal is taken for that of one who types commands


def notebook_run(out, *added):
    return run(training.new_directory(out / "run"), extensions.LogReport(), *added)


def test_a_notebook_gets_a_table_that_grows_and_a_bar_that_moves(tmp_path, shown, capsys):
    notebook_run(tmp_path, extensions.PrintReport(["epoch", "main/loss"]))
    (first, identity, one), (second, other, two) = shown
    assert (first, second) == ("display", "update") and identity == other is not None
    assert one.count("<tr>") == 2 and two.count("<tr>") == 3 and "main/loss</th>" in two
    del shown[:]
    notebook_run(tmp_path, extensions.ProgressBar(update_interval=1))
    kinds = [kind for kind, *_ in shown]  # on a busy machine it is drawn in between as well
    assert kinds == ["display", *["update"] * (len(kinds) - 1)] and "100%|█" in shown[-1][2]
    assert capsys.readouterr().out == ""


def test_a_notebook_gets_the_last_records_of_many(tmp_path, shown, monkeypatch):
    """The table is sent as a whole: with thousands of records the browser could not keep up."""
    monkeypatch.setattr("plugins.training.extensions.print_report._MOST", 3)
    log = extensions.LogReport(trigger=(1, "iteration"))
    run(tmp_path, log, extensions.PrintReport(["iteration"]))
    tables = [html for *_, html in shown]
    assert [html.count("<td") for html in tables] == [1, 2, *[3] * 8]
    assert "earlier" not in tables[2] and "after 7 earlier ones" in tables[-1]
    assert [f">{n}</td>" in tables[-1] for n in range(6, 11)] == [False, False, True, True, True]


def test_in_a_notebook_a_given_output_is_a_terminal(tmp_path, shown):
    out = io.StringIO()
    notebook_run(tmp_path, extensions.PrintReport(["epoch"], out=out))
    assert not shown and out.getvalue().split()[2:] == ["1", "2"]


def test_the_notebooks_own_varieties_say_what_they_need(tmp_path, monkeypatch, shown):
    notebook_run(tmp_path, extensions.PrintReportNotebook(["epoch", "<b>"]))
    assert "&lt;b&gt;" in shown[-1][2]
    notebook_run(tmp_path, extensions.ProgressBarNotebook(bar_length=10))
    assert "100%|" in shown[-1][2]
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ModuleNotFoundError, match="On a terminal use PrintReport"):
        notebook_run(tmp_path, extensions.PrintReportNotebook(["epoch"]))
