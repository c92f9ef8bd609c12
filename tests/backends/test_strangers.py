"""Operations, links and optimizers on array libraries that plugrad was not written for.

They are the tensors of PyTorch (examples/plugin_torch), the arrays of JAX (examples/plugin_jax),
and those of tests/unchanging.py, which cannot be changed either. CI shows each operation few cases,
and JAX, which compiles anew for each shape, none. All that a profile asks for are drawn by

    export HYPOTHESIS_PROFILE=ci PLUGRAD_WHOLE_SWEEP=1
    python -m pytest tests/backends/test_strangers.py -k torch
"""

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from all_ops import CHECKED, KINDS, REFERENCES
from hypothesis import given
from hypothesis import strategies as st
from unchanging import UnchangingBackend

import core
from core.registry.lazy import resolve
from core.testing import check_backend, check_link, check_op, check_optimizer

TESTS = Path(__file__).parents[1]
EXAMPLES = TESTS.parent / "examples"
WHOLE = bool(os.environ.get("PLUGRAD_WHOLE_SWEEP"))
CASES = {"torch": 2, "unchanging": 1, "jax": 1}
NEEDED = {"torch": ("torch", "array_api_compat"), "jax": ("jax",)}
pytestmark = [pytest.mark.timeout(0)] * WHOLE  # JAX compiles for minutes
SECTIONS = {"compute": "kernels", "gradient": "gradient_kernels", "update_all": None}


def offered(name):
    """What the plugin in examples/ offers, registered with its kernels, as if it were installed."""
    plugin = import_module(f"plugrad_{name}")
    found = core.backend.register(resolve(plugin.register_backends()[name])())
    tables = plugin.register_kernels(name) if hasattr(plugin, "register_kernels") else {}
    for section, kernels in tables.items():
        table = getattr(found, SECTIONS[section] or f"{section}_kernels")
        table.update({whose: resolve(kernel) for whose, kernel in kernels.items()})
    return found


@pytest.fixture(scope="module", params=["torch", "unchanging", "jax"])
def stranger(request):
    """The name of a backend that is registered for the tests of this file."""
    name = request.param
    if name == "jax" and not WHOLE:
        pytest.skip("JAX compiles for each shape anew: set PLUGRAD_WHOLE_SWEEP=1")
    for library in NEEDED.get(name, ()):
        pytest.importorskip(library, reason=f"the backend {name!r} needs {library}")
    path = str(EXAMPLES / f"plugin_{name}")
    sys.path.insert(0, path)
    found = core.backend.register(UnchangingBackend()) if name == "unchanging" else offered(name)
    if name == "torch":
        import_module("torch").set_num_threads(1)
    yield name
    core.backend.unregister(found)
    sys.path.remove(path)


def test_the_contract(stranger):
    check_backend(stranger)


CHANGING = """
    AveragePooling2D ClassificationSummary ConstantPad Continued Convolution CooMatMul Deconvolution
    EmbedIDFunction GetItem Im2Col LogSoftmax MaxPooling2D NeighbourSum SetItem Shift Softmax Take
    TakeAlongAxis Windows
"""  # whose formulas, or gradients, put something into arrays


@pytest.mark.parametrize("op", CHECKED.values(), ids=CHECKED)
def test_op(op, stranger):
    name, cases = op.__name__, None if WHOLE else CASES[stranger]
    if stranger == "unchanging" and name not in CHANGING.split() and not WHOLE:
        pytest.skip("changes nothing: set PLUGRAD_WHOLE_SWEEP=1")
    check_op(op, REFERENCES.get(name), [stranger], kind=KINDS.get(name), examples=cases)


SEQUENCES = {"LSTMSequence": 4, "GRUSequence": 3, "TanhSequence": 1, "ReLUSequence": 1}


@given(
    name=st.sampled_from(list(SEQUENCES)),
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
    units=st.integers(1, 3),
    reverse=st.booleans(),
    missing=st.sets(st.integers(0, 2), max_size=1),
    seed=st.integers(0, 99),
)
def test_sequences_of_all_lengths_are_those_of_numpy(
    stranger, name, lengths, units, reverse, missing, seed
):
    """Few cases of an operation have several lengths, and gradients of some outputs alone."""
    rng, n, columns = np.random.default_rng(seed), len(lengths), SEQUENCES[name] * units
    lengths.sort(reverse=True)
    shorter = tuple([lengths[0] - own for own in lengths if own < lengths[0]])
    states = [(n, units)] * (2 if name == "LSTMSequence" else 1)
    shapes = [*states, (sum(lengths), columns), (columns, units)]
    shapes += [(columns,)] if name == "GRUSequence" else []
    grads = [rng.normal(size=shape) for shape in ((sum(lengths), units), *states)]
    inputs, found = [rng.normal(size=shape) for shape in shapes], []
    for place in ("numpy", stranger):
        send = core.get_device(place).send
        xs = [core.Variable(send(x.copy())) for x in inputs]
        ys = CHECKED[name](shorter=shorter, reverse=reverse).apply(xs)
        asked = [i for i in range(len(ys)) if i not in missing]
        gys = [core.Variable(send(grads[i].copy())) for i in asked]
        gxs = core.grad([ys[i] for i in asked], xs, gys)
        found.append([core.backend.to_host(each.array) for each in (*ys, *gxs, *xs, *gys)])
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


def module(path):
    """A file of tests, for the cases that it has."""
    spec = spec_from_file_location(f"cases_for_strangers_{path.stem}", path)
    made = sys.modules[spec.name] = module_from_spec(spec)  # where pickles look for its classes
    spec.loader.exec_module(made)
    return made


LINKS = module(TESTS / "links" / "test_every_link.py").TABLES
OPTIMIZERS = module(TESTS / "optimizers" / "test_bundled_optimizers.py").OPTIMIZERS
FEWER = ("test_bundled_links", "test_normalization_links")  # parameters and running statistics


@pytest.mark.parametrize("file", LINKS)
def test_links(file, stranger):
    if stranger == "unchanging" and file not in FEWER and not WHOLE:
        pytest.skip("has nothing that is changed: set PLUGRAD_WHOLE_SWEEP=1")
    cases = module(TESTS / "links" / f"{file}.py")
    for table in LINKS[file]:
        for case in getattr(cases, table).values():
            check_link(*case, backends=[stranger])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name, stranger):
    make, arguments, loop, settings = OPTIMIZERS[name]
    check_optimizer(
        lambda: make(**arguments),
        lambda theta, gradients: list(loop(theta, gradients, **settings)),
        [stranger],
    )


def test_lamb(stranger):
    check_optimizer(lambda: core.optimizers.LAMB(alpha=0.1), None, [stranger])


HOOKS = {
    "WeightDecay": (0.1,),
    "Lasso": (0.1,),
    "GradientClipping": (0.5,),
    "GradientHardClipping": (-0.1, 0.1),
    "GradientValueClipping": (0.1,),
    "GradientLARS": (0.01, 0.1),
    "ExponentialMovingAverage": (0.5,),
}


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_change_gradients_that_cannot_be_changed(name, stranger):
    found = []
    for place in ("numpy", stranger):
        x = core.Parameter(core.get_device(place).send(core.backend.host().asarray([3.0, -0.5])))
        model = core.Link()
        with model.init_scope():
            model.x = x
        optimizer = core.optimizers.SGD(lr=0.5).setup(model)
        hook = getattr(core.optimizer_hooks, name)(*HOOKS[name])
        optimizer.add_hook(hook)
        for _ in range(2):
            x.grad = x.backend.copy(x.array)
            optimizer.update()
        found.append(core.backend.to_host(x.array).tolist())
        if name == "ExponentialMovingAverage":
            with hook.applied():
                found[-1] += core.backend.to_host(x.array).tolist()
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[0] != [0.75, -0.125]


def test_memory_is_shared_with_others(stranger):
    """By DLPack, both ways, for Variables and parameters; of what is read-only there is a copy."""
    owner = core.backend.get(stranger)
    for make in (lambda a: core.Variable(a, requires_grad=False), core.Parameter):
        x = make(owner.asarray(np.arange(3.0)))
        with core.no_backprop_mode():
            there = np.from_dlpack(x)
        assert there.flags.writeable is owner.mutable
        xp = x.__array_namespace__()
        back = xp.from_dlpack(there)
        assert back.backend is owner and back.requires_grad is False
        again = np.from_dlpack(back)
        np.testing.assert_array_equal(again, there)
        assert (again.ctypes.data == there.ctypes.data) is owner.mutable
        there.flags.writeable = False
        with pytest.raises(BufferError, match="one that is read-only; leave copy=False out"):
            xp.from_dlpack(there, copy=False)
        for taken in (there, core.Variable(there, requires_grad=False)):
            copied = np.from_dlpack(xp.from_dlpack(taken))
            np.testing.assert_array_equal(copied, there)
            assert copied.ctypes.data != there.ctypes.data
