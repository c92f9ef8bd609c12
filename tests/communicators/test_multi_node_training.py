"""Training by several ranks, beside training by one."""

import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_steps_of_all_ranks_are_those_of_the_global_batch(ranks, count):
    assert f"stepped {count}" in ranks.run(count, "steps")
