"""`chainer.testing`: cases that prove functions and links, and that find those that are wrong."""

import unittest

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import testing
from chainer.testing import attr, condition


def run(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case)(result)
    return result


class Square(testing.FunctionTestCase):
    shape = (3, 2)
    wrong = 0.0

    def setUp(self):
        super().setUp()
        self.check_backward_options.update(dtype=np.float64, atol=1e-3, rtol=1e-3)
        self.check_double_backward_options.update(dtype=np.float64, atol=1e-3, rtol=1e-3)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, self.shape).astype("f"),)

    def forward(self, inputs, device):
        (x,) = inputs
        return (x * x,)

    def forward_expected(self, inputs):
        (x,) = inputs
        return (x * x + np.float32(self.wrong),)


class WrongGradient(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] ** 2,)

    def backward(self, inputs, grad_outputs):
        return (inputs[0] * grad_outputs[0],)


def test_a_function_is_proven():
    result = run(Square)
    assert result.testsRun == 3 and result.wasSuccessful(), result.failures + result.errors


def test_what_is_not_floating_has_no_gradients_of_gradients():
    class Chosen(Square):
        def generate_inputs(self):
            return (np.random.uniform(-1, 1, self.shape) > 0, *super().generate_inputs())

        def forward(self, inputs, device):
            return (F.where(inputs[0], inputs[1] ** 2, -inputs[1]),)

        def forward_expected(self, inputs):
            return (np.where(inputs[0], inputs[1] ** 2, -inputs[1]),)

    result = run(Chosen)
    assert result.testsRun == 3 and result.wasSuccessful(), result.failures + result.errors


def test_cases_know_which_test_they_run():
    seen = []

    class Named(Square):
        def before_test(self, test_name):
            seen.append((test_name, self.test_name))

        def generate_inputs(self):
            assert (self.test_name, self.test_name) == seen[-1]
            return super().generate_inputs()

    result = run(Named)
    assert len(seen) == 3 and result.wasSuccessful(), result.failures + result.errors


def test_wrong_outputs_and_gradients_are_found():
    class Wrong(Square):
        wrong = 0.1
        skip_backward_test = skip_double_backward_test = True

    class WrongBackward(Square):
        skip_double_backward_test = True

        def forward(self, inputs, device):
            return (WrongGradient()(*inputs),)

    first, second = run(Wrong), run(WrongBackward)
    assert len(first.failures) == 1 and len(first.skipped) == 2
    assert len(second.failures) == 1 and "FunctionTestError" in second.failures[0][1]


def test_backends_are_injected():
    seen = []

    @testing.inject_backend_tests(["test_it"], [{}, {"use_cuda": True}, {"use_ideep": "always"}])
    class Injected(unittest.TestCase):
        def test_it(self, backend_config):
            with backend_config:
                seen.append(backend_config.get_array(np.zeros(2)))

    result = run(Injected)
    assert result.testsRun == 3 and result.wasSuccessful()
    assert len(seen) + len(result.skipped) == 3 and result.skipped


def test_backends_are_injected_by_several_decorators():
    seen = []

    @testing.inject_backend_tests(["test_it"], [{}, {"use_ideep": "always"}])
    @testing.inject_backend_tests(["test_it"], [{"use_cudnn": "always"}, {"autotune": True}])
    class Injected(unittest.TestCase):
        def test_it(self, inner, outer):
            seen.append((inner.use_cudnn, inner.autotune, outer.use_cudnn))
            first, (second,) = outer.get_array([np.zeros(2), (np.ones(3),)])
            assert first.shape == (2,) and second.shape == (3,)

        def test_other(self):
            seen.append("other")

    result = run(Injected)
    assert result.testsRun == 5 and len(result.skipped) == 2 and result.wasSuccessful()
    assert seen == [("always", False, "never"), ("never", True, "never"), "other"]


class LinearCase(testing.LinkTestCase):
    param_names = ("W", "b")

    def generate_params(self):
        return np.random.uniform(-1, 1, (2, 3)).astype("f"), np.random.uniform(-1, 1, 2).astype("f")

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(3, 2, initialW=W, initial_bias=b)

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, (4, 3)).astype("f"),)

    def forward_expected(self, link, inputs):
        (x,) = inputs
        return (x @ link.W.array.T + link.b.array,)

    def setUp(self):
        super().setUp()
        self.check_backward_options.update(dtype=np.float64, atol=1e-3, rtol=1e-3)


class Initialized(testing.LinkInitializersTestCase):
    param_names = ("W", "b")
    generate_params = LinearCase.generate_params
    create_link = LinearCase.create_link
    generate_inputs = LinearCase.generate_inputs
    forget = False

    def get_initializers(self):
        normal = chainer.initializers.Normal(0.1)
        return [[normal, 2.0], [0.5, testing.InitializerArgument(None, 0)]]

    def create_link(self, initializers):  # noqa: F811 - with a fault, if asked for one
        W, b = initializers
        return L.Linear(3, 2, initialW=W, initial_bias=None if self.forget else b)


class SizedByInput(LinearCase):
    """Its initializers are a list, and its shapes are those of the first call."""

    def generate_params(self):
        return [chainer.initializers.Normal(0.5), 0]

    def create_link(self, initializers):
        W, b = initializers
        return L.Linear(None, 2, initialW=W, initial_bias=b)


def test_links_are_proven():
    for case in (LinearCase, SizedByInput, Initialized):
        result = run(case)
        assert result.testsRun and result.wasSuccessful(), result.failures + result.errors

    class Forgets(Initialized):
        forget = True

    assert len(run(Forgets).failures) == 1


@testing.parameterize(*testing.product({"n": [1, 2], "kind": ["a", "b"]}))
class TestParameterized(unittest.TestCase):
    def test_it(self):
        assert self.n in (1, 2) and self.kind in "ab"


def test_parameterized_cases_stand_in_the_module():
    assert sum(name.startswith("TestParameterized_param_") for name in globals()) == 4


def test_conditions_attributes_and_requirements():
    outcomes = iter([False, True])

    @condition.retry(2)
    def unsteady():
        assert next(outcomes)

    unsteady()

    class Needing(unittest.TestCase):
        @attr.slow
        def test_slow(self):
            pass

        @attr.cudnn
        def test_cudnn(self):
            raise AssertionError

        @testing.with_requires("numpy>=1.0")
        def test_there(self):
            pass

        @testing.with_requires("numpy<1.0")
        def test_not_there(self):
            raise AssertionError

    result = run(Needing)
    assert result.wasSuccessful() and len(result.skipped) == 2


@testing.with_requires("numpy<1.0")
@testing.parameterize({"n": 1}, {"n": 2})
class TestNeedingAboveParameters(unittest.TestCase):
    def test_it(self):
        raise AssertionError


def test_tools():
    with testing.assert_warns(DeprecationWarning):
        import warnings

        warnings.warn("gone", DeprecationWarning, stacklevel=1)
    with pytest.raises(AssertionError), testing.assert_warns(DeprecationWarning):
        pass
    matrix = testing.generate_matrix((2, 3, 3), singular_values=[2.0, 1.0, 0.5])
    assert np.allclose(np.linalg.svd(matrix)[1], [2.0, 1.0, 0.5])

    @testing.fix_random()
    def drawn():
        return np.random.random()

    assert drawn() == drawn()
    source, target = L.Linear(2, 1), L.Linear(2, 1)
    testing.save_and_load_npz(source, target)
    assert (source.W.array == target.W.array).all()
    trainer = testing.get_trainer_with_mock_updater((3, "iteration"))
    trainer.run()
    assert trainer.updater.iteration == 3
    testing.assert_allclose(F.exp(np.zeros(2, "f")), np.ones(2), atol=0)


# -- decorators above each other, in the orders in which tests of version 5 to 7 have them --------


@testing.parameterize(*testing.product({"shape": [(3, 2), ()], "dtype,near": [("f", 1e-4)]}))
@testing.fix_random()
@testing.inject_backend_tests(None, [{}, {"use_cuda": True}, {"use_ideep": "always"}])
class TestParameterizedAndInjected(testing.FunctionTestCase):
    dodge_nondifferentiable = True

    def setUp(self):
        self.check_forward_options = {"atol": self.near, "rtol": self.near}
        self.check_backward_options = {"atol": 1e-3, "rtol": 1e-3}
        self.check_double_backward_options = {"atol": 1e-2, "rtol": 1e-2}

    def generate_inputs(self):
        return (np.random.uniform(-1, 1, self.shape).astype(self.dtype),)

    def forward(self, inputs, device):
        assert self.backend_config is None or self.backend_config.device == device
        return (F.relu(inputs[0]) ** 2,)

    def forward_expected(self, inputs):
        return (np.maximum(inputs[0], 0) ** 2,)

    def check_forward_outputs(self, outputs, expected_outputs):
        super().check_forward_outputs(outputs, expected_outputs)
        assert (outputs[0].array >= 0).all()


@testing.inject_backend_tests(None, [{}])
@testing.parameterize({"n": 1}, {"n": 2})
@testing.parameterize_pytest("m", [3, 4])
class TestInjectedAboveParameters(unittest.TestCase):
    def test_it(self, backend_config):
        assert self.n in (1, 2) and self.m in (3, 4) and self.backend_config is backend_config


@testing.unary_math_function_unittest(
    F.sqrt,
    make_data=lambda shape, dtype: tuple(np.random.uniform(0.5, 1, (3, *shape)).astype(dtype)),
    backward_options={"atol": 1e-3, "rtol": 1e-3, "dtype": np.float64},
)
class TestSqrt(unittest.TestCase):
    pass


@testing.unary_math_function_unittest(
    F.rsqrt,
    func_expected=lambda x, dtype: (1 / np.sqrt(x)).astype(dtype),
    make_data=lambda shape, dtype: tuple(np.random.uniform(1, 2, (3, *shape)).astype(dtype)),
    backward_options={"atol": 1e-3, "rtol": 1e-3, "dtype": np.float64},
)
class TestRsqrt(unittest.TestCase):
    pass


@testing.parameterize(
    *testing.product({"shape": [(3,), ()], "is_variable": [True, False], "sample_shape": [(2,)]})
)
@testing.fix_random()
class TestGamma(testing.distribution_unittest):
    def setUp_configure(self):
        from scipy import stats

        self.dist, self.scipy_dist = chainer.distributions.Gamma, stats.gamma
        self.test_targets = {"batch_shape", "cdf", "entropy", "icdf", "log_prob", "mean"}
        self.test_targets |= {"sample", "stddev", "support", "survival", "variance"}
        k, theta = np.random.uniform(0.5, 3, (2, *self.shape)).astype(np.float32)
        self.params = {"k": np.asarray(k), "theta": np.asarray(theta)}
        self.scipy_params = {"a": k, "scale": theta}
        self.support = "positive"

    def sample_for_test(self):
        size = self.sample_shape + self.shape
        return np.random.gamma(2.0, size=size).astype(np.float32)


class TestNormals(testing.distribution_unittest):
    scipy_onebyone = True
    event_shape = (3,)
    shape = (2,)
    sample_shape = (4,)

    def setUp_configure(self):
        from scipy import stats

        np.random.seed(0)
        self.dist = chainer.distributions.MultivariateNormal
        self.scipy_dist = stats.multivariate_normal
        self.test_targets = {"batch_shape", "event_shape", "log_prob", "entropy", "sample"}
        tril = np.tril(np.random.uniform(0.5, 1, (2, 3, 3))).astype(np.float32)
        self.params = {"loc": np.ones((2, 3), np.float32), "scale_tril": tril}
        self.scipy_params = {"mean": np.ones((2, 3)), "cov": tril @ tril.swapaxes(1, 2)}

    def sample_for_test(self):
        return np.random.normal(size=(4, 2, 3)).astype(np.float32)


def test_cases_give_way_to_those_that_they_become():
    names = [name for name in globals() if name.startswith("TestInjectedAboveParameters_")]
    ends = [(i, j) for i in (0, 1) for j in (0, 1)]
    assert sorted(names) == [f"TestInjectedAboveParameters_param_{i}_param_{j}" for i, j in ends]


def test_wrong_distributions_are_found():
    class Wrong(TestNormals):
        def setUp_configure(self):
            super().setUp_configure()
            self.scipy_params["cov"] = 2 * self.scipy_params["cov"]

    class Unknown(TestNormals):
        def setUp_configure(self):
            self.test_targets = {"log_porb"}

    assert len(run(Wrong).failures) == 3
    assert all("log_porb" in message for _, message in run(Unknown).errors)
