"""Where Variables deviate from the array standard: the list of the documentation, one by one."""

import operator
import re
from pathlib import Path

import numpy as np
import pytest

from core import Variable
from core.errors import InvalidType, UnknownName
from core.ops.namespace import namespace as xp

DOCUMENT = Path(__file__).parents[2] / "docs" / "array_api.md"


def variable(*values, **options):
    return Variable(np.array(values, dtype=float), **options)


def operators_do_not_promote():
    x, y = Variable(np.ones(2, "f")), variable(1, 2)
    for function in (operator.add, operator.mul, operator.lt, operator.mod):
        with pytest.raises(InvalidType):
            function(x, y)
    for function in (operator.add, operator.mul, operator.pow):  # an array takes x's dtype
        assert function(x, y.array).dtype == function(y.array, x).dtype == "float32"
    assert xp.add(x, y).dtype == "float64"


def leaves_refuse_item_assignment():
    with pytest.raises(TypeError, match="leaf"):
        variable(1, 2)[0] = 1


def assignment_does_not_reach_views_of_results():
    y = variable(1, 2) * 2
    view = y.reshape((2, 1))
    y[0] = 7
    assert view.array.tolist() == [[2], [4]]


def in_place_operators_make_new_variables():
    x = before = variable(1, 2)
    x += np.ones((3, 2))
    assert x is not before and x.shape == (3, 2) and before.shape == (2,)


def to_device_moves_in_place():
    x = variable(1, 2)
    assert x.to_device("strict") is x and x.backend.name == "strict"
    y = xp.asarray(x, device="numpy")
    assert (y.backend.name, x.backend.name) == ("numpy", "strict")
    assert xp.astype(x, "float32", device="numpy").backend.name == "numpy"


def T_takes_any_number_of_axes():
    x = Variable(np.zeros((2, 3, 4)))
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)


def one_element_is_enough_for_a_python_number():
    x = Variable(np.ones((1, 1), int))
    assert float(x) == complex(x) == 1 and bool(x) and int(x) == 1
    with pytest.raises(TypeError):
        operator.index(x)


def pinv_takes_one_number_as_rtol():
    x = variable(*np.ones((2, 2, 2)))
    assert xp.linalg.pinv(x, rtol=np.array(0.1)).shape == (2, 2, 2)
    with pytest.raises(TypeError):
        xp.linalg.pinv(x, rtol=np.array([0.1, 0.1]))
    assert xp.linalg.matrix_rank(x, rtol=np.array([0.1, 2.0])).array.tolist() == [1, 0]


def means_of_nothing_are_refused():
    for name in ("mean", "var", "std"):
        with pytest.raises(InvalidType):
            getattr(xp, name)(np.zeros((0, 2)), axis=0)
    assert xp.sum(np.zeros((0, 2)), axis=0).array.tolist() == [0, 0]


def complex_numbers_have_little_support():
    z = np.ones(2, xp.complex64)
    for name in ("real", "imag", "conj"):
        with pytest.raises(InvalidType, match="complex64"):
            getattr(xp, name)(z)
    for name in ("exp", "abs", "matmul"):
        with pytest.raises(InvalidType, match="complex64"):
            getattr(xp, name)(*[z] * (1 + (name == "matmul")))
    dtypes = xp.__array_namespace_info__().dtypes
    assert dtypes(kind="complex floating") == {} and "complex64" not in dtypes()


def there_is_no_fft_extension():
    with pytest.raises(UnknownName, match="'fft'"):
        xp.fft  # noqa: B018


def what_needs_a_gradient_is_not_exported():
    for lose in (np.asarray, lambda x: x.__dlpack__()):
        with pytest.raises(TypeError, match="needs a gradient"):
            lose(variable(1))


DEVIATIONS = [
    operators_do_not_promote,
    leaves_refuse_item_assignment,
    assignment_does_not_reach_views_of_results,
    in_place_operators_make_new_variables,
    to_device_moves_in_place,
    T_takes_any_number_of_axes,
    one_element_is_enough_for_a_python_number,
    pinv_takes_one_number_as_rtol,
    means_of_nothing_are_refused,
    complex_numbers_have_little_support,
    there_is_no_fft_extension,
    what_needs_a_gradient_is_not_exported,
]


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda f: f.__name__)
def test_deviation(deviation):
    deviation()


def test_the_document_lists_these_and_no_others():
    section = DOCUMENT.read_text(encoding="utf-8").partition("## Where Variables deviate")[2]
    titles = re.findall(r"^- \*\*(.*?)\.\*\*", section.partition("\n## ")[0], re.M)

    def plain(title):
        return re.sub(r"\W+", "_", title).lower()

    assert [plain(title) for title in titles] == [f.__name__.lower() for f in DEVIATIONS]
