import core.functions as F
import numpy as np
from core.testing import check_op

from plugrad_thing.function import Thing


def test_it_is_proved_by_its_domain():
    check_op(Thing, reference=lambda x: x / (1 + np.abs(x)))


def test_it_is_found_by_its_name():
    assert F.thing(np.array([3.0], "f")).array[0] == 0.75
