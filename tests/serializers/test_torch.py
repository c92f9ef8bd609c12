"""Weights of PyTorch in links: what they compute there, they compute here."""

import io
import os
import pickle
import struct
import warnings
import zipfile
from collections import deque
from pathlib import Path

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import CheckpointDamaged, CheckpointError
from core.serializers import load_torch, save_safetensors, save_torch
from plugins.serializers.torch import _Matching
from plugins.serializers.torch_file import tensors_of

RNG = np.random.default_rng(0)


def archive(body, storages=(), name="archive", byteorder="little", **more):
    """A file as torch.save writes it, of a pickle and storages."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(f"{name}/data.pkl", body)
        made.writestr(f"{name}/byteorder", byteorder)
        for i, array in enumerate(storages):
            made.writestr(f"{name}/data/{i}", array.tobytes())
        for each, data in more.items():
            made.writestr(f"{name}/{each}", data)
    file.seek(0)
    return file


def stream(body, storages=(), order="<"):
    """A file as torch.save wrote it before PyTorch 1.6."""
    machine = {"protocol_version": 1001, "little_endian": order == "<", "type_sizes": {}}
    first = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, machine)]
    data = b"".join([*first, body, pickle.dumps([str(i) for i in range(len(storages))], 2)])
    for array in storages:
        data += struct.pack(f"{order}q", array.size) + array.tobytes()
    return io.BytesIO(data)


def big_archive(body, storages):
    """As `archive`, on a machine whose numbers begin with the highest byte."""
    return archive(body, [array.byteswap() for array in storages], byteorder="big")


def big_stream(body, storages):
    """As `stream`, on a machine whose numbers begin with the highest byte."""
    return stream(body, [array.byteswap() for array in storages], ">")


def _int(n):
    return b"J" + int(n).to_bytes(4, "little", signed=True)


def _text(text):
    return b"X" + len(text).to_bytes(4, "little") + text.encode()


def tensor(key, count, shape, strides=None, kind="FloatStorage", offset=0):
    if strides is None:
        strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    tuples = [b"(" + b"".join(map(_int, t)) + b"t" for t in (shape, strides)]
    storage = b"(" + _text("storage") + b"ctorch\n" + kind.encode() + b"\n"
    storage += _text(str(key)) + _text("cpu") + _int(count) + b"tQ"
    call = b"(" + storage + _int(offset) + b"".join(tuples) + b"\x89"
    call += b"ccollections\nOrderedDict\n)R" + b"tR"
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + call


def state(**tensors):
    items = b"".join([_text(name.replace("__", ".")) + body for name, body in tensors.items()])
    return b"\x80\x02ccollections\nOrderedDict\n)R(" + items + b"u."


@pytest.mark.parametrize("file", [archive, stream, big_archive, big_stream])
def test_a_file_is_read_without_pytorch(file):
    W, b = RNG.normal(size=(3, 2)).astype("f"), RNG.normal(size=4)
    body = state(
        fc__weight=tensor(0, 6, (2, 3), (1, 2)),  # a transposed view
        fc__bias=tensor(1, 4, (2,), (2,), "DoubleStorage", offset=1),
    )
    model = L.Linear(None, 2)  # sizes follow
    table = load_torch(file(body, [W, b]), model)
    np.testing.assert_array_equal(model.W.array, W.T)
    np.testing.assert_array_equal(model.b.array, b[1::2].astype("f"))
    assert str(table).splitlines()[1].split() == ["W", "fc.weight", "(2,", "3)"]


@pytest.mark.parametrize("name", ["state_dict", "params_ema"])
def test_bfloat16_and_nested_state(name):
    body = b"\x80\x02}(" + _text("epoch") + _int(3) + _text(name)
    body += state(weight=tensor(0, 2, (1, 2), kind="BFloat16Storage"))[2:-1] + b"u."
    model = L.EmbedID(1, 2)
    load_torch(archive(body, [np.array([0x3F80, 0xC000], "u2")]), model)
    np.testing.assert_array_equal(model.W.array, [[1, -2]])


class Attack:
    def __reduce__(self):
        return os.mkdir, ("owned",)


OF_OTHERS = {
    "code": (pickle.dumps(Attack(), 2), CheckpointError, r"tensors alone, got (posix|nt)\.mkdir"),
    "getattr": (b"c__builtin__\ngetattr\n.", CheckpointError, "getattr"),
    "beyond": (state(w=tensor(0, 4, (5,))), CheckpointDamaged, "outside of its storage"),
    "before": (state(w=tensor(0, 4, (2,), offset=-1)), CheckpointDamaged, "outside of its storage"),
    "back": (state(w=tensor(0, 4, (2,), (-1,), offset=1)), CheckpointDamaged, "outside of its"),
    "huge": (state(w=tensor(0, 4, (1 << 30,), (0,))), CheckpointDamaged, "much larger"),
    "short": (state(w=tensor(0, 400, (400,))), CheckpointDamaged, "damaged"),
    "missing": (state(w=tensor(7, 4, (4,))), CheckpointDamaged, "damaged"),
    "larger": (state(w=tensor(0, 4, (4,)), v=tensor(0, 99, (99,))), CheckpointDamaged, "smaller"),
    "kind": (state(w=tensor(0, 4, (4,), kind="EvilStorage")), CheckpointError, "EvilStorage"),
    "cut": (state(w=tensor(0, 4, (4,)))[:-9], CheckpointDamaged, "damaged"),
    "names": (
        b"\x80\x02(" + b"".join([b"cos\nf%d\n" % i for i in range(2000)]) + b"t.",
        CheckpointDamaged,
        "names more than 1000 things",
    ),
    "memo": (b"\x80\x02}r\0\0\0\xff.", CheckpointDamaged, "numbers more objects than it has"),
    "number": (b"\x80\x02K\x05.", CheckpointError, "expected the tensors of a model"),
    "two": (
        b"\x80\x02}("
        + _text("G")
        + state(w=tensor(0, 4, (4,)))[2:-1]
        + _text("D")
        + state(w=tensor(0, 4, (4,)))[2:-1]
        + b"u.",
        CheckpointError,
        r"got \['D', 'G'\]",
    ),
    "mixed": (
        state(w=tensor(0, 4, (4,)), v=state(w=tensor(0, 4, (4,)))[2:-1]),
        CheckpointError,
        r"got \['v', 'w'\]",
    ),
    "deep": (b"\x80\x02" + b"]" * 100000 + b"a" * 99999 + b".", CheckpointError, "expected the"),
}


@pytest.mark.parametrize("file", [archive, stream])
@pytest.mark.parametrize("case", OF_OTHERS)
def test_hostile_and_damaged_files(case, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body, error, text = OF_OTHERS[case]
    model = L.Linear(2, 2)
    before = model.W.array.copy()
    with pytest.raises(error, match=text):
        load_torch(file(body, [np.zeros(4, "f")] * (b"storage" in body)), model)
    np.testing.assert_array_equal(model.W.array, before)
    assert not [*tmp_path.iterdir()]


def test_what_is_no_file_of_torch():
    disks = bytearray(archive(state()).getvalue())
    disks[-22:-22] = struct.pack("<4sIQI", b"PK\6\7", 0, 0, 2)  # an archive on two disks
    for data in (b"", b"something", pickle.dumps({"a": 1}), bytes(disks)):
        with pytest.raises(CheckpointDamaged):
            load_torch(io.BytesIO(data), L.Linear(2, 2))


def test_a_stream_that_is_cut_is_told():
    body = state(weight=tensor(0, 4, (2, 2)), bias=tensor(1, 2, (2,)))
    whole = stream(body, [np.zeros(4, "f"), np.zeros(2, "f")]).getvalue()
    load_torch(io.BytesIO(whole), L.Linear(2, 2))
    for end in range(0, len(whole), 7):
        with pytest.raises(CheckpointDamaged):
            load_torch(io.BytesIO(whole[:end]), L.Linear(2, 2))


class Settings:
    """What a checkpoint may hold beside its model: the class need not be there when it is read."""

    def __init__(self):
        self.when, self.lines = {"lr": 0.1}, deque([1, 2])


@pytest.mark.parametrize("zipped", [True, False])
def test_beside_the_tensors_of_a_model_a_checkpoint_may_have_anything(zipped):
    torch = pytest.importorskip("torch")
    tensors = {"weight": torch.arange(6.0).reshape(2, 3), "bias": torch.ones(2)}
    extra = {"_extra_state": io.BytesIO(b"scales"), "other._extra_state": None}
    extra |= {"third._extra_state": torch.ones(3), "fourth._extra_state": b"scales"}
    beside = {"args": Settings(), "best": np.float64(3), "path": Path("x"), "loss": np.ones(3)}
    file, link = io.BytesIO(), L.Linear(3, 2)
    saved = {**beside, "net": {**tensors, **extra}}
    torch.save(saved, file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    load_torch(file, link)
    np.testing.assert_array_equal(link.W.array, tensors["weight"])


def test_what_is_no_ordinary_tensor_is_told_by_name():
    torch = pytest.importorskip("torch")
    weight = torch.arange(6.0).reshape(2, 3)
    for other, said in (
        (weight.to_sparse(), "a sparse tensor for weight"),
        (weight.to("meta"), "a meta tensor, which has no numbers, for weight"),
        (weight.to(torch.float8_e4m3fn), "torch.float8_e4m3fn for weight"),
    ):
        file, link = io.BytesIO(), L.Linear(3, 2)
        torch.save({"weight": other, "bias": torch.ones(2)}, file)
        file.seek(0)
        with pytest.raises(CheckpointError, match=f"expected tensors alone, got {said}"):
            load_torch(file, link)
        assert not link.b.array.any()


@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_both_ages_of_pytorch(zipped):
    torch = pytest.importorskip("torch")
    base = torch.arange(12.0).reshape(3, 4)
    kept = {
        "view": base.T[1:], "base": base, "half": base.half(), "bool": base > 3,
        "brain": base.bfloat16(), "z": torch.complex(base, base).conj(), "n": torch.tensor(3),
        "p": torch.nn.Parameter(base), "none": torch.zeros(0, 3),
        **{name: base.to(getattr(torch, name)).T[1:] for name in ("uint16", "uint32", "uint64")},
    }  # fmt: skip
    file = io.BytesIO()
    torch.save(kept, file, _use_new_zipfile_serialization=zipped)
    found = tensors_of(file.getvalue(), "file")
    assert [*found] == [*kept]
    for name, there in kept.items():
        there = there.detach().resolve_conj()
        there = there.float() if name == "brain" else there
        np.testing.assert_array_equal(found[name], there.numpy(), err_msg=name)


def weights(**arrays):
    file = io.BytesIO()
    save_safetensors(file, {n.replace("__", "."): np.asarray(a, "f") for n, a in arrays.items()})
    file.seek(0)
    return file


def test_what_is_no_mapping_is_refused():
    file = weights(a__weight=np.ones((3, 2)), a__bias=np.ones(3))
    with pytest.raises(TypeError, match="mapping: expected a dict .* or a function .*, got 'a'"):
        load_torch(file, L.Linear(2, 3), mapping="a")


def test_nothing_is_loaded_where_anything_does_not_fit():
    model = core.Sequential(L.Linear(2, 3), F.relu, L.Linear(3, 1))
    before = [p.array.copy() for p in model.params()]
    fits = {"a__weight": np.ones((3, 2)), "a__bias": np.ones(3)}
    for more, text in [
        ({}, r"1: no tensors of its shapes come next"),
        ({"b__weight": np.ones((1, 4)), "b__bias": np.ones(1)}, r"no tensors of its shapes"),
        (
            {"b__weight": np.ones((1, 3)), "b__bias": np.ones(1), "c__x": np.ones(1)},
            "left over: c.x",
        ),
    ]:
        with pytest.raises(CheckpointError, match=text) as refusal:
            load_torch(weights(**fits, **more), model)
        assert "0/W    a.weight" in str(refusal.value) and "mapping=" in str(refusal.value)
    for parameter, array in zip(model.params(), before, strict=True):
        np.testing.assert_array_equal(parameter.array, array)


def test_mapping_says_what_is_what():
    model = core.ChainDict(left=L.Linear(2, 2), right=L.Linear(2, 2))
    arrays = {
        "net__two__weight": np.full((2, 2), 2), "net__two__bias": np.zeros(2),
        "net__one__weight": np.full((2, 2), 1), "net__one__bias": np.zeros(2),
        "head__weight": np.ones(3),
    }  # fmt: skip
    mapping = {"net.one": "/left", "net.two": "right", "head": None}
    table = load_torch(weights(**arrays), model, mapping, dry_run=True)
    assert len(table) == 4 and (model["left"].W.array != 1).any()
    load_torch(weights(**arrays), model, mapping)
    assert (model["left"].W.array == 1).all() and (model["right"].W.array == 2).all()
    with pytest.raises(CheckpointError, match="another name for each tensor"):
        load_torch(weights(**arrays), model, lambda name: "same")


def test_no_tensor_is_taken_twice_where_modules_lie_in_one_another():
    names = "a.weight", "a.bias", "b.weight", "b.bias", "a.inner.weight", "a.inner.bias"
    shapes = [(2, 2), (2,)] * 3
    body = state(**{
        name.replace(".", "__"): tensor(i, int(np.prod(shape)), shape)
        for i, (name, shape) in enumerate(zip(names, shapes, strict=True))
    })  # fmt: skip
    storages = [np.full(shape, i, "f") for i, shape in enumerate(shapes)]
    model = core.ChainDict(**{name: L.Linear(2, 2) for name in ("one", "two", "three")})
    load_torch(archive(body, storages), model)
    found = [(link.W.array[0, 0], link.b.array[0]) for link in model.values()]
    assert found == [(0, 1), (2, 3), (4, 5)]


def test_what_the_order_does_not_tell_is_refused():
    """Safetensors have none, and a name that the link has means the same there."""
    linear = {"weight": np.ones((2, 2)), "bias": np.zeros(2)}

    def file(*names):
        return weights(**{f"{n}__{part}": a for n in names for part, a in linear.items()})

    model = core.ChainDict(query=L.Linear(2, 2), key=L.Linear(2, 2))
    with pytest.raises(CheckpointError, match="k_proj and q_proj fit either, and the file has no"):
        load_torch(file("q_proj", "k_proj"), model)
    load_torch(file("q_proj", "k_proj"), model, {"q_proj": "query", "k_proj": "key"})
    numbered = {f"net__{n}__weight": np.full((2, 2), n) for n in (12, 4)}
    biases = {f"net__{n}__bias": np.zeros(2) for n in (12, 4)}
    assert len(load_torch(weights(**numbered, **biases), model)) == 4
    assert (model["query"].W.array == 4).all() and (model["key"].W.array == 12).all()
    torch_file, there = io.BytesIO(), core.ChainDict(key=L.Linear(2, 2), other=L.Linear(2, 2))
    save_torch(torch_file, there)
    torch_file.seek(0)
    with pytest.raises(CheckpointError, match="key: key is there, too, but other stands in its"):
        load_torch(torch_file, model)
    torch_file.seek(0)
    load_torch(torch_file, model, {"other": "query"})
    np.testing.assert_array_equal(model["query"].W.array, there["other"].W.array)


# ---------------------------------------------------------------------- beside PyTorch


@pytest.fixture(autouse=True)
def same_weights_each_time():
    try:
        import torch
    except ImportError:
        return
    torch.manual_seed(0)


def saved(module):
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    return file


def alike(module, run, x):
    torch = pytest.importorskip("torch")
    with torch.no_grad(), core.using_config("train", False):
        expected = module.eval()(torch.from_numpy(x))
        expected = expected[0] if isinstance(expected, tuple) else expected
        found = run(x)
    np.testing.assert_allclose(found.array, expected.numpy(), rtol=1e-4, atol=1e-5)


def compare(module, model, x, mapping=None, *, run=None):
    """What is loaded computes the same here, and what is changed and saved the same there."""
    torch = pytest.importorskip("torch")
    table = load_torch(saved(module), model, mapping)
    alike(module, run or model, x)
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    for parameter in model.params():
        parameter.array[...] *= 0.75
    file = io.BytesIO()
    assert len(save_torch(file, model, table)) == len([row for row in table if row.tensors])
    file.seek(0)
    state = torch.load(file, weights_only=True)
    module.load_state_dict(state, strict=True)
    alike(module, run or model, x)
    kept = core.serializers.DictionarySerializer()
    kept.save(model)
    for parameter in model.params():
        parameter.array[...] = 0
    file.seek(0)
    load_torch(file, model, mapping)
    again = core.serializers.DictionarySerializer()
    again.save(model)
    for name, array in kept.target.items():
        np.testing.assert_array_equal(again.target[name], array, err_msg=name)
    assert {name: t.dtype for name, t in state.items()} == {n: t.dtype for n, t in before.items()}
    assert not all([torch.equal(state[name], before[name]) for name in before])


def disturb(module):
    """Running averages and affine parameters as after training."""
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.dtype == torch.float32 and tensor.ndim == 1:
                tensor.copy_(torch.rand(tensor.shape) + 0.5)
    return module


def vgg():
    nn = pytest.importorskip("torch").nn
    there = nn.Sequential(
        *[nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)],
        *[nn.Flatten(), nn.Linear(128, 16), nn.PReLU(), nn.Linear(16, 5)],
    )
    pool = lambda x: F.max_pooling_2d(x, 2)  # noqa: E731
    here = core.Sequential(
        *[L.Convolution2D(3, 8, 3, pad=1), L.BatchNormalization(8, eps=1e-5), F.relu, pool],
        *[L.Convolution2D(8, 8, 3, pad=1), L.BatchNormalization(8, eps=1e-5), F.relu, pool],
        *[L.Linear(None, 16), L.PReLU(), L.Linear(16, 5)],
    )
    return there, here


@pytest.mark.parametrize("ordered", [True, False])
def test_many_modules_are_looked_at_once(monkeypatch, ordered):
    """Not each beside each other, which took a minute for a thousand."""
    names = [f"{'encoder' if i < 50 else 'decoder'}.m{i:03}" for i in range(100)]
    names = names if ordered else sorted(names)
    arrays = [RNG.normal(size=(1 if "encoder" in name else 2, 2)).astype("f") for name in names]
    model = core.ChainList(*[L.Linear(2, len(array), nobias=True) for array in arrays])
    if ordered:
        items = [(i, name, a) for i, (name, a) in enumerate(zip(names, arrays, strict=True))]
        body = state(**{f"{name}.weight": tensor(i, a.size, a.shape) for i, name, a in items})
        file = archive(body, arrays)
    else:
        file = io.BytesIO()
        save_safetensors(file, {f"{n}.weight": a for n, a in zip(names, arrays, strict=True)})
        file.seek(0)
    looks, fit = [], _Matching._fit
    monkeypatch.setattr(_Matching, "_fit", lambda *args: looks.append(args[1:]) or fit(*args))
    load_torch(file, model)
    for link, array in zip(model, arrays, strict=True):
        np.testing.assert_array_equal(link.W.array, array)
    assert len(looks) <= 500


def test_vgg():
    there, here = vgg()
    compare(disturb(there), here, RNG.normal(size=(2, 3, 16, 16)).astype("f"))


class Block(core.Chain):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(n_in, n_out, 3, stride, 1, nobias=True)
            self.bn1 = L.BatchNormalization(n_out, eps=1e-5)
            self.conv2 = L.Convolution2D(n_out, n_out, 3, 1, 1, nobias=True)
            self.bn2 = L.BatchNormalization(n_out, eps=1e-5)
            self.downsample = core.Sequential(
                L.Convolution2D(n_in, n_out, 1, stride, nobias=True),
                L.BatchNormalization(n_out, eps=1e-5),
            )

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + self.downsample(x))


def test_resnet():
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class There(nn.Module):
        def __init__(self, n_in, n_out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(n_out)
            self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(n_out)
            self.downsample = nn.Sequential(
                nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
            )

        def forward(self, x):
            h = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(h + self.downsample(x))

    there = nn.Sequential(There(3, 4, 1), There(4, 8, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    there.append(nn.Linear(8, 3))
    mean = lambda x: F.mean(x, axis=(2, 3))  # noqa: E731
    here = core.Sequential(Block(3, 4, 1), Block(4, 8, 2), mean, L.Linear(8, 3))
    compare(disturb(there), here, RNG.normal(size=(2, 3, 8, 8)).astype("f"))


RECURRENT = {
    "LSTM": (L.NStepLSTM, 2, {}),
    "LSTM, two ways": (L.NStepBiLSTM, 2, {"bidirectional": True}),
    "GRU": (L.NStepGRU, 2, {}),
    "GRU, two ways": (L.NStepBiGRU, 1, {"bidirectional": True}),
    "RNN": (L.NStepRNNTanh, 1, {}),
    "LSTM, no bias": (L.NStepLSTM, 2, {"bias": False}),
    "GRU, two ways, no bias": (L.NStepBiGRU, 1, {"bidirectional": True, "bias": False}),
}


@pytest.mark.parametrize("case", RECURRENT)
def test_recurrent_layers(case):
    torch = pytest.importorskip("torch")
    make, layers, more = RECURRENT[case]
    kind = getattr(torch.nn, case.split(",")[0])
    there = kind(3, 4, layers, batch_first=True, **more)
    here = make(layers, 3, 4, 0.0)
    for parameter in here.params():
        parameter.array[...] += 1  # nothing of which is left

    def run(x):
        states = (None, None) if "LSTM" in case else (None,)
        return F.stack(here(*states, list(x))[-1])

    compare(there, here, RNG.normal(size=(2, 5, 3)).astype("f"), run=run)


@pytest.mark.parametrize("case", ["LSTM", "GRU", "RNN", "LSTM, no bias"])
def test_cells(case):
    """A cell is a layer over sequences of one element."""
    torch = pytest.importorskip("torch")
    name = case.split(",")[0]
    there = getattr(torch.nn, f"{name}Cell")(3, 4, bias="no" not in case)
    here = RECURRENT[name][0](1, 3, 4, 0.0)

    def run(x):
        states = (None, None) if name == "LSTM" else (None,)
        return here(*states, [row[None] for row in x])[0][0]

    compare(there, here, RNG.normal(size=(2, 3)).astype("f"), run=run)


@pytest.mark.parametrize("bias", [True, False])
def test_steps_of_an_lstm(bias):
    torch = pytest.importorskip("torch")
    there, here = torch.nn.LSTM(3, 4, bias=bias, batch_first=True), L.LSTM(3, 4)

    def run(x):
        here.reset_state()
        return F.stack([here(x[:, i]) for i in range(x.shape[1])], axis=1)

    compare(there, here, RNG.normal(size=(2, 5, 3)).astype("f"), run=run)


def _norm(size):
    return L.LayerNormalization(size, eps=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_transformer(first, bias):
    nn = pytest.importorskip("torch").nn
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=first, layer_norm_eps=1e-5, bias=bias
    )
    there = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    kinds = {"normalization": _norm, "norm_first": first}
    here = core.Sequential(*[L.TransformerBlock(8, 2, 16, **kinds) for _ in range(2)])
    x = RNG.normal(size=(3, 5, 8)).astype("f")
    compare(disturb(there), here, x)  # in order
    compare(disturb(there), here, x, {"layers": ""})


def test_attention_without_biases():
    torch = pytest.importorskip("torch")
    there = torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True)
    there.forward = lambda x, own=there.forward: own(x, x, x, need_weights=False)
    x = RNG.normal(size=(3, 5, 8)).astype("f")
    for here in (L.MultiHeadAttention(8, 2), L.MultiHeadAttention(8, 2, nobias=True)):
        load_torch(saved(disturb(there)), here)
        alike(there, here, x)


def test_a_decoder():
    torch = pytest.importorskip("torch")
    there = torch.nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)
    kinds = {"activate": F.relu, "normalization": _norm, "norm_first": False}
    here = L.TransformerBlock(8, 2, 16, **kinds, memory_size=8)
    memory = RNG.normal(size=(3, 4, 8)).astype("f")
    there.forward = lambda x, own=there.forward: own(x, torch.from_numpy(memory))
    x = RNG.normal(size=(3, 5, 8)).astype("f")
    compare(disturb(there), here, x, run=lambda x: here(x, memory=memory))


def test_attention_to_what_has_another_size():
    torch = pytest.importorskip("torch")
    there = torch.nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True)
    memory = RNG.normal(size=(3, 4, 6)).astype("f")
    kept = torch.from_numpy(memory)
    there.forward = lambda x, own=there.forward: own(x, kept, kept, need_weights=False)
    here = L.MultiHeadAttention(8, 2, key_size=6)
    x = RNG.normal(size=(3, 5, 8)).astype("f")
    compare(disturb(there), here, x, run=lambda x: here(x, memory))


def test_other_layers():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    there = nn.Sequential(
        *[nn.ConvTranspose2d(4, 6, 3, 2, padding=1, groups=2), nn.GroupNorm(2, 6)],
        *[nn.Conv2d(6, 6, 3, groups=3), nn.Flatten(2), nn.LayerNorm(9)],
    )
    here = core.Sequential(
        *[L.Deconvolution2D(4, 6, 3, 2, 1, groups=2), L.GroupNormalization(2, 6)],
        *[L.Convolution2D(6, 6, 3, groups=3), lambda x: F.reshape(x, (2, 6, 9))],
        L.LayerNormalization(9, eps=1e-5),
    )
    compare(disturb(there), here, RNG.normal(size=(2, 4, 3, 3)).astype("f"))


def test_filters_of_each_channel():
    nn = pytest.importorskip("torch").nn
    there, here = nn.Conv2d(3, 6, 2, groups=3), L.DepthwiseConvolution2D(3, 2, 2)
    compare(there, here, np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("f"))


# ---------------------------------------------------------------------- and back


class Tied(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed, self.out = L.EmbedID(3, 2), L.Linear(2, 3, nobias=True)
            self.out.W = self.embed.W


@pytest.mark.parametrize("bias", [True, False])
def test_bilinear_layers_have_their_outputs_last(bias):
    torch = pytest.importorskip("torch")
    there, here = torch.nn.Bilinear(3, 3, 3, bias=bias), L.Bilinear(3, 3, 3)
    there.forward = lambda x, forward=there.forward: forward(x, x)
    x = RNG.normal(size=(5, 3)).astype("f")
    compare(there, here, x, run=lambda x: here(x, x))
    assert not here.V1.array.any()


@pytest.mark.parametrize("old", [True, False])
def test_weight_normalization_is_applied(old):
    torch = pytest.importorskip("torch")
    nn = torch.nn
    names = nn.utils if old else nn.utils.parametrizations
    layers = [nn.Conv1d(2, 4, 3), nn.ConvTranspose1d(4, 3, 2), nn.Flatten(), nn.Linear(15, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old one is on its way out
        parts = [names.weight_norm(layers[i], dim=d) for i, d in ((0, 0), (1, 1), (3, None))]
    there, here = nn.Sequential(*layers), core.Sequential(
        L.Convolution1D(2, 4, 3), L.Deconvolution1D(4, 3, 2), L.Linear(15, 2)
    )  # fmt: skip
    with torch.no_grad():
        for part in parts:
            lengths = [p for n, p in part.named_parameters() if n[-1] in "g0"]
            lengths[0].mul_(1.5)
    load_torch(saved(there), here)
    alike(there, here, RNG.normal(size=(2, 2, 6)).astype("f"))


class Pair(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a, self.b = L.Linear(3, 3), L.Linear(3, 3)


@pytest.mark.parametrize("beginning", ["", "module.", "model.net."])
def test_paths_count_behind_a_beginning_that_all_share(beginning):
    """As of a model that is wrapped; the order of definition is another one there."""
    names = [f"{beginning}{name}.{what}" for name in "ba" for what in ("weight", "bias")]
    torch = pytest.importorskip("torch")
    tensors = {
        n: torch.full((3, 3) if n[-1] == "t" else (3,), float(i)) for i, n in enumerate(names)
    }
    file, model = io.BytesIO(), Pair()
    torch.save(tensors, file)
    file.seek(0)
    load_torch(file, model)
    assert [p.array.flat[0] for _, p in sorted(model.namedparams())] == [2, 3, 0, 1]
    del tensors[names[0]]
    file = io.BytesIO()
    torch.save(tensors | {f"{beginning}c.weight": torch.zeros(3, 3)}, file)
    file.seek(0)
    with pytest.raises(CheckpointError, match=r"left over|there is no|stands in its place"):
        load_torch(file, model)


@pytest.mark.parametrize("old", [True, False])
def test_spectral_normalization_is_applied(old):
    torch = pytest.importorskip("torch")
    nn = torch.nn
    names = nn.utils if old else nn.utils.parametrizations
    layers = [nn.Conv1d(2, 4, 3), nn.ConvTranspose1d(4, 4, 1), nn.Flatten(), nn.Linear(16, 2)]
    there = nn.Sequential(*[x if i == 2 else names.spectral_norm(x) for i, x in enumerate(layers)])
    here = core.Sequential(
        L.Convolution1D(2, 4, 3), L.Deconvolution1D(4, 4, 1), L.Linear(16, 2)
    )  # fmt: skip
    there(torch.zeros(1, 2, 6))  # a step of the power iteration
    load_torch(saved(there), here)
    alike(there, here, RNG.normal(size=(2, 2, 6)).astype("f"))


def with_hooks(hooks, link):
    for hook in hooks:
        link.add_hook(hook)
    return link


HOOKS = {
    "lengths": lambda: [core.link_hooks.WeightNormalization()],
    "lengths along 1": lambda: [core.link_hooks.WeightNormalization(axis=1)],
    "one length": lambda: [core.link_hooks.WeightNormalization(axis=None)],
    "spectrum": lambda: [core.link_hooks.SpectralNormalization(50)],
    "spectrum and gamma": lambda: [core.link_hooks.SpectralNormalization(use_gamma=True)],
    "standardized": lambda: [core.link_hooks.WeightStandardization(eps=1e-9)],
    "two": lambda: [
        core.link_hooks.WeightStandardization(),
        core.link_hooks.SpectralNormalization(2, factor=0.5),
    ],
}


@pytest.mark.parametrize("size", [4, None])
@pytest.mark.parametrize("name", HOOKS)
def test_weights_that_hooks_compute_with_are_written_and_those_read_are_begun_with(name, size):
    torch = pytest.importorskip("torch")
    x = RNG.normal(size=(2, 4)).astype("f")
    for make, of_theirs in (
        (lambda: L.Linear(size, 3), lambda: torch.nn.Linear(4, 3)),
        (lambda: L.Deconvolution1D(size, 3, 2), lambda: torch.nn.ConvTranspose1d(4, 3, 2)),
    ):
        given = x if "Linear" in repr(make()) else x[..., None]
        link, there = with_hooks(HOOKS[name](), make()), of_theirs()
        with core.using_config("train", False):
            link(given)
            file = io.BytesIO()
            save_torch(file, link)
            file.seek(0)
            there.load_state_dict(torch.load(file))
            alike(there, link, given)
            # What was computed with is normalized already.
            again = with_hooks(HOOKS[name]()[:1], make())
            load_torch(saved(there), again)
            if name != "two":
                alike(there, again, given)


@pytest.mark.parametrize("old", [True, False])
def test_spectral_normalization_goes_on_here(old):
    torch = pytest.importorskip("torch")
    names = torch.nn.utils if old else torch.nn.utils.parametrizations
    there = names.spectral_norm(torch.nn.Linear(4, 3), n_power_iterations=50)
    there(torch.zeros(1, 4))
    here = with_hooks(HOOKS["spectrum"](), L.Linear(None, 3))
    load_torch(saved(there), here)
    alike(there, here, RNG.normal(size=(2, 4)).astype("f"))


def test_what_a_hook_has_added_within_a_rule_is_told():
    torch = pytest.importorskip("torch")
    link = L.MultiHeadAttention(4, 2)
    link.query.add_hook(core.link_hooks.WeightNormalization())
    with pytest.raises(CheckpointError, match="query: no tensors of its shapes"):
        load_torch(saved(torch.nn.MultiheadAttention(4, 2)), link)
    assert "query.W_g" in str(save_torch(io.BytesIO(), link))


def test_what_is_left_out_stays_0_in_the_table():
    torch = pytest.importorskip("torch")
    link = L.NStepGRU(1, 2, 3, 0.0)
    table = load_torch(saved(torch.nn.GRU(2, 3, bias=False)), link)
    link[0].b2.array[1] = 1
    with pytest.raises(CheckpointError, match="no tensor for 0/b0, 0/b1, 0/b2, which is not 0"):
        save_torch(io.BytesIO(), link, table)
    assert "bias_ih_l0" in str(save_torch(io.BytesIO(), link))


def test_a_layer_of_which_a_tensor_is_missing_is_told():
    for model, file in [
        (core.Sequential(L.Linear(2, 3)), {"0__bias": np.ones(3)}),
        (L.Linear(2, 3), {"bias": np.ones(3)}),
    ]:
        with pytest.raises(CheckpointError, match=r"W: there is no (0\.)?weight"):
            load_torch(weights(**file), model)


@pytest.mark.parametrize(
    ("link", "shape"),
    [
        (lambda: L.Linear(3, 4), (4, 3)),
        (lambda: L.Convolution2D(3, 4, 2), (4, 3, 2, 2)),
        (lambda: L.DepthwiseConvolution2D(3, 2, 2), (6, 1, 2, 2)),
        (lambda: L.LayerNormalization(4), (4,)),
        (lambda: L.LayerNormalization(4, use_beta=False), (4,)),
    ],
)
def test_a_module_without_bias_has_biases_of_0(link, shape):
    weight = np.random.default_rng(0).normal(size=shape).astype("f")
    model = core.Chain(first=link(), second=L.Linear(2, 2))
    biases = [p for n, p in model.first.namedparams() if n in ("/b", "/beta")]
    for bias in biases:
        bias.array[...] = 1
    file = {"second__weight": np.ones((2, 2), "f"), "second__bias": np.ones(2, "f")}
    table = load_torch(weights(first__weight=weight, **file), model)
    assert all([not bias.array.any() for bias in biases]) and (model.second.b.array == 1).all()
    assert sum([match.how == "0" for match in table]) == len(biases)


def test_tensors_that_are_seen_conjugate_or_negative():
    torch = pytest.importorskip("torch")
    z = torch.tensor([1 + 2j, 3 - 4j]).conj()
    for seen, expected in ((z, [1 - 2j, 3 + 4j]), (z.imag, [-2, 4])):
        file = io.BytesIO()
        torch.save({"z": seen}, file)
        np.testing.assert_array_equal(tensors_of(file.getvalue(), "file")["z"], expected)


def test_a_shared_parameter_has_one_array():
    model, W = Tied(), RNG.normal(size=(3, 2))
    before = model.embed.W.array.copy()
    with pytest.raises(CheckpointError, match="embed/W and out/W are one parameter here"):
        load_torch(weights(embed__weight=W, out__weight=W + 1), model)
    np.testing.assert_array_equal(model.embed.W.array, before)
    for names in (["embed"], ["out", "embed"], ["words"]):
        load_torch(weights(**{f"{name}__weight": W for name in names}), model)
        np.testing.assert_array_equal(model.embed.W.array, W.astype("f"))
        assert model.embed.W is model.out.W
        model.embed.W.array[...] = 0
    load_torch(weights(embed__weight=W, out__weight=W + 1), model, {"out": None})
    np.testing.assert_array_equal(model.out.W.array, W.astype("f"))


def test_a_shared_parameter_that_comes_twice_is_found_in_order():
    model = Tied()
    arrays = np.arange(6).reshape(3, 2), np.arange(6).reshape(3, 2)
    load_torch(weights(x1__weight=arrays[0], x2__weight=arrays[1]), model)
    assert model.out.W is model.embed.W
    np.testing.assert_array_equal(model.out.W.array, arrays[0])


def test_a_shared_parameter_is_written_once():
    torch = pytest.importorskip("torch")
    model, file = Tied(), io.BytesIO()
    save_torch(file, model)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    assert sorted(state) == ["embed.weight", "out.weight"]
    assert state["embed.weight"].data_ptr() == state["out.weight"].data_ptr()


def test_names_of_what_is_saved(tmp_path):
    torch = pytest.importorskip("torch")
    model = core.ChainDict(left=L.Linear(2, 2), right=core.Sequential(L.BatchNormalization(2)))
    path = tmp_path / "model.pt"
    table = save_torch(path, model, {"left": "net.one", "/right/0": "net.two"})
    assert str(table).splitlines()[1].split()[:2] == ["left/W", "net.one.weight"]
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    expected = [f"net.one.{n}" for n in names[:2]] + [f"net.two.{n}" for n in names]
    assert [*torch.load(path, weights_only=True)] == expected
    mapped = torch.load(path, weights_only=True, mmap=True)
    assert all([t.data_ptr() % 64 == 0 or not t.ndim for t in mapped.values()])
    save_torch(tmp_path / "model.safetensors", model, {"right": None})
    safe = pytest.importorskip("safetensors.numpy").load_file(tmp_path / "model.safetensors")
    assert sorted(safe) == ["left.bias", "left.weight"]
    again = core.ChainDict(left=L.Linear(2, 2), right=core.Sequential(L.BatchNormalization(2)))
    load_torch(path, again, {"net.one": "left", "net.two": "right.0"})
    np.testing.assert_array_equal(again["left"].W.array, model["left"].W.array)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_dtype_comes_back(dtype):
    torch = pytest.importorskip("torch")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    model, file = L.EmbedID(3, 2), io.BytesIO()
    kind = getattr(ml_dtypes, dtype, dtype)
    model.W.array = model.W.array.astype(kind)
    save_torch(file, model)
    file.seek(0)
    tensor = torch.load(file, weights_only=True)["weight"]
    assert tensor.dtype == getattr(torch, dtype)
    np.testing.assert_array_equal(tensor.double().numpy(), model.W.array.astype("d"))


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.pt"
    save_torch(path, L.Linear(2, 2))
    before = path.read_bytes()
    save_torch(path, model := L.Linear(2, 2))
    save_torch(tmp_path / "again.pt", model)
    assert path.read_bytes() == (tmp_path / "again.pt").read_bytes() != before
    before = path.read_bytes()
    odd = L.EmbedID(3, 2)
    odd.add_persistent("table", np.zeros(2, "u4"))
    two = core.ChainDict(a=L.EmbedID(2, 2), b=L.EmbedID(2, 2))
    table = load_torch(weights(weight=np.ones((3, 2))), L.EmbedID(3, 2))
    for refused, mapping, text in [
        (L.Linear(None, 2), None, "got /W without. Call the model once"),
        (odd, None, "got uint32 for 'table'"),
        (two, lambda name: "same", "got same twice"),
        (L.PReLU(), table[:0] + [table[0]._replace(entries=("x",))], "what the model lacks: x"),
    ]:
        mapping = type(table)(mapping) if isinstance(mapping, list) else mapping
        with pytest.raises(CheckpointError, match=text):
            save_torch(path, refused, mapping)
        assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.pt", "model.pt"]
