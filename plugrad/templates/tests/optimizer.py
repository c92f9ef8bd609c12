from core import optimizers
from core.testing import check_optimizer


def test_steps_states_and_dtypes():
    check_optimizer(optimizers.Thing)
