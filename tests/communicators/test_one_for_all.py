"""What a trainer prints and writes where several ranks train together: as one process does."""

import json
import re
import socket

import pytest

pytestmark = pytest.mark.mpi


def logged(folder, name="log"):
    """The records of a log, without times, and what depends on who has which gradients."""
    found = json.loads((folder / name).read_text())
    left_out = ("elapsed_time", "size", "sum")
    return [
        {key: each[key] for key in each if key not in left_out and "/grad/" not in key}
        for each in found
    ]


def test_a_script_without_ranks_writes_once_what_one_process_writes(default_ranks, tmp_path):
    pytest.importorskip("matplotlib")
    said = default_ranks.run(1, "one_for_all", tmp_path / "one", 15, "job")
    straight, files = logged(tmp_path / "one/job"), said.splitlines()[-1]
    default_ranks.run(3, "one_for_all", tmp_path / "several", 8, "job", "shards")
    assert logged(tmp_path / "several/job") == [pytest.approx(straight[0], rel=1e-4, abs=1e-6)]
    # On other ranks the mean over iterations 6 to 10 has what all three observed before the eighth.
    whole = (tmp_path / "several/job/snapshot_iter_7").read_bytes()
    (tmp_path / "several/job/snapshot_iter_8").write_bytes(whole[:-1000])
    said = default_ranks.run(2, "one_for_all", tmp_path / "several", 15, "job")
    assert (tmp_path / "several/job/snapshot_iter_8.damaged").exists()
    found = logged(tmp_path / "several/job")
    assert found == [pytest.approx(each, rel=1e-4, abs=1e-6) for each in straight]
    assert said.splitlines()[-1].replace('"job/snapshot_iter_8.damaged", ', "") == files
    for once in ("Resumed from", "is damaged and was put aside", "iteration  main/loss", "100%"):
        assert said.count(once) == 1, said
    assert "job/earlier" not in files


def test_ranks_that_differ_each_do_what_their_script_says(default_ranks, tmp_path):
    modes = ("on_one_rank", "more_on_one_rank", "own_folders", "stops", "ragged", "fails")
    code, said, _ = default_ranks.outcome(2, "one_for_all", tmp_path, 15, *modes)
    assert code != 0
    # Both ranks where one had loaded a snapshot; one after the slip, or both if there is time.
    assert said.count("Training stopped by") in (3, 4)
    place = re.escape(socket.gethostname())
    assert re.search(f"stopped by ValueError on rank 1 of 2 on {place}: a slip", said)
    own, of_all = (logged(tmp_path / "on_one_rank", name) for name in ("own", "log"))
    assert [each["iteration"] for each in own] == [3, 6, 9, 12, 15]
    assert [each["iteration"] for each in of_all] == [5, 10, 15]
    assert said.count("main/loss") == 1
    assert (tmp_path / "on_one_rank" / "model").exists()
    for rank in (0, 1):
        assert {each["rank"] for each in logged(tmp_path / f"own_folders/{rank}")} == {rank}
