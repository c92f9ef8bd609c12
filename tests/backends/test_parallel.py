"""Parts in several threads: each computed once, whatever the threads; forks and errors."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from backends.numpy_backend import parallel
from core.registry import control_groups
from core.registry import threads as threads_of_process
from core.show.info import info


@given(st.integers(0, 1000), st.integers(0, 300), st.integers(1, 5))
def test_every_element_is_in_one_part(size: int, least: int, threads: int) -> None:
    with core.using_config("num_threads", threads):
        edges = parallel.bounds(size, least)
        seen: list[int] = []
        parallel.divide(lambda start, stop: seen.extend(range(start, stop)), size, least)
    assert sorted(seen) == list(range(size))
    parts = [b - a for a, b in zip(edges, edges[1:], strict=False)]
    assert len(parts) == 1 or min(parts) >= least
    assert len(parts) <= 2 * threads
    assert len(parts) < threads or len(parts) % threads == 0


def test_callers_of_several_threads_get_their_own_results() -> None:
    wrong: list[int] = []

    def call(number: int) -> None:
        with core.using_config("num_threads", 3):
            for _ in range(200):
                seen: list[int] = []
                parallel.divide(lambda start, stop, s=seen: s.append(stop - start), 100, 1)
                if sum(seen) != 100:
                    wrong.append(number)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@core.using_config("num_threads", 2)
def test_an_error_in_a_part_reaches_the_caller() -> None:

    def fail(start: int, stop: int) -> None:
        if start == 0:
            raise ZeroDivisionError("part")

    for _ in range(5):
        with pytest.raises(ZeroDivisionError, match="part"):
            parallel.divide(fail, 100, 1)


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


COUNT = "from core.registry.threads import num_threads; print(num_threads())"


def test_the_variable_decides() -> None:
    assert run(COUNT, PLUGRAD_NUM_THREADS="3").stdout == "3\n"
    assert int(run(COUNT, PLUGRAD_NUM_THREADS="").stdout) >= 1
    for wrong in ("0", "many"):
        assert (
            "PLUGRAD_NUM_THREADS: expected a whole" in run(COUNT, PLUGRAD_NUM_THREADS=wrong).stderr
        )


LIMITS = [
    ("0::/app", {"app/cpu.max": "200000 100000", "cpu.max": "max 100000"}, 2),
    ("0::/app/web", {"app/web/cpu.max": "max 100000", "app/cpu.max": "150000 100000"}, 2),  # 1.5
    ("0::/docker/4f2c", {"cpu.max": "10000 100000"}, 1),  # the top is the container's own group
    ("0::/", {}, None),
    ("0::/app", {"app/cpu.max": "max 100000"}, None),
    ("0::/app", {"app/cpu.max": ""}, None),
    (
        "4:memory:/a\n2:cpu,cpuacct:/a:b\n0::/a",
        {
            "cpu,cpuacct/a:b/cpu.cfs_quota_us": "300000\n",
            "cpu,cpuacct/a:b/cpu.cfs_period_us": "100000\n",
            "cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
        3,
    ),
]


@pytest.mark.parametrize(("own", "files", "expected"), LIMITS)
def test_what_control_groups_let_a_process_compute(
    tmp_path: Path, own: str, files: dict[str, str], expected: int | None
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(own + "\n")
    for name, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert control_groups.processors(tmp_path) == expected


def test_no_more_threads_than_a_container_has_the_time_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_of_process, "_allowed", lambda: 1)
    assert threads_of_process.processors() == info().data["threads"]["usable"] == 1
    monkeypatch.setattr(threads_of_process, "_allowed", lambda: None)
    assert threads_of_process.processors() >= 1
    assert control_groups.processors(Path("/nowhere")) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_threads_of_its_own() -> None:
    code = """
import os
from backends.numpy_backend import parallel
from core.registry import control_groups
from core.registry import threads as threads_of_process
from core.show.info import info
seen = []
parallel.divide(lambda a, b: seen.append(b - a), 100, 1)
child = os.fork()
if not child:
    seen.clear()
    parallel.divide(lambda a, b: seen.append(b - a), 100, 1)
    os._exit(sum(seen) != 100)
print(sum(seen), os.waitpid(child, 0)[1])
"""
    assert run(code, PLUGRAD_NUM_THREADS="3").stdout == "100 0\n"


def test_where_no_thread_can_be_started_the_caller_computes_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading.Thread, "start", _refused)
    monkeypatch.setattr(parallel, "_pool", parallel._Pool())
    seen: list[range] = []
    with core.using_config("num_threads", 3):
        parallel.divide(lambda start, stop: seen.append(range(start, stop)), 100, 1)
    assert sorted(i for part in seen for i in part) == [*range(100)]
    assert parallel._pool._jobs.empty()


def _refused(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
