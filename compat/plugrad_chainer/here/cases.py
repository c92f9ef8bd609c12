"""Test cases that prove a function or a link from what a subclass says of it.

`FunctionTestCase`, `LinkTestCase` and `LinkInitializersTestCase` as in version 7, and the
configurations of backends that their tests are injected with.
"""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from plugrad_chainer.here.parameterized import Cases

import core
from core import Parameter, Variable, initializers
from core.compat import cuda
from core.testing import assert_allclose, gradient_check

_SETTINGS = ("use_cudnn", "cudnn_deterministic", "autotune", "cudnn_fast_batch_normalization")


class FunctionTestError(AssertionError):
    """A function that is not as its test says."""


class LinkTestError(AssertionError):
    """A link that is not as its test says."""


class BackendConfig:
    """Where a test runs: `use_cuda`, `cuda_device`, and settings of the configuration.

    `with` it, the settings are in force, and new arrays are made there. `use_ideep` and
    `use_chainerx` make the test be skipped.
    """

    _defaults = {
        "use_cuda": False,
        "cuda_device": None,
        "use_ideep": "never",
        "use_chainerx": False,
        "chainerx_device": None,
        "use_cudnn": "never",
        "cudnn_deterministic": False,
        "autotune": False,
        "cudnn_fast_batch_normalization": False,
    }

    def __init__(self, params: dict[str, Any]) -> None:
        unknown = sorted(set(params) - set(self._defaults))
        if unknown:
            raise ValueError(f"BackendConfig: unknown {', '.join(unknown)}")
        self.__dict__.update(self._defaults)
        self.__dict__.update(params)
        self._given = dict(params)
        self._open: list[contextlib.ExitStack] = []

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"BackendConfig has no attribute {name!r}")

    @property
    def device(self) -> Any:
        """The device."""
        return core.get_device(int(self.cuda_device or 0) if self.use_cuda else "numpy")

    @property
    def xp(self) -> Any:
        """The namespace of its backend."""
        return self.device.xp

    def get_array(self, array: Any) -> Any:
        """An array there, or None; of a list or tuple, one of them."""
        if isinstance(array, (list, tuple)):
            return type(array)(map(self.get_array, array))
        return None if array is None else self.device.send(array)

    def skip_if_absent(self) -> None:
        """Skip the test whose backend is not here."""
        if self.use_chainerx or self.use_ideep != "never":
            raise unittest.SkipTest("needs ChainerX or iDeep, which plugrad has not")
        if self.use_cuda and not cuda.available:
            raise unittest.SkipTest("needs a GPU and CuPy")

    def __enter__(self) -> BackendConfig:
        stack = contextlib.ExitStack()
        for name in _SETTINGS:
            if name in self._given:
                stack.enter_context(core.using_config(name, self._given[name]))
        stack.enter_context(core.using_device(self.device))
        self._open.append(stack)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)

    def __repr__(self) -> str:
        return f"<BackendConfig {self._given}>"


def inject_backend_tests(
    method_names: Sequence[str] | None, params: Sequence[dict[str, Any]]
) -> Callable[[Any], Any]:
    """Run test methods once for each configuration, which they get as `backend_config`.

    Decorated several times, they get one of each decorator, that of the innermost first.

    Args:
        method_names: Names of the methods; None takes all whose name begins with `test`.
        params: Dicts of settings of a `BackendConfig`.
    """

    def decorate(case: Any) -> Any:
        if isinstance(case, Cases):
            return case.each(decorate)
        every = [n for n in dir(case) if n.startswith("test") and callable(getattr(case, n))]
        for name in every:
            method = getattr(case, name)
            written = getattr(method, "written_as", name)  # before another decorator
            if method_names is not None and written not in method_names:
                continue
            for i, settings in enumerate(params):
                made: Any = _with_config(method, BackendConfig(settings))
                made.__name__, made.written_as = f"{name}_{i}", written
                setattr(case, made.__name__, made)
            setattr(case, name, None)
        return case

    return decorate


def _with_config(method: Callable[..., Any], config: BackendConfig) -> Callable[..., Any]:
    def injected(self: Any, *others: BackendConfig) -> None:
        config.skip_if_absent()
        self.backend_config = config
        method(self, config, *others)

    return injected


class _Case(unittest.TestCase):
    """What cases of functions and of links have in common."""

    check_forward_options: dict[str, Any] = {}
    check_backward_options: dict[str, Any] = {}
    check_double_backward_options: dict[str, Any] = {}
    skip_forward_test = False
    skip_backward_test = False
    skip_double_backward_test = False
    dodge_nondifferentiable = False
    contiguous: str | None = None
    backend_config: BackendConfig | None = None
    test_name: str | None = None
    numerical_grad_dtype: Any = np.float64
    _error: type[Exception] = FunctionTestError

    def setUp(self) -> None:
        """Give each test options of its own, which it may change."""
        super().setUp()
        for name in ("forward", "backward", "double_backward"):
            option = f"check_{name}_options"
            setattr(self, option, dict(getattr(self, option)))

    def before_test(self, test_name: str) -> None:
        """Called before each test; the name is in `test_name` as well."""

    def _begin(self, test_name: str) -> None:
        self.test_name = test_name
        self.before_test(test_name)

    def generate_inputs(self) -> tuple[Any, ...]:
        """The input arrays."""
        raise NotImplementedError(f"{type(self).__name__}: write generate_inputs().")

    def generate_grad_outputs(self, outputs_template: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients of the outputs, like the arrays given."""
        return tuple(map(_random_like, outputs_template))

    def generate_grad_grad_inputs(self, inputs_template: Sequence[Any]) -> tuple[Any, ...]:
        """Gradients of the gradients of the inputs, like the arrays given."""
        return tuple(map(_random_like, inputs_template))

    def _fail(self, message: str) -> None:
        raise self._error(message)

    def _inputs(self, config: BackendConfig) -> list[Any]:
        return [config.get_array(x) for x in self._tuple(self.generate_inputs(), "generate_inputs")]

    def _tuple(self, values: Any, what: str) -> tuple[Any, ...]:
        if not isinstance(values, tuple):
            self._fail(f"{what} must return a tuple, got {type(values).__name__}")
        return tuple(values)

    def _compare(self, outputs: Sequence[Any], expected: Sequence[Any]) -> None:
        if len(outputs) != len(expected):
            self._fail(f"{len(outputs)} outputs, where {len(expected)} are expected")
        for i, (y, right) in enumerate(zip(outputs, expected, strict=True)):
            array = core.as_array(y)
            if array.shape != right.shape or array.dtype != right.dtype:
                self._fail(
                    f"output {i} is {array.dtype}{array.shape}, expected {right.dtype}{right.shape}"
                )
            try:
                assert_allclose(array, right, **self.check_forward_options)
            except AssertionError as error:
                raise self._error(f"output {i} is wrong: {error}") from error

    def check_forward_outputs(
        self, outputs: Sequence[Any], expected_outputs: Sequence[Any]
    ) -> None:
        """Compare the outputs with those expected."""
        self._compare(outputs, expected_outputs)

    def _checked(self, check: Callable[..., None], *args: Any, **options: Any) -> None:
        if self.numerical_grad_dtype is not None:
            options.setdefault("dtype", self.numerical_grad_dtype)
        detect = self.dodge_nondifferentiable
        for _ in range(20 if detect else 1):
            try:
                check(*args, **options, **({"detect_nondifferentiable": True} if detect else {}))
            except gradient_check.NondifferentiableError:
                continue
            except AssertionError as error:
                raise self._error(str(error)) from error
            return
        self._fail("no point was found where the function is differentiable")


def _random_like(template: Any) -> Any:
    drawn = np.random.uniform(-1, 1, template.shape)
    return drawn.astype(template.dtype)


def _config(given: BackendConfig | None) -> BackendConfig:
    return BackendConfig({}) if given is None else given


class FunctionTestBase(_Case):
    """Base of cases that prove a function: see `FunctionTestCase`."""

    def forward(self, inputs: tuple[Any, ...], device: Any) -> tuple[Any, ...]:
        """The outputs, Variables, of the function on Variables."""
        raise NotImplementedError(f"{type(self).__name__}: write forward().")

    def forward_expected(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs that are right, from arrays of NumPy."""
        raise NotImplementedError(f"{type(self).__name__}: write forward_expected().")

    def run_test_forward(self, backend_config: BackendConfig | None) -> None:
        """Compare the outputs with those expected."""
        if self.skip_forward_test:
            raise unittest.SkipTest("skip_forward_test is set")
        config = _config(backend_config)
        self._begin("test_forward")
        arrays = self._tuple(self.generate_inputs(), "generate_inputs")
        right = self._tuple(self.forward_expected(arrays), "forward_expected")
        with config:
            xs = tuple([Variable(config.get_array(x), requires_grad=_real(x)) for x in arrays])
            outputs = self._tuple(self.forward(xs, config.device), "forward")
            self.check_forward_outputs(outputs, right)

    def run_test_backward(self, backend_config: BackendConfig | None) -> None:
        """Compare the gradients with differences."""
        if self.skip_backward_test:
            raise unittest.SkipTest("skip_backward_test is set")
        self._gradients(_config(backend_config), "test_backward")

    def run_test_double_backward(self, backend_config: BackendConfig | None) -> None:
        """Compare the gradients of the gradients with differences."""
        if self.skip_double_backward_test:
            raise unittest.SkipTest("skip_double_backward_test is set")
        self._gradients(_config(backend_config), "test_double_backward")

    def _gradients(self, config: BackendConfig, name: str) -> None:
        self._begin(name)
        with config:
            xs = self._inputs(config)

            def function(*args: Any) -> Any:
                return self.forward(args, config.device)

            with core.no_backprop_mode():
                ys = function(*[Variable(x) for x in xs])
            gys = self.generate_grad_outputs(tuple([core.as_array(y) for y in ys]))
            gys = tuple(map(config.get_array, gys))
            if name == "test_backward":
                options = self.check_backward_options
                self._checked(gradient_check.check_backward, function, tuple(xs), gys, **options)
                return
            ggxs = self.generate_grad_grad_inputs(tuple(xs))
            ggxs = tuple([config.get_array(g) for x, g in zip(xs, ggxs, strict=True) if _real(x)])
            options = self.check_double_backward_options
            check = gradient_check.check_double_backward
            self._checked(check, function, tuple(xs), gys, ggxs, **options)


class FunctionTestCase(FunctionTestBase):
    """Proves a function: a subclass gives inputs, the function, and what is right.

    It writes `generate_inputs()`, `forward(inputs, device)` and `forward_expected(inputs)`, all of
    which give tuples. Forward, backward and double backward are tested, unless `skip_forward_test`
    and the like say otherwise; `check_forward_options` and the like are handed to the checks.
    """

    def test_forward(self, backend_config: BackendConfig | None = None) -> None:
        """The outputs are those expected."""
        self.run_test_forward(backend_config)

    def test_backward(self, backend_config: BackendConfig | None = None) -> None:
        """The gradients are those of differences."""
        self.run_test_backward(backend_config)

    def test_double_backward(self, backend_config: BackendConfig | None = None) -> None:
        """The gradients of the gradients are those of differences."""
        self.run_test_double_backward(backend_config)


def _real(x: Any) -> bool:
    return bool(x.dtype.kind == "f")


class InitializerArgument:
    """An initializer as it is given to a link, and one that is expected to do the same."""

    def __init__(self, argument_value: Any, expected_initializer: Any) -> None:
        self.argument_value = argument_value
        self.expected_initializer = expected_initializer


class _LinkCase(_Case):
    param_names: tuple[str, ...] = ()
    _error = LinkTestError

    def generate_params(self) -> tuple[Any, ...]:
        """Initializers, or arrays, of the parameters in `param_names`."""
        raise NotImplementedError(f"{type(self).__name__}: write generate_params().")

    def create_link(self, initializers: tuple[Any, ...]) -> Any:
        """The link, with these initializers."""
        raise NotImplementedError(f"{type(self).__name__}: write create_link().")

    def forward(self, link: Any, inputs: tuple[Any, ...], device: Any) -> tuple[Any, ...]:
        """The outputs of the link: by default those of calling it."""
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def _link(self, config: BackendConfig, params: tuple[Any, ...] | None = None) -> Any:
        if params is None:
            made = self.generate_params()
            params = tuple(made) if isinstance(made, list) else self._tuple(made, "generate_params")
        link = self.create_link(params)
        if not isinstance(link, core.Link):
            self._fail(f"create_link must return a link, got {type(link).__name__}")
        link.to_device(config.device)
        return link

    def _params(self, link: Any) -> list[Parameter]:
        found = [getattr(link, name) for name in self.param_names]
        for name, parameter in zip(self.param_names, found, strict=True):
            if not isinstance(parameter, Parameter):
                self._fail(f"the link has no parameter {name!r}")
        return found


class LinkTestCase(_LinkCase):
    """Proves a link: a subclass gives parameters, inputs, the link, and what is right.

    It names the parameters in `param_names`, and writes `generate_params()`,
    `create_link(initializers)`, `generate_inputs()` and `forward_expected(link, inputs)`.
    """

    def forward_expected(self, link: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The outputs that are right, from arrays of NumPy."""
        raise NotImplementedError(f"{type(self).__name__}: write forward_expected().")

    def test_forward(self, backend_config: BackendConfig | None = None) -> None:
        """The outputs are those expected."""
        if self.skip_forward_test:
            raise unittest.SkipTest("skip_forward_test is set")
        config = _config(backend_config)
        self._begin("test_forward")
        with config:
            arrays = self._tuple(self.generate_inputs(), "generate_inputs")
            link = self._link(config)
            xs = tuple([Variable(config.get_array(x), requires_grad=_real(x)) for x in arrays])
            outputs = self._tuple(self.forward(link, xs, config.device), "forward")
            link.to_cpu()
            right = self._tuple(self.forward_expected(link, arrays), "forward_expected")
            self.check_forward_outputs(outputs, right)

    def test_backward(self, backend_config: BackendConfig | None = None) -> None:
        """The gradients of inputs and parameters are those of differences."""
        if self.skip_backward_test:
            raise unittest.SkipTest("skip_backward_test is set")
        config = _config(backend_config)
        self._begin("test_backward")
        with config:
            xs, link = self._inputs(config), self._link(config)
            with core.no_backprop_mode():
                ys = self.forward(link, tuple([Variable(x) for x in xs]), config.device)
            params = self._params(link)
            gys = self.generate_grad_outputs(tuple([core.as_array(y) for y in ys]))
            gys = tuple(map(config.get_array, gys))

            def function(*args: Any) -> Any:
                given = args[: len(xs)]
                return self.forward(link, given, config.device)

            options = self.check_backward_options
            check = gradient_check.check_backward
            self._checked(check, function, tuple(xs), gys, tuple(params), **options)


class LinkInitializersTestCase(_LinkCase):
    """Proves that a link fills its parameters by the initializers that it is given.

    A subclass names the parameters in `param_names`, and writes `generate_params()`,
    `create_link(initializers)`, `generate_inputs()` and `get_initializers()`: for each parameter
    the initializers that are to be tried, with `InitializerArgument` for those that stand for
    others.
    """

    def get_initializers(self) -> Sequence[Sequence[Any]]:
        """For each parameter, initializers to try."""
        raise NotImplementedError(f"{type(self).__name__}: write get_initializers().")

    def test_initializers(self, backend_config: BackendConfig | None = None) -> None:
        """Each parameter is what its initializer makes."""
        config = _config(backend_config)
        self._begin("test_initializers")
        for i, tried in enumerate(self.get_initializers()):
            for each in tried:
                self._try(config, i, each)

    def _try(self, config: BackendConfig, i: int, each: Any) -> None:
        given, right = each, each
        if isinstance(each, InitializerArgument):
            given, right = each.argument_value, each.expected_initializer
        params = list(self._tuple(self.generate_params(), "generate_params"))
        params[i] = given
        with config:
            state = np.random.get_state()
            link = self._link(config, tuple(params))
            xs = tuple([Variable(x) for x in self._inputs(config)])
            self.forward(link, xs, config.device)
            parameter = self._params(link)[i]
            name = self.param_names[i]
            if isinstance(right, initializers.Initializer) or callable(right):
                self._alike(parameter, right, state)
                return
            expected = np.broadcast_to(np.asarray(right, parameter.dtype), parameter.shape)
            if not np.array_equal(cuda.to_cpu(parameter.array), expected):
                self._fail(f"{name} is not what it is initialized with")

    def _alike(self, parameter: Parameter, initializer: Any, state: Any) -> None:
        """Draws are compared by mean and deviation, for others may have been drawn between."""
        array = cuda.to_cpu(parameter.array)
        kept = np.random.get_state()
        np.random.set_state(state)
        wanted = initializers.generate_array(initializer, array.shape, np, dtype=array.dtype)
        np.random.set_state(kept)
        spread = max(float(wanted.std()), 1e-6)
        if abs(float(array.mean() - wanted.mean())) > spread or array.std() > 4 * spread:
            self._fail("a parameter is not as its initializer makes it")
