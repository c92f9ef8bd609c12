"""Which of the public names of Chainer's versions there are, and what is said of the others."""

import importlib
import re
from functools import cache
from pathlib import Path

import chainer
import chainer.functions as F
import numpy as np
import pytest
from plugrad_chainer import gone, version_1
from plugrad_chainer.facts import VERSIONS, modules, names_of

from core.errors import BackendUnavailable

LEAST = {"1.24.0": 1191, "3.0.0": 1228, "5.4.0": 1339, "7.8.1": 1910, "others": 187}
"""Names that are found at least, of 1268, 1316, 1492, 2071 and 215."""

PACKAGES = ["functions", "links", "optimizers", "training", "training.extensions", "datasets"]


@cache
def refused():
    """What is said of each name of all versions that is not found: (path, name) -> the words."""
    said = {}
    for path, names in modules().items():
        try:
            module = importlib.import_module(path)
        except ImportError as error:
            said.update({(path, name): str(error) for name in names})
            continue
        for name in names:
            try:
                getattr(module, name)
            except (BackendUnavailable, gone.Gone):  # which say what to do, too
                pass
            except (AttributeError, ImportError) as error:
                said[path, name] = str(error)
    return said


def test_the_names_of_each_version():
    for version in VERSIONS:
        every = [(module, name) for module, names in names_of(version).items() for name in names]
        found = [pair for pair in every if pair not in refused()]
        print(f"Chainer {version}: {len(found)} of {len(every)} names")
        assert len(found) >= LEAST[version]


def test_every_name_that_is_not_found_is_answered():
    for (path, name), said in refused().items():
        assert said.partition(" is not in plugrad. ")[2], f"{path}.{name}: {said}"


@pytest.mark.parametrize("version", ["3.0.0", "7.8.1"])
@pytest.mark.parametrize("package", PACKAGES)
def test_all_that_packages_give_is_there(version, package):
    """What is left out is DALI's, and says so."""
    path = f"chainer.{package}"
    absent = {name for name in names_of(version)[path] if (path, name) in refused()}
    assert absent <= {"DaliIterator"}


def test_one_thing_has_one_identity():
    import chainer.links as L
    from chainer.functions.activation.relu import ReLU, relu
    from chainer.functions.loss.vae import gaussian_kl_divergence
    from chainer.links.connection.linear import Linear
    from chainer.links.rnn.lstm import LSTM
    from chainer.optimizers.adam import AdamRule

    assert relu is F.relu and Linear is L.Linear and LSTM is L.LSTM
    assert gaussian_kl_divergence is F.gaussian_kl_divergence
    assert issubclass(ReLU, chainer.FunctionNode)
    assert isinstance(chainer.optimizers.Adam().setup(Linear(2, 1)).target.W.update_rule, AdamRule)
    assert chainer.variable.Parameter is chainer.Parameter
    assert chainer.cuda.get_array_module is chainer.backends.cuda.get_array_module
    assert callable(chainer.utils.experimental)
    assert chainer.links.linear.Linear is L.Linear
    assert chainer.functions.vae.gaussian_kl_divergence is gaussian_kl_divergence


def test_modules_of_version_1_0_have_the_names_of_functions():
    import chainer.functions.basic_math
    import chainer.functions.pooling_2d
    import chainer.functions.relu
    from chainer.functions import create_huffman_tree
    from chainer.functions.linear import Linear
    from chainer.functions.nonparameterized_convolution_2d import NonparameterizedConvolution2D
    from chainer.functions.relu import ReLU, relu

    assert F.relu is relu is chainer.functions.relu and Linear is chainer.links.Linear
    assert isinstance(relu(chainer.Variable(IMAGE)).creator, ReLU)
    assert chainer.functions.pooling_2d.max_pooling_2d is F.max_pooling_2d
    assert chainer.functions.basic_math.neg(3) == -3
    assert create_huffman_tree({0: 1, 1: 2}) == (0, 1)
    convolved = NonparameterizedConvolution2D(2, 1)(IMAGE, np.ones((1, 3, 2, 2), "f"))
    right = F.convolution_2d(IMAGE, np.ones((1, 3, 2, 2), "f"), stride=2, pad=1)
    np.testing.assert_array_equal(convolved.array, right.array)
    with pytest.raises(ImportError, match="chainer.cudnn is not in plugrad. Functions call cuDNN"):
        importlib.import_module("chainer.cudnn")


def test_a_slip_is_told_in_an_import_too():
    with pytest.raises(ImportError, match="Did you mean 'relu'"):
        from chainer.functions import rleu  # noqa: F401
    with pytest.raises(ImportError, match="is not in plugrad. Use chainer.iterators.Multiprocess"):
        from chainer.iterators import DaliIterator  # noqa: F401
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("chainer.no_such_module")


def test_settings_are_read_where_they_are_set():

    import core

    chainer.disable_experimental_feature_warning = True
    try:
        assert core.disable_experimental_feature_warning is True
    finally:
        chainer.disable_experimental_feature_warning = False


def test_chainerx_is_not_available():
    import chainerx

    assert chainerx.is_available() is False
    assert not isinstance(np.zeros(2), chainerx.ndarray)
    with pytest.raises(RuntimeError, match="chainerx is not available"):
        chainerx.array([1, 2])


def test_communicators_are_those_of_plugrad_or_refused():
    if importlib.util.find_spec("core.communicators") is not None:
        import chainermn
        import chainermn.links
        from chainermn import create_communicator

        assert create_communicator("local").size == 1
        assert len(chainermn.datasets.create_empty_dataset(range(3))) == 3
        assert chainermn.functions.send.__name__ == "send"
        assert chainermn.links.MultiNodeChainList is chainermn.MultiNodeChainList
        from chainermn.optimizers import create_multi_node_optimizer as create

        assert create is chainermn.create_multi_node_optimizer
        with pytest.raises(AttributeError, match="plugrad has none of it"):
            chainermn.no_such_name  # noqa: B018
        return
    with pytest.raises(ImportError, match=r"core\.communicators.*MultiprocessParallelUpdater"):
        importlib.import_module("chainermn")


def test_devices_of_version_7():

    for spec in ("@numpy", "-1", -1, "@intel64", np, chainer.get_device("@numpy")):
        device = chainer.get_device(spec)
        assert isinstance(device, chainer.backend.CpuDevice) and device.xp is not None
        assert not isinstance(device, chainer.backend.GpuDevice)
    assert chainer.backend.CpuDevice() == chainer.get_device("@numpy")
    with chainer.using_device("@numpy"):
        assert chainer.backend.get_array_module(np.zeros(2)) is np
    with pytest.raises(RuntimeError, match="@numpy"):
        chainer.get_device("native:0")
    assert chainer.backends.intel64.is_ideep_available() is False


def test_stubs_name_modules_that_there_are():
    """Checkers and editors know the modules by stubs, for at run time they are made."""
    root = Path(chainer.__file__).parent
    stubs = sorted(root.rglob("*.pyi"))
    assert len(stubs) > 15
    for stub in stubs:
        path = ".".join(stub.relative_to(root.parent).with_suffix("").parts)
        path = path.removesuffix(".__init__")
        importlib.import_module(path)
        for home in re.findall(r"(?m)^from (\S+) import \*", stub.read_text()):
            names = [n for n in dir(importlib.import_module(home)) if n[0].isupper()]
            assert all(hasattr(importlib.import_module(path), name) for name in names)


IMAGE = np.random.RandomState(0).rand(2, 3, 8, 8).astype("f")
FLAT = IMAGE.reshape(2, -1)


@pytest.mark.parametrize(
    ("path", "settings", "inputs", "function"),
    [
        ("array.flatten.Flatten", (), [IMAGE], F.flatten),
        ("array.hstack.Hstack", (), [FLAT, FLAT], lambda *xs: F.hstack(xs)),
        ("array.vstack.Vstack", (), [FLAT, FLAT], lambda *xs: F.vstack(xs)),
        ("array.dstack.Dstack", (), [FLAT, FLAT], lambda *xs: F.dstack(xs)),
        ("array.moveaxis.Moveaxis", (1, 3), [IMAGE], lambda x: F.moveaxis(x, 1, 3)),
        ("array.repeat.Repeat", (2, 1), [IMAGE], lambda x: F.repeat(x, 2, 1)),
        ("array.separate.Separate", (1,), [IMAGE], lambda x: F.separate(x, 1)),
        ("array.diagonal.Diagonal", (0, 2, 3), [IMAGE], lambda x: F.diagonal(x, 0, 2, 3)),
        ("math.basic_math.Sub", (), [FLAT, 2 * FLAT], lambda x, y: x - y),
        ("math.basic_math.Div", (), [FLAT, 2 + FLAT], lambda x, y: x / y),
        ("math.basic_math.PowVarConst", (2.0,), [FLAT], lambda x: x**2.0),
        ("math.basic_math.SubFromConstant", (2.0,), [FLAT], lambda x: 2.0 - x),
        ("math.basic_math.MultiAdd", (), [FLAT, FLAT, FLAT], lambda *xs: F.add(*xs)),
        ("math.basic_math.rsub", None, [FLAT, 2.0], lambda x, y: y - x),
        (
            "math.matmul.BatchMatMul",
            (True,),
            [IMAGE[:, 0], IMAGE[:, 1]],
            lambda a, b: F.batch_matmul(a, b, True),
        ),
        (
            "pooling.spatial_pyramid_pooling_2d.SpatialPyramidPooling2D",
            (IMAGE.shape, 2, F.MaxPooling2D, False),
            [IMAGE],
            lambda x: F.spatial_pyramid_pooling_2d(x, 2, F.MaxPooling2D),
        ),
        (
            "connection.deconvolution_2d.Deconvolution2DFunction",
            (2, 1),
            [IMAGE, np.ones((3, 2, 3, 3), "f")],
            lambda x, W: F.deconvolution_2d(x, W, stride=2, pad=1),
        ),
        (
            "normalization.batch_normalization.BatchNormalizationFunction",
            (2e-5, None, None, True),
            [FLAT, np.ones(192, "f"), np.zeros(192, "f")],
            F.batch_normalization,
        ),
        (
            "normalization.batch_normalization.BatchNormalizationFunction",
            (2e-5, None, None, False),
            [FLAT, *np.full((4, 192), 0.5, "f")],
            F.fixed_batch_normalization,
        ),
        (
            "connection.dilated_convolution_2d.DilatedConvolution2DFunction",
            (2, 1, 2, True, True) if not version_1() else (2, 1, 2, True, True, True),
            [IMAGE, np.ones((2, 3, 2, 2), "f")],
            lambda x, W: F.dilated_convolution_2d(x, W, None, 2, 1, 2, cover_all=True),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_classes_of_functions_compute_what_the_functions_do(path, settings, inputs, function):
    module, _, name = f"chainer.functions.{path}".rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    right = function(chainer.Variable(inputs[0]), *inputs[1:])
    found = cls(*inputs) if settings is None else cls(*settings)(*inputs)
    many = isinstance(right, tuple)
    for y, z in zip(found if many else [found], right if many else [right], strict=True):
        np.testing.assert_array_equal(chainer.as_array(y), chainer.as_array(z))


def test_operators_are_nodes_of_the_classes_that_chainer_had():
    from chainer.functions.math import basic_math

    x = chainer.Variable(FLAT)
    for y, name in [(x - x, "Sub"), (x * 2, "MulConstant"), (-x, "Neg"), (x**x, "PowVarVar")]:
        assert isinstance(y.creator, getattr(basic_math, name))


def test_settings_of_a_class_are_checked():
    from chainer.functions.math.matmul import BatchMatMul

    with pytest.raises(TypeError, match="transc"):
        BatchMatMul(transc=True)


def test_sequences_in_order_of_length():
    from chainer.links.connection.n_step_rnn import argsort_list_descent, permutate_list

    words = ["ab", "c", "def"]
    order = argsort_list_descent(words)
    assert permutate_list(words, order, inv=False) == ["def", "ab", "c"]
    assert permutate_list(permutate_list(words, order, inv=False), order, inv=True) == words


def test_names_with_an_underscore_that_programs_took():
    from chainer.dataset.convert import _concat_arrays, _concat_arrays_with_padding
    from chainer.datasets.image_dataset import _postprocess_image
    from chainer.functions.activation.lstm import _extract_gates
    from chainer.functions.pooling.roi_pooling_2d import _roi_pooling_slice
    from chainer.initializers import LeCunNormal, _get_initializer
    from chainer.links.model.vision.resnet import _global_average_pooling_2d

    assert isinstance(_get_initializer(None), LeCunNormal) and _get_initializer(3).fill_value == 3
    assert _get_initializer(3, scale=2).fill_value == 6
    for given in (None, chainer.initializers.Normal(0.1)):
        state, drawn = np.random.get_state(), []
        for scale in (1, 3):
            np.random.set_state(state)
            weight = chainer.Parameter(_get_initializer(given, scale=scale), (4, 5)).array
            drawn.append(weight / scale)
        np.testing.assert_allclose(*drawn, rtol=1e-6)
    assert _concat_arrays([1, 2], None).tolist() == [1, 2]
    ragged = np.array([1, 2]), np.array([3])
    assert _concat_arrays_with_padding(ragged, -1).tolist() == [[1, 2], [3, -1]]
    x = chainer.Variable(np.arange(16.0).reshape(2, 8))
    assert [gate.array[0].tolist() for gate in _extract_gates(x)] == [[i, i + 4] for i in range(4)]
    assert _roi_pooling_slice(1, 2.5, 6, 2) == (slice(4, 6), 2)  # of 2 to 5, and the image ends
    assert _postprocess_image(IMAGE[0, 0]).shape == (1, *IMAGE.shape[2:])
    means = _global_average_pooling_2d(IMAGE).array
    np.testing.assert_allclose(means, IMAGE.mean((2, 3)), rtol=1e-6)
    assert chainer.optimizer._sum_sqnorm([np.array([3.0]), np.array([4.0])]) == 25
    assert chainer.cuda._get_device(IMAGE) == chainer.cuda.DummyDevice
    assert chainer._version.__version__ == chainer.__version__


def test_a_pooling_of_ones_own():
    from chainer.functions.pooling import pooling_2d
    from chainer.utils import conv, type_check

    class Sums(pooling_2d.Pooling2D):
        def check_type_forward(self, in_types):
            super().check_type_forward(in_types)
            type_check._argname(in_types, ("image",))

        def forward_cpu(self, inputs):
            columns = conv.im2col_cpu(
                inputs[0], self.kh, self.kw, self.sy, self.sx, self.ph, self.pw, 0, self.cover_all
            )
            return (columns.sum((2, 3)),)

    (y,) = Sums((2, 3), stride=2, pad=(0, 1), cover_all=False).apply((IMAGE,))
    expected = F.average_pooling_2d(IMAGE, (2, 3), 2, (0, 1)).array * 6
    np.testing.assert_allclose(y.array, expected, rtol=1e-6)
    with pytest.raises(type_check.InvalidType, match="ndim"):
        Sums(2).apply((IMAGE[0],))


def test_helpers_of_functions():
    from chainer.functions.connection.linear import _as_mat
    from chainer.functions.rnn.n_step_lstm import _stack_weight
    from chainer.links.connection.convolution_2d import _pair
    from chainer.links.model.vision.vgg import _max_pooling_2d

    assert _pair(3) == (3, 3) and _pair((1, 2)) == (1, 2)
    assert _as_mat(IMAGE).shape == (len(IMAGE), IMAGE[0].size)
    assert _max_pooling_2d(np.zeros((1, 1, 4, 4), "f")).shape == (1, 1, 2, 2)
    weights = [np.full((2, 1), gate, "f") for gate in range(3)]
    assert _stack_weight(weights).array.ravel().tolist() == [0, 1, 2, 0, 1, 2]


def test_arguments_of_link_hooks_by_their_names():
    from chainer.link_hook import _ForwardPostprocessCallbackArgs as After
    from chainer.link_hook import _ForwardPreprocessCallbackArgs as Before

    class Seen(chainer.LinkHook):
        def forward_preprocess(self, args):
            assert isinstance(args, Before) and chainer._get_link_hooks() == {self.name: self}

        def forward_postprocess(self, args):
            assert isinstance(args, After) and args.out.shape == (1, 3)

    with Seen():
        chainer.links.Linear(2, 3)(np.ones((1, 2), "f"))
    assert not chainer._get_link_hooks()


def test_hooks_are_added_to_those_in_force():
    for hooks, hook in (
        (chainer.get_function_hooks(), chainer.function_hooks.TimerHook()),
        (chainer._get_link_hooks(), chainer.link_hooks.TimerHook()),
    ):
        hooks["timer"] = hook
        chainer.links.Linear(2, 3)(np.ones((1, 2), "f"))
        del hooks["timer"]
        assert hook.call_history and not hooks and repr(hooks) == "{}"
        with hook:
            assert list(hooks.items()) == [("TimerHook", hook)]
        with pytest.raises(KeyError):
            del hooks["timer"]


def test_what_modules_had_imported():
    import chainer.backend
    from chainer.functions.connection.linear import type_check

    assert chainer.backend.cuda is chainer.optimizer.cuda is chainer.backends.cuda
    assert type_check is chainer.utils.type_check


def test_parts_of_updaters_over_processes():
    from chainer.training.updaters import multiprocess_parallel_updater as parts

    link = chainer.Sequential(chainer.links.Linear(2, 3), chainer.links.Linear(3, 1, nobias=True))
    link.cleargrads()
    link[0].b.grad = np.arange(3, dtype="f")
    order = [link[0].W, link[0].b, link[1].W]
    assert parts.size_num_grads(link) == (12, 3)
    np.testing.assert_array_equal(parts.gather_grads(link)[6:9], [0, 1, 2])
    values = parts.gather_params(link)
    np.testing.assert_array_equal(values, np.concatenate([p.array.ravel() for p in order]))
    parts.scatter_params(link, values * 2)
    parts.scatter_grads(link, values)
    np.testing.assert_array_equal(link[1].W.array.ravel(), 2 * values[9:])
    np.testing.assert_array_equal(link[1].W.grad.ravel(), values[9:])
    with pytest.raises(ValueError, match=r"scatter_grads: expected an array of shape \(12,\)"):
        parts.scatter_grads(link, values[1:])


def test_snapshots_by_names_with_an_underscore(tmp_path):
    from types import SimpleNamespace

    from chainer.training.extensions._snapshot import (
        _find_latest_snapshot,
        _snapshot_object,
        snapshot,
    )

    assert callable(snapshot) and _find_latest_snapshot("m_{.iteration}", tmp_path) is None
    link = chainer.links.Linear(2, 2)
    for iteration in (9, 10):
        trainer = SimpleNamespace(out=tmp_path, iteration=iteration)
        _snapshot_object(trainer, link, "m_{.iteration}", chainer.serializers.save_npz)
    assert _find_latest_snapshot("m_{.iteration}", tmp_path) == "m_10"
    again = chainer.links.Linear(2, 2)
    chainer.serializers.load_npz(tmp_path / "m_10", again)
    assert (again.W.array == link.W.array).all()
