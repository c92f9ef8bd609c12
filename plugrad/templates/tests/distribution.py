import scipy.stats
from core import distributions, real
from core.testing import check_distribution


def test_thing():
    check_distribution(
        distributions.Thing,
        scipy.stats.logistic,
        params={"loc": real(-2, 2), "scale": real(0.5, 2)},
        reparametrized=True,
    )
