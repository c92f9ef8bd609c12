"""Training by several ranks, beside training by one."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.mpi
EXAMPLE = Path(__file__).parents[2] / "examples" / "digits" / "train_digits.py"


# Another MPI takes these steps in test_machines.py.
@pytest.mark.parametrize("count", [1, 2, 3])
def test_steps_of_all_ranks_are_those_of_the_global_batch(default_ranks, count):
    assert f"stepped {count}" in default_ranks.run(count, "steps")


@pytest.mark.parametrize("count", [2, 3])
def test_gradients_of_every_kind_are_packed_into_buffers_and_come_back(default_ranks, count):
    assert f"packed {count}" in default_ranks.run(count, "packing")


@pytest.mark.parametrize("count", [1, 3])
def test_gradients_go_from_rank_to_rank(ranks, count):
    assert f"differentiated {count}" in ranks.run(count, "gradients")


@pytest.mark.parametrize("count", [1, 3])
def test_state_in_parts_gives_the_bits_of_state_on_all(default_ranks, tmp_path, count):
    assert f"divided {count}" in default_ranks.run(count, "sharded", tmp_path)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_of_data_and_what_extensions_do(default_ranks, count):
    assert f"divided {count}" in default_ranks.run(count, "parts")


@pytest.mark.parametrize("count", [1, 3])
def test_captured_steps_of_all_ranks_have_the_bits_of_eager(default_ranks, count):
    assert f"captured {count}" in default_ranks.run(count, "captured")


def trained(ranks, count, out, steps, *flags):
    """What rank 0 tells, the numbers of the examples of each step, and some weights."""
    said = ranks.run(count, "trainer", out, steps, *flags)
    told = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    by_rank = json.loads((out / "seen").read_text())
    seen = [sum(step, []) for step in zip(*by_rank, strict=True)]
    return told, seen, np.load(out / "weights.npy")


def test_a_snapshot_resumes_on_as_many_ranks_to_the_bit_and_on_others_with_what_comes_next(
    default_ranks, tmp_path
):
    ranks = default_ranks
    straight, all_seen, weights = trained(ranks, 3, tmp_path / "straight", 15)
    for epoch in range(3):  # 50 examples, in batches of 12, each once in every epoch
        numbers = sum(all_seen, [])[50 * epoch : 50 * (epoch + 1)]
        assert Counter(numbers) == Counter(range(50))
    begun, seen, _ = trained(ranks, 3, tmp_path / "begun", 5, "--shards")
    assert seen == all_seen[:5]
    for count, *flags in ((3, "--shards"), (3,), (1,), (2, "--shards"), (4,)):
        folder = tmp_path / f"{count} {flags}"
        shutil.copytree(tmp_path / "begun", folder)
        told, seen, found = trained(ranks, count, folder, 15, *flags)
        assert told["iteration"] == 15
        assert seen == all_seen[5:]
        assert np.allclose(found, weights, atol=1e-5)
        if count == 3:
            assert told["digest"] == straight["digest"]
        logged, expected = (each["log"]["validation/main/loss"] for each in (told, straight))
        assert logged == pytest.approx(expected, rel=1e-4)
        assert told["log"]["mean rank"] == (count - 1) / 2


def test_random_numbers_of_each_rank_go_on(default_ranks, tmp_path):
    straight, *_ = trained(default_ranks, 2, tmp_path / "straight", 10, "--drop")
    (tmp_path / "begun").mkdir()
    shutil.copy(tmp_path / "straight" / "snapshot_iter_5", tmp_path / "begun")
    resumed, *_ = trained(default_ranks, 2, tmp_path / "begun", 10, "--drop")
    assert resumed["digest"] == straight["digest"]


def test_each_rank_goes_on_in_its_own_part_of_the_data(default_ranks, tmp_path):
    straight, all_seen, _ = trained(default_ranks, 3, tmp_path / "straight", 15, "--parts")
    (tmp_path / "begun").mkdir()
    shutil.copy(tmp_path / "straight" / "snapshot_iter_5", tmp_path / "begun")
    shutil.copytree(tmp_path / "begun", tmp_path / "fewer")
    resumed, seen, _ = trained(default_ranks, 3, tmp_path / "begun", 15, "--parts")
    assert seen == all_seen[5:]
    assert resumed["digest"] == straight["digest"]
    code, said, _ = default_ranks.outcome(2, "trainer", tmp_path / "fewer", 15, "--parts")
    assert code != 0
    assert "CheckpointError" in said
    assert "the saved position, 4 of 16, is not in this dataset of 25 examples" in said


def test_gradients_that_the_next_step_takes_are_saved(default_ranks, tmp_path):
    straight, _, weights = trained(default_ranks, 3, tmp_path / "straight", 10, "--late")
    for count, *flags in ((3,), (3, "--shards"), (2,)):
        begun, folder = (tmp_path / f"{each} {flags}" for each in ("begun", count))
        if not begun.exists():
            trained(default_ranks, 3, begun, 5, "--late", *flags)
        shutil.copytree(begun, folder)
        told, _, found = trained(default_ranks, count, folder, 10, "--late", *flags)
        assert (told["digest"] == straight["digest"]) == (count == 3)
        assert np.allclose(found, weights, atol=1e-5)


def processes_of(folder):
    """The numbers of the Python processes whose arguments name the folder."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            with suppress(OSError):
                words = (place / "cmdline").read_bytes().split(b"\0")
                if str(folder).encode() in words and b"python" in words[0].rpartition(b"/")[2]:
                    found.append(int(place.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_the_example_is_killed_at_drawn_points_and_goes_on(ranks, tmp_path):
    example = [str(EXAMPLE), "--communicator", "mpi", "--out", str(tmp_path), "--resume"]
    draws = random.Random(1)
    for count, snapshots in ((2, 1), (3, 2)):
        said = tmp_path / f"said by {count}"
        with said.open("w") as file:
            job = subprocess.Popen(
                [*ranks.launcher(count), *example, "--epoch", "40"],
                env=ranks.environment(),
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + 100
        while newest(tmp_path) < snapshots and time.monotonic() < until and job.poll() is None:
            time.sleep(0.01)
        processes = processes_of(tmp_path)
        assert len(processes) == count
        time.sleep(draws.random() * 0.2)
        killed = draws.choice(processes)
        os.kill(killed, signal.SIGKILL)
        assert job.wait(timeout=60) != 0
        place = re.escape(socket.gethostname())
        lost = rf"rank \d of {count} on {place} \(process {killed}\).* ended"
        assert re.search(lost, said.read_text())
        assert not processes_of(tmp_path)
    ended = subprocess.run(
        [*ranks.launcher(2), *example, "--epoch", str(newest(tmp_path) + 1)],
        env=ranks.environment(),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Resumed from" in ended.stderr
    epochs = [entry["epoch"] for entry in json.loads((tmp_path / "log").read_text())]
    assert epochs == [*range(1, newest(tmp_path) + 1)]


def newest(folder):
    """Epochs that the newest snapshot has completed, of 1437 examples in batches of 64."""
    names = [path.name.rpartition("_")[2] for path in folder.glob("snapshot_iter_*")]
    return max([int(name) * 64 // 1437 for name in names if name.isdecimal()], default=0)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are found in /proc")
def test_a_signal_to_one_rank_lets_all_end_at_the_same_step_and_save(default_ranks, tmp_path):
    job = default_ranks.start(3, "trainer", tmp_path, 100_000)
    while not (tmp_path / "snapshot_iter_5").exists() and job.poll() is None:
        time.sleep(0.01)
    os.kill(processes_of(tmp_path)[1], signal.SIGTERM)
    said, _ = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGTERM, said
    stopped = re.findall(r"SIGTERM: training stopped after iteration (\d+)\.", said)
    assert len(stopped) == 1, said  # which is told once; the snapshot compares where all ranks are
    assert (tmp_path / f"snapshot_iter_{stopped[0]}").exists()


def test_a_script_for_chainermn_runs_with_its_imports_changed(default_ranks, tmp_path):
    assert "accuracy True" in default_ranks.run(2, "chainermn_script", "--out", tmp_path)


@pytest.mark.parametrize("count", [2, 4])
def test_adversaries_sequences_and_divided_models_of_chainermn_users(
    default_ranks, tmp_path, count
):
    assert f"shaped {count}" in default_ranks.run(count, "chainermn_shapes", tmp_path)
