"""Training by several ranks, beside training by one."""

import json
import shutil
from collections import Counter

import numpy as np
import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_steps_of_all_ranks_are_those_of_the_global_batch(ranks, count):
    assert f"stepped {count}" in ranks.run(count, "steps")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_go_from_rank_to_rank(ranks, count):
    assert f"differentiated {count}" in ranks.run(count, "gradients")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_of_data_and_what_extensions_do(default_ranks, count):
    assert f"divided {count}" in default_ranks.run(count, "parts")


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
    straight, all_seen, weights = trained(default_ranks, 3, tmp_path / "straight", 15)
    for epoch in range(3):  # 50 examples, in batches of 12, each once in every epoch
        numbers = sum(all_seen, [])[50 * epoch : 50 * (epoch + 1)]
        assert Counter(numbers) == Counter(range(50))
    begun, seen, _ = trained(default_ranks, 3, tmp_path / "begun", 5)
    assert seen == all_seen[:5]
    for count in (3, 1, 2, 4):
        folder = tmp_path / f"{count}"
        shutil.copytree(tmp_path / "begun", folder)
        told, seen, found = trained(default_ranks, count, folder, 15)
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
    trained(default_ranks, 2, tmp_path / "begun", 5, "--drop")
    resumed, *_ = trained(default_ranks, 2, tmp_path / "begun", 10, "--drop")
    assert resumed["digest"] == straight["digest"]
