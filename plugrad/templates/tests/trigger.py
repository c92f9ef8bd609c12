from types import SimpleNamespace

from core.training import triggers


def test_powers_of_two():
    trigger = triggers.Thing()
    trainers = [SimpleNamespace(updater=SimpleNamespace(iteration=i)) for i in range(1, 10)]
    assert [t.updater.iteration for t in trainers if trigger(t)] == [1, 2, 4, 8]
