"""The networks for images: their parameters and outputs are Chainer's, and so are their images."""

import copy
import importlib
import json
import pickle
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from data.links import vision_values as recorded
from hypothesis import given
from hypothesis import strategies as st
from references.connection import convolution

import core
import core.functions as F
import core.links as L
from core import serializers
from core.errors import CheckpointError, RemovedArgument
from core.testing import check_link
from plugins.links.model.vision import googlenet, resnet, vgg
from plugins.links.model.vision.model import VisionModel
from plugins.links.model.vision.weights import models_folder

DATA = Path(__file__).parents[1] / "data" / "links"
OUTPUTS = json.loads((DATA / "vision.json").read_text())
RANDOM = np.random.RandomState(0)
MODELS = {
    "VGG16Layers": (lambda: L.VGG16Layers(None), 224),
    "VGG19Layers": (lambda: L.VGG19Layers(None), 224),
    "GoogLeNet": (lambda: L.GoogLeNet(None), 224),
    "ResNet50Layers": (lambda: L.ResNet50Layers(None), 64),
    "ResNet50Layers downsample_fb": (lambda: L.ResNet50Layers(None, downsample_fb=True), 64),
    "ResNet101Layers": (lambda: L.ResNet101Layers(None), 64),
    "ResNet152Layers": (lambda: L.ResNet152Layers(None), 64),
    "VGG16Layers of odd size": (lambda: L.VGG16Layers(None), 45),
    "GoogLeNet of odd size": (lambda: L.GoogLeNet(None), 101),
}
COUNTS = {
    "VGG16Layers": 138_357_544,
    "VGG19Layers": 143_667_240,
    "GoogLeNet": 13_378_280,
    "ResNet50Layers": 25_557_096,
    "ResNet101Layers": 44_549_224,
    "ResNet152Layers": 60_192_872,
}
"""Numbers of parameters; the papers count GoogLeNet without the classifiers on the way."""


def entries(model):
    saved = serializers.DictionarySerializer()
    saved.save(model)
    return {name: np.shape(value) for name, value in saved.target.items()}


def shapes_of(name):
    """Path -> shape of all that Chainer saves of a model."""
    text = (DATA / "vision.txt").read_text().split(f"[{name}]\n")[1].partition("[")[0]
    found = {}
    for line in text.splitlines():
        owner, *parts = line.split(" ")
        for part in parts:
            own, _, shape = part.partition("=")
            found[f"{owner}/{own}"] = tuple(int(n) for n in shape.split("x") if n)
    return found


def fill(model):
    for path, link in model.namedlinks():
        for name in (*link._params, *link._persistent):
            value = getattr(link, name)
            array = getattr(value, "array", value)
            if isinstance(array, np.ndarray):
                array[...] = recorded.parameter(f"{path}/{name}".strip("/"), array.shape)


def cheap(monkeypatch):
    """Let the initial values of VGG's networks, a hundred million, cost no random numbers."""
    monkeypatch.setattr(vgg.initializers, "Normal", lambda scale: 0)


DEEPEST = {"ResNet101Layers", "ResNet152Layers", "VGG19Layers"}  # more rows of the same tables


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in DEEPEST)) for n in COUNTS]
)
def test_layers_and_what_is_saved_are_chainers(name, monkeypatch):
    cheap(monkeypatch)
    model = MODELS[name][0]()
    assert model.available_layers == list(model.functions) == list(OUTPUTS[name])
    assert entries(model) == shapes_of(name)
    assert model.count_params() == COUNTS[name]


def assert_outputs_are_chainers(name, rtol=5e-4):
    make, size = MODELS[name]
    model, expected = make(), OUTPUTS[name]
    fill(model)
    x = (50 * recorded.values("x", (1, 3, size, size))).astype("f")
    with core.using_config("train", False), core.no_backprop_mode():
        y = model(x, layers=list(expected))
    assert list(y) == list(expected)
    for layer, (shape, numbers) in expected.items():
        assert list(y[layer].shape) == shape
        found, scale = recorded.summary(y[layer].array), numbers[1]
        np.testing.assert_allclose(found, numbers, rtol=rtol, atol=rtol * scale, err_msg=layer)


LARGE = ("VGG", "ResNet101", "ResNet152")


@pytest.mark.parametrize("name", [n for n in MODELS if not n.startswith(LARGE)])
def test_outputs_of_every_layer_are_chainers(name):
    assert_outputs_are_chainers(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in MODELS if n.startswith(LARGE)])
def test_outputs_of_every_layer_of_a_large_network_are_chainers(name, monkeypatch):
    cheap(monkeypatch)
    assert_outputs_are_chainers(name)


def test_random_initial_values():
    model = L.ResNet50Layers(None)
    assert abs(model.res5.b1.conv2.W.array.std() * np.sqrt(512 * 9 / 2) - 1) < 0.01
    assert abs(model.fc6.W.array.std() * np.sqrt(2048) - 1) < 0.01
    model = L.GoogLeNet(None)
    assert abs(model.inc5b.conv3.W.array.std() * np.sqrt(192 * 9) - 1) < 0.01
    assert abs(model.loss3_fc.W.array.std() * np.sqrt(1024) - 1) < 0.01
    assert not model.conv1.b.array.any()


@pytest.mark.slow
def test_random_initial_values_of_vgg():
    model = L.VGG16Layers(None)
    assert abs(model.fc7.W.array.std() - 0.01) < 1e-5
    assert not model.fc7.b.array.any()


@pytest.mark.parametrize("make", [lambda: L.VGGLayers(None, 17), lambda: L.ResNetLayers(None, 34)])
def test_other_depths_are_refused(make):
    with pytest.raises(ValueError, match="expected n_layers of"):
        make()


# -- building blocks ---------------------------------------------------------------------------

IMAGES = RANDOM.uniform(-1, 1, (3, 3, 3, 3))


def relu(x):
    return np.maximum(x, 0)


def normalized(p, i, x, prefix="", **settings):
    y = convolution(x, p[f"{prefix}/conv{i}/W"], None, **settings)
    mean, var = (f(y, axis=(0, 2, 3), keepdims=True) for f in (np.mean, np.var))
    gamma, beta = (p[f"{prefix}/bn{i}/{name}"][:, None, None] for name in ("gamma", "beta"))
    return gamma * (y - mean) / np.sqrt(var + 2e-5) + beta


def bottleneck(p, x, prefix="", stride=1, fb=False):
    first, second = (1, stride) if fb else (stride, 1)
    y = relu(normalized(p, 1, x, prefix, stride=first))
    y = relu(normalized(p, 2, y, prefix, stride=second, pad=1))
    y = normalized(p, 3, y, prefix)
    shortcut = f"{prefix}/conv4/W" in p
    return relu(y + (normalized(p, 4, x, prefix, stride=stride) if shortcut else x))


BLOCKS = {
    "BottleneckA": (lambda: L.BottleneckA(3, 2, 4), lambda p, x: bottleneck(p, x, stride=2)),
    "BottleneckA, fb": (
        lambda: L.BottleneckA(3, 2, 4, downsample_fb=True),
        lambda p, x: bottleneck(p, x, stride=2, fb=True),
    ),
    "BottleneckB": (lambda: L.BottleneckB(3, 2), bottleneck),
    "BuildingBlock": (
        lambda: L.BuildingBlock(2, 3, 2, 3, 1),
        lambda p, x: bottleneck(p, bottleneck(p, x, "/a"), "/b1"),
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name):
    make, reference = BLOCKS[name]
    np.random.seed(0)  # some weights leave so little variance that differences are not finite ones

    def bright():
        """The block with so much added that no rectifier is near its kink."""
        block = make()
        for path, parameter in block.namedparams():
            if path.endswith("beta"):
                parameter.array[...] = 6
        return block

    check_link(bright, (IMAGES,), reference, ["numpy"], kind="solution", double=False, init=False)


def test_a_building_block_takes_its_number_of_blocks_by_both_names():
    sizes = {"in_channels": 3, "mid_channels": 2, "out_channels": 3, "stride": 1}
    old, new = L.BuildingBlock(n_layer=2, **sizes), L.BuildingBlock(n_layers=2, **sizes)
    assert [b.name for b in old.children()] == [b.name for b in new.children()] == ["a", "b1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_layer": 2}, "expected n_layers, .* got 2, None, None, None, None"),
        ({"n_layers": 2, "n_layer": 2}, "unexpected keyword argument 'n_layer'"),
        ({"n_layrs": 2}, "'n_layrs'. Did you mean 'n_layers'"),
    ],
)
def test_a_building_block_needs_its_sizes(arguments, message):
    with pytest.raises(TypeError, match=message):
        L.BuildingBlock(**arguments)


# -- features and predictions ------------------------------------------------------------------


class Small(VisionModel):
    """Two convolutions, a branch behind the first, and probabilities of three classes."""

    features = "conv1"
    branches = {"side": "conv1"}
    prepare = staticmethod(resnet.prepare)

    def __init__(self):
        super().__init__()
        self._table = {
            "conv1": ("conv1", F.relu),
            "conv2": ("conv2", F.relu, F.dropout),
            "prob": (global_average, F.softmax),
            "side": (global_average,),
        }
        self.add_link("conv1", L.Convolution2D(3, 2, 9, 9))
        self.add_link("conv2", L.Convolution2D(2, 3, 3))


def global_average(x):
    return F.average(x, axis=(2, 3))


@pytest.fixture
def small():
    return Small()


PICTURES = [RANDOM.randint(0, 256, (256, 256, 3)).astype("B") for _ in range(2)]


def test_predictions_are_averaged_over_ten_crops(small):
    expected = []
    with core.using_config("train", False):
        for picture in PICTURES:
            x = small.prepare(picture, size=None)
            views = []
            for top, left in [(0, 0), (0, 32), (32, 0), (32, 32), (16, 16)]:
                view = x[:, top : top + 224, left : left + 224]
                views += [view, view[:, :, ::-1]]
            expected.append(np.mean([small(v[None])["prob"].array[0] for v in views], axis=0))
    y = small.predict(PICTURES)
    np.testing.assert_allclose(y.array, expected, rtol=1e-5)
    assert y.creator is None
    assert core.config.train


def test_predictions_of_the_middle_alone(small):
    y = small.predict(PICTURES, oversample=False)
    x = np.stack([small.prepare(p, size=None)[:, 16:240, 16:240] for p in PICTURES])
    with core.using_config("train", False):
        np.testing.assert_array_equal(y.array, small(x)["prob"].array)


def test_features(small):
    x = np.stack([small.prepare(p, size=None) for p in PICTURES])
    y = small.extract(PICTURES, size=None)
    assert list(y) == ["conv1"]
    np.testing.assert_array_equal(y["conv1"].array, F.relu(small.conv1(x)).array)
    assert y["conv1"].creator is not None  # the mode is that in force
    both = small.extract(np.stack(PICTURES), ["side", "conv2"], size=None)
    assert list(both) == ["conv2", "side"]


def test_features_are_dropped_out_in_training_alone(small):
    values = [small.extract(PICTURES, ["conv2"], None)["conv2"].array for _ in range(2)]
    assert (values[0] != values[1]).any()
    with core.using_config("train", False):
        values = [small.extract(PICTURES, ["conv2"], None)["conv2"].array for _ in range(2)]
    np.testing.assert_array_equal(*values)


def test_images_go_where_the_network_is(small):
    expected = small.predict(PICTURES).array
    y = small.to_device("strict").predict(PICTURES)
    assert core.backend.of(y).name == "strict"
    np.testing.assert_allclose(core.backend.to_host(y), expected, rtol=1e-5)


def test_what_is_not_wanted_is_not_computed(small):
    small._table["conv2"] = (lambda x: pytest.fail("computed"),)
    assert small(np.ones((1, 3, 32, 32), "f"), layers=["conv1", "side"]).keys() == {"conv1", "side"}
    assert small(np.ones((1, 3, 32, 32), "f"), layers=[]) == {}


def test_without_a_graph_each_output_is_freed_when_the_next_is_there(small):
    alive = []

    def step(x):
        assert [ref() is None for ref in alive[:-1]] == [True] * (len(alive) - 1)
        y = x + 1
        alive.append(weakref.ref(y))
        return y

    small._table = {"a": (step, step, step), "b": (step, step)}
    with core.no_backprop_mode():
        y = small(core.Variable(np.ones(3, "f")), layers=["b"])
    assert len(alive) == 5
    assert alive[-1]() is y["b"]


def test_layers_that_there_are_not(small):
    with pytest.raises(ValueError, match="got 'conv3'. Did you mean 'conv"):
        small(np.ones((1, 3, 32, 32), "f"), layers=["conv3"])
    with pytest.raises(TypeError, match=r"layers=\['prob'\]"):
        small(np.ones((1, 3, 32, 32), "f"), layers="prob")


@pytest.mark.parametrize("argument", ["test", "train", "volatile"])
def test_removed_arguments(small, argument):
    for call in (small, small.extract):
        with pytest.raises(RemovedArgument, match=argument):
            call(PICTURES, **{argument: True})
    with pytest.raises(TypeError, match="Did you mean 'layers'"):
        small.extract(PICTURES, layer=["conv1"])


def test_a_replaced_layer_is_used(small):
    small.conv1 = L.Convolution2D(3, 2, 9, 9, initialW=0, initial_bias=2)
    assert (small.extract(PICTURES, size=None)["conv1"].array == 2).all()


def test_copies_use_their_own_layers():
    model = L.GoogLeNet(None)
    for duplicate in (copy.deepcopy(model), model.copy("copy"), pickle.loads(pickle.dumps(model))):
        assert duplicate.functions["conv1"][0] is duplicate.conv1
        assert duplicate.conv1.W.array is not model.conv1.W.array
        np.testing.assert_array_equal(duplicate.inc3a.conv1.W.array, model.inc3a.conv1.W.array)


# -- images ------------------------------------------------------------------------------------

MEANS = {
    vgg: (103.939, 116.779, 123.68),
    resnet: (103.063, 115.903, 123.152),
    googlenet: (104, 117, 123),
}


def layouts(pixels):
    """One image in all the ways that it can be given."""
    opaque = np.concatenate([pixels, np.full((*pixels.shape[:2], 1), 7, "B")], axis=2)
    first = pixels.transpose(2, 0, 1)
    yield from (pixels, first, opaque, pixels.astype("i8"), first + 0.75 * (first < 255))


# Three rows would be read as three colours.
@given(st.sampled_from([2, 4, 5]), st.integers(4, 6), st.integers(0, 2**31))
def test_prepare_against_a_loop(h, w, seed):
    pixels = np.random.RandomState(seed).randint(0, 256, (h, w, 3)).astype("B")
    for module, mean in MEANS.items():
        expected = np.empty((3, h, w))
        for c in range(3):
            for i in range(h):
                for j in range(w):
                    expected[c, i, j] = float(pixels[i, j, 2 - c]) - mean[c]
        for image in layouts(pixels):
            found = module.prepare(image, size=None)
            assert found.dtype == "float32"
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 5), (1, 4, 5), (4, 5, 1), (4, 5, 2)])
def test_gray_images(shape):
    gray = np.arange(20, dtype="B").reshape(4, 5)
    image = np.zeros(shape, "B")
    image[...] = gray.reshape(4, 5, 1) if shape[0] == 4 and len(shape) == 3 else gray
    found = vgg.prepare(image, size=None) + np.reshape(MEANS[vgg], (3, 1, 1))
    np.testing.assert_allclose(found, np.broadcast_to(gray, (3, 4, 5)), atol=1e-4)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_prepare_gives_the_dtype_in_force(dtype):
    with core.using_config("dtype", dtype):
        assert vgg.prepare(np.zeros((4, 4), "B"), size=None).dtype == dtype


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
def test_images_of_more_than_bytes_are_not_cut_off(dtype):
    pil = pytest.importorskip("PIL.Image")
    pixels = np.arange(12, dtype=dtype).reshape(3, 4)
    found = vgg.prepare(pil.fromarray(pixels * 20), size=None)
    np.testing.assert_array_equal(found, vgg.prepare(pixels * 20, size=None))
    with pytest.raises(ValueError, match=r"0 to 255, got values from 0 to 11000\. Clip or scale"):
        vgg.prepare(pil.fromarray(pixels * 1000))
    if dtype == "float32":
        with pytest.raises(ValueError, match="got fractions between 0 and 1. Multiply the image"):
            vgg.prepare(pil.fromarray(pixels / 12))


def test_prepare_resizes_as_pillow_does():
    image = pytest.importorskip("PIL.Image")
    pixels = RANDOM.randint(0, 256, (20, 30, 3)).astype("B")
    resized = np.asarray(image.fromarray(pixels).resize((10, 12), image.Resampling.BICUBIC))
    expected = resized[:, :, ::-1].transpose(2, 0, 1) - np.reshape(MEANS[vgg], (3, 1, 1))
    for given_image in (*layouts(pixels), image.fromarray(pixels)):
        found = vgg.prepare(given_image, size=(10, 12))
        np.testing.assert_allclose(found, expected, atol=1e-4)
    assert vgg.prepare(pixels).shape == (3, 224, 224)
    gray = image.fromarray(pixels[:, :, 0])
    assert vgg.prepare(gray, size=None).shape == (3, 20, 30)


def test_pillow_is_needed_for_resizing_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert vgg.prepare(np.zeros((224, 224, 3), "B")).shape == (3, 224, 224)
    with pytest.raises(ImportError, match=r"plugrad\[image\]"):
        vgg.prepare(np.zeros((224, 225, 3), "B"))


REFUSED = {
    "a path": ("cat.jpg", TypeError, "PIL.Image.open"),
    "a list": ([[0, 1]], TypeError, "got list"),
    "five channels": (np.zeros((4, 4, 5), "B"), ValueError, r"got the shape \(4, 4, 5\)"),
    "a batch": (np.zeros((2, 3, 4, 4), "B"), ValueError, "got the shape"),
    "nothing": (np.zeros((0, 4, 3), "B"), ValueError, "got the shape"),
    "fractions": (np.full((4, 4, 3), 0.5), ValueError, "by 255"),
    "negative": (np.full((4, 4, 3), -1.0), ValueError, "from -1 to -1"),
    "not a number": (np.full((4, 4, 3), np.nan), ValueError, "nan"),
    "complex": (np.zeros((4, 4, 3), "c8"), TypeError, "complex64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_images_that_are_refused(name):
    image, error, match = REFUSED[name]
    with pytest.raises(error, match=match):
        vgg.prepare(image, size=None)


def test_batches_that_are_refused(small):
    with pytest.raises(TypeError, match="Put it into a list"):
        small.extract(PICTURES[0])
    with pytest.raises(ValueError, match="of one size"):
        small.extract([PICTURES[0], PICTURES[1][:20]], size=None)
    with pytest.raises(ValueError, match="no image"):
        small.extract([])


# -- weights -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    model = L.GoogLeNet(None)
    fill(model)
    return model


@pytest.mark.parametrize("ending", ["npz", "h5", "safetensors"])
def test_weights_from_a_file(ending, trained, tmp_path):
    pytest.importorskip({"h5": "h5py"}.get(ending, "safetensors" if ending != "npz" else "numpy"))
    path = tmp_path / f"weights.{ending}"
    kind = {"h5": "hdf5"}.get(ending, ending)
    settings = {"npz": {"compression": False}, "h5": {"compression": 0}}.get(ending, {})
    getattr(serializers, f"save_{kind}")(path, trained, **settings)
    loaded = L.GoogLeNet(path)
    for mine, other in zip(loaded.params(), trained.params(), strict=True):
        np.testing.assert_array_equal(mine.array, other.array)


def test_weights_of_a_residual_network_come_with_its_statistics(tmp_path):
    model = L.ResNet50Layers(None)
    fill(model)
    serializers.save_npz(tmp_path / "weights.npz", model, compression=False)
    loaded = L.ResNet50Layers(str(tmp_path / "weights.npz"))
    np.testing.assert_array_equal(loaded.res4.b3.bn2.avg_var, model.res4.b3.bn2.avg_var)
    with pytest.raises(CheckpointError, match="does not fit this GoogLeNet"):
        L.GoogLeNet(tmp_path / "weights.npz")


AUTO = {
    "VGG_ILSVRC_16_layers.npz": lambda **kw: L.VGG16Layers(**kw),
    "VGG_ILSVRC_19_layers.npz": lambda **kw: L.VGG19Layers(**kw),
    "bvlc_googlenet.npz": lambda **kw: L.GoogLeNet(**kw),
    "ResNet-50-model.npz": lambda **kw: L.ResNet50Layers(**kw),
    "ResNet-101-model.npz": lambda **kw: L.ResNet101Layers(**kw),
    "ResNet-152-model.npz": lambda **kw: L.ResNet152Layers(**kw),
}


@pytest.mark.parametrize("name", AUTO)
def test_weights_that_are_not_where_they_are_looked_for(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRAD_DATASET_ROOT", str(tmp_path))
    with pytest.raises(FileNotFoundError) as error:
        AUTO[name]()
    assert str(tmp_path / "pfnet" / "chainer" / "models" / name) in str(error.value)
    assert "pretrained_model=None" in str(error.value)


def test_weights_in_the_usual_folder_are_found(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRAD_DATASET_ROOT", str(tmp_path))
    models_folder().mkdir(parents=True)
    path = models_folder() / "bvlc_googlenet.npz"
    serializers.save_npz(path, trained, compression=False)
    np.testing.assert_array_equal(L.GoogLeNet().conv2.W.array, trained.conv2.W.array)


def test_files_of_other_kinds_are_refused():
    with pytest.raises(NotImplementedError, match="convert_caffemodel_to_npz"):
        L.ResNet50Layers("ResNet-50-model.caffemodel")
    with pytest.raises(ValueError, match=r"\.npz"):
        L.GoogLeNet("weights.pt")
    for model in (L.VGGLayers, L.GoogLeNet, L.ResNetLayers):
        with pytest.raises(NotImplementedError, match=f"{model.__name__}.convert_caffemodel"):
            model.convert_caffemodel_to_npz("a.caffemodel", "a.npz")
    with pytest.raises(NotImplementedError):
        L.ResNetLayers.convert_caffemodel_to_npz("a.caffemodel", "a.npz", n_layers=50)


# -- where existing scripts look ----------------------------------------------------------------


FAMILIES = {
    "vgg": ("VGG16Layers", ["VGG19Layers", "VGGLayers"], vgg),
    "googlenet": ("GoogLeNet", [], googlenet),
    "resnet": (
        "ResNetLayers",
        ["BottleneckA", "BottleneckB", "BuildingBlock"]
        + ["ResNet101Layers", "ResNet152Layers", "ResNet50Layers"],
        resnet,
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_networks_and_their_prepare_by_family(name):
    first, others, module = FAMILIES[name]
    family = importlib.import_module(f"core.links.model.vision.{name}")
    assert getattr(L.model.vision, name) is family
    assert family.prepare is module.prepare and family.available is True
    assert all(getattr(family, each) is getattr(L, each) for each in (first, *others))
    assert dir(family) == sorted([first, *others, "available", "prepare"])
    with pytest.raises(AttributeError, match=f"{name}' has no attribute 'prepair'"):
        _ = family.prepair
    assert "model" not in dir(L)


def test_a_number_is_no_file_of_weights():
    """As of classes, which is the first argument elsewhere."""
    for make in (L.GoogLeNet, L.VGG16Layers, L.ResNet50Layers):
        with pytest.raises(TypeError, match="pretrained_model.* None.*got.*10"):
            make(10)
