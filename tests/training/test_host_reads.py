"""A training step waits for its device nowhere: no look of the host at a value, in no operation."""

import numpy as np
import pytest
from all_ops import CHECKED, drawn
from host_reads import host_reads

import core
import core.functions as F
import core.links as L
from core import optimizer_hooks as hooks
from core import optimizers
from core.testing.trial import Trial

HOOKS = {
    "GradientClipping": lambda: hooks.GradientClipping(0.01),
    "GradientHardClipping": lambda: hooks.GradientHardClipping(-1, 1),
    "GradientLARS": lambda: hooks.GradientLARS(weight_decay=0.1),
    "GradientNoise": lambda: hooks.GradientNoise(0.1),
    "GradientValueClipping": lambda: hooks.GradientValueClipping(1.0),
    "Lasso": lambda: hooks.Lasso(0.1),
    "WeightDecay": lambda: hooks.WeightDecay(0.1),
    "ExponentialMovingAverage": lambda: hooks.ExponentialMovingAverage(0.9),
}
RULES = [name for name in dir(optimizers) if isinstance(getattr(optimizers, name), type)]
LOOKING = {"LBFGS"}  # its line search decides by the loss
COUNTING = {"ClassificationSummary": ["__int__"]}  # how many classes there are, by the greatest


class Words(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(5, 4)
            self.cell = L.LSTM(4, 4)
            self.norm = L.BatchNormalization(4)
            self.out = L.Linear(4, 3)

    def forward(self, words, t):
        self.cell.reset_state()
        for word in words:
            h = self.cell(self.embed(word))
        loss = F.softmax_cross_entropy(self.out(F.relu(self.norm(h))), t)
        core.report({"loss": loss}, self)
        return loss


def stepped(optimizer):
    """What two steps on the referee backend have looked at, the first having been made before."""
    model = Words().to_device("strict")
    optimizer.setup(model)
    place = core.backend.get("strict")
    words = [place.asarray(np.array([0, 3, 3, 4])) for _ in range(2)]
    t = place.asarray(np.array([0, 1, 2, 1]))
    optimizer.update(model, words, t)
    with host_reads() as looked:
        for _ in range(2):
            optimizer.update(model, words, t)
    return looked


def test_hooks_and_links_look_at_nothing():
    assert set(HOOKS) == {n for n in dir(hooks) if isinstance(getattr(hooks, n), type)}
    optimizer = optimizers.Adam()
    plain, optimizer.setup = (
        optimizer.setup,
        lambda model: [
            plain(model),
            [optimizer.add_hook(make()) for make in HOOKS.values()],
        ],
    )
    assert stepped(optimizer) == []


@pytest.mark.parametrize("name", sorted({*RULES} - LOOKING))
def test_rules_look_at_nothing(name):
    assert stepped(getattr(optimizers, name)()) == []


def test_loss_scaling_looks_once_whatever_the_number_of_parameters():
    optimizer = optimizers.SGD()
    optimizer.loss_scaling()
    assert stepped(optimizer) == ["__bool__"] * 2


def test_a_look_is_seen():
    x = core.backend.get("strict").asarray(np.ones(()))
    with host_reads() as looked:
        float(x), bool(x), core.backend.to_host(x)
    assert looked == ["__float__", "__bool__", "to_host"]


@pytest.mark.parametrize("name", CHECKED)
def test_operations_and_their_gradients_look_at_nothing(name):
    """The first call may, as one that finds a plan; those after it only ask for computations."""
    for case in drawn(name, 2):
        trial = Trial(case, core.backend.get("strict"), None, "reduction")
        trial.run_with_gradients("float32")
        inputs = trial.variables(trial.arrays("float32"))
        with host_reads() as looked:
            outputs = trial.run(inputs)
        given = trial.cotangents(outputs)
        with host_reads() as looked_back:
            trial.gradients(inputs, outputs, given)
        assert looked == COUNTING.get(name, []) and looked_back == []
