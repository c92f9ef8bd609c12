"""Libraries that draw, tabulate or fit take Variables, those that need a gradient too."""

import numpy as np
import pytest

import core
import core.functions as F
from core import Variable

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(6, 3))


@pytest.fixture
def x():
    return Variable(X) * 1  # a result, of a leaf


@pytest.fixture
def axes():
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is missing")
    pyplot.switch_backend("Agg")
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def test_a_line_has_the_points(axes, x):
    (line,) = axes.plot(x[:, 0], x[:, 1])
    np.testing.assert_array_equal(line.get_xydata(), X[:, :2])
    (line,) = axes.plot([F.sum(row) for row in x])
    np.testing.assert_allclose(line.get_ydata(), X.sum(1))


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes, x: axes.scatter(x[:, 0], x[:, 1], c=x[:, 2]),
        lambda axes, x: axes.bar(np.arange(6), x[:, 0]),
        lambda axes, x: axes.hist(x[:, 0]),
        lambda axes, x: axes.hist(x),
        lambda axes, x: axes.imshow(x),
        lambda axes, x: axes.contourf(x),
        lambda axes, x: axes.pcolormesh(x),
        lambda axes, x: axes.boxplot(x),
        lambda axes, x: axes.errorbar(np.arange(6), x[:, 0], yerr=abs(x[:, 1])),
        lambda axes, x: axes.fill_between(np.arange(6), x[:, 0], x[:, 1]),
        lambda axes, x: axes.axhline(F.sum(x)),
        lambda axes, x: axes.set_xlim(F.min(x), F.max(x)),
    ],
)
def test_what_is_drawn(axes, x, draw):
    draw(axes, x)
    axes.figure.canvas.draw()


def test_tables(x):
    pandas = pytest.importorskip("pandas", reason="pandas is missing")
    expected = pandas.DataFrame(X)
    assert pandas.DataFrame(x).equals(expected)
    assert pandas.DataFrame({0: x[:, 0], 1: X[:, 1], 2: x[:, 2]}).equals(expected)
    assert pandas.Series(x[:, 0]).equals(expected[0])
    assert expected.assign(sums=F.sum(x, axis=1))["sums"].equals(pandas.Series(X.sum(1)))
    assert expected[0].isin(x[:2, 0]).sum() == 2
    assert (pandas.Index(x[:, 0]) == X[:, 0]).all()


PREPROCESSING = (
    *("Binarizer", "FunctionTransformer", "MaxAbsScaler", "MinMaxScaler", "Normalizer"),
    *("PolynomialFeatures", "PowerTransformer", "RobustScaler", "SplineTransformer"),
    *("OneHotEncoder", "StandardScaler"),
)


@pytest.mark.parametrize("name", PREPROCESSING)
def test_preprocessing(name, x):
    preprocessing = pytest.importorskip("sklearn.preprocessing", reason="scikit-learn is missing")
    made = getattr(preprocessing, name)()
    expected = made.fit_transform(X)
    found = core.as_array(made.fit_transform(x))
    dense = [y.toarray() if hasattr(y, "toarray") else y for y in (found, expected)]
    np.testing.assert_allclose(*dense)


def test_numpys_functions_that_only_look(x, tmp_path):
    assert np.allclose(x, X) and np.array_equal(X, x) and np.isclose(x, X).all()
    assert np.array2string(x[0]) == np.array2string(X[0]) and not np.iscomplexobj(x)
    assert np.shares_memory(x, x.array) and np.histogram(x)[0].sum() == 18
    np.testing.assert_allclose(x, X)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x=x)
    assert (np.load(tmp_path / "x.npy") == X).all()
    assert (np.load(tmp_path / "x.npz")["x"] == X).all()


def test_others_still_ask(x):
    for lose in (np.asarray, np.array, np.ma.masked_invalid):
        with pytest.raises(TypeError, match="needs a gradient"):
            lose(x)
