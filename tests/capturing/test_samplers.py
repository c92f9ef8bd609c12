"""Words that links sample are drawn anew in each replay, by the generator that eager draws by."""

import numpy as np
import pytest

import core
import core.links as L

COUNTS = [5, 2, 1, 4]


def trained(kind, captured, seed):
    np.random.seed(0)
    core.seed(seed)
    try:
        link = kind(3, COUNTS, 6)
        link.W.array[...] = np.random.rand(4, 3)
        optimizer = core.optimizers.SGD(0.1).setup(link)

        def step(x, t):
            loss = link(x, t)
            link.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        run = core.capture(step) if captured else step
        x, t = np.ones((5, 3), "f"), np.arange(5) % 4
        losses = [float(run(x, t).array) for _ in range(6)]
        if captured:
            assert "not replayed" not in run.report(), run.report()
        return losses, link.W.array
    finally:
        core.seed(None)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("kind", [L.NegativeSampling, L.BlackOut])
def test_replays_draw_what_eager_draws(kind, seed):
    eager, captured = trained(kind, False, seed), trained(kind, True, seed)
    assert eager[0] == captured[0]
    np.testing.assert_array_equal(eager[1], captured[1])
    assert len({*eager[0]}) == 6


def test_a_sampler_elsewhere_draws_where_it_is():
    """Traces of arrays of another backend leave it alone: its draws are constants there."""
    sampler = core.utils.WalkerAlias(COUNTS)

    def draw(x):
        return x + 0, sampler.sample((2,))

    program = core.trace(draw, np.ones(2, "f"))
    assert [e.call.kind for e in program.equations].count("random") == 1
    elsewhere = core.trace(draw, core.get_device("strict").send(np.ones(2, "f")))
    assert [e.call.kind for e in elsewhere.equations].count("random") == 0
