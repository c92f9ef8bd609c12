"""What the core does for a backend that has words, looks at arrays, or cannot change them."""

import numpy as np
import pytest
from unchanging import UnchangingBackend

import core
import core.functions as F
import core.links as L
from benchmarks.work import Work
from benchmarks.workloads import WORKLOADS
from core.arrays.backend import Backend, Device
from core.communicators import create_communicator
from core.errors import BackendError
from core.optimizer.cell import Cell
from plugins.communicators.extensions import AllreducePersistent


class Worded(UnchangingBackend):
    """Two places with names; arrays of no elements are refused, others may be exchanged."""

    name = "worded"
    names_devices = True

    def devices(self):
        return [Device(self, "near"), Device(self, "far:0")]

    def taken(self, array):
        if array.shape == (0,):
            raise BackendError("worded: nothing is no array")
        return self.asarray([7.0]) if array.shape == (1,) else array


@pytest.fixture
def registered():
    added = [core.backend.register(made()) for made in (UnchangingBackend,)]
    yield added[0]
    for each in added:
        core.backend.unregister(each)


@pytest.fixture
def worded():
    found = core.backend.register(Worded())
    yield found
    core.backend.unregister(found)


def test_devices_may_have_words(worded):
    assert str(core.get_device("worded")) == "worded:near"
    assert core.get_device("worded:far:0").id == "far:0"
    with pytest.raises(BackendError, match="no device worded:away; it has worded:near, worded:far"):
        core.get_device("worded:away")
    with pytest.raises(BackendError, match="expected a name such as 'numpy' or 'cuda:1'"):
        core.get_device("numpy:far")


ENTRANCES = {
    "Variable": lambda array, x: core.Variable(array).array,
    "as_variable": lambda array, x: core.as_variable(array).array,
    "an operand": lambda array, x: (x * 0 + array).array,
    "an argument": lambda array, x: F.identity(array).array,
    "Parameter": lambda array, x: core.Parameter(array).array,
    "x.array": lambda array, x: setattr(x, "array", array) or x.array,
}


@pytest.mark.parametrize("way", ENTRANCES)
def test_a_backend_looks_at_all_arrays_that_users_bring(worded, way):
    enter = ENTRANCES[way]
    x = core.Variable(worded.asarray([3.0, 3.0]))
    one = core.Variable(worded.asarray([3.0, 3.0]))
    with pytest.raises(BackendError, match="nothing is no array"):
        enter(worded.asarray(np.zeros(0)), x)
    assert 7.0 in enter(worded.asarray([1.0]), one)


def test_arrays_that_never_change_are_exchanged(registered):
    x = core.Variable(registered.asarray([0.0, 0.0, 0.0]), requires_grad=False)
    before = x.array
    x[1] = 5.0
    assert x.array.tolist() == [0, 5, 0]
    core.backend.copyto(x, np.ones(3))
    assert x.array.tolist() == [1, 1, 1] and before.tolist() == [0, 0, 0]
    with pytest.raises(BackendError, match="'unchanging' cannot be changed. Give a Variable"):
        core.backend.copyto(before, 1.0)


def test_running_statistics_that_cannot_be_moved_are_refused(registered):
    x = registered.asarray(np.ones((2, 1)))
    one = registered.asarray(np.ones(1))
    with pytest.raises(TypeError, match="arrays of unchanging cannot be changed in place. Give"):
        F.batch_normalization(x, one, one, running_mean=one)
    mean = core.Variable(one, requires_grad=False)
    F.batch_normalization(x * 3, one, one, running_mean=mean, decay=0.5)
    assert mean.array.tolist() == [2.0] and one.tolist() == [1.0]


def test_copies_of_models_and_their_parameters(registered):
    with core.using("unchanging"):
        model, other = L.BatchNormalization(2), L.BatchNormalization(2)
    model(registered.asarray([[1.0, 2.0], [3.0, 6.0]]).astype("f"))
    other.copyparams(model)
    assert other.avg_mean.tolist() == model.avg_mean.tolist() != [0, 0]
    other.gamma.copydata(core.Variable(registered.asarray(np.full(2, 4, "f"))))
    assert other.gamma.array.tolist() == [4, 4]


@pytest.mark.parametrize("name", ["numpy", "strict"])
def test_no_two_gradients_share_memory(name):
    home = core.backend.get(name)
    x, y = (core.Variable(home.asarray(np.zeros((2, 2)))) for _ in range(2))
    F.sum((x + F.transpose(y)) * home.asarray(np.arange(4.0).reshape(2, 2))).backward()
    before = home.to_host(y.grad).copy()
    x.grad[...] = 9.0
    assert np.array_equal(home.to_host(y.grad), before)


MOVES = {
    "to_device": lambda x, place: core.Variable(x).to_device(place).array,
    "send": lambda x, place: core.get_device(place).send(x),
    "copy": lambda x, place: F.copy(core.Variable(x), place).array,
}


@pytest.mark.parametrize("way", MOVES)
@pytest.mark.parametrize("places", [("strict", "numpy"), ("numpy", "strict")])
def test_what_is_moved_shares_no_memory_with_where_it_was(places, way):
    here, there = places
    x = core.backend.get(here).asarray(np.zeros(3))
    moved = MOVES[way](x, there)
    moved[...] = 9.0
    assert core.backend.to_host(x).tolist() == [0, 0, 0]


@pytest.mark.parametrize("workload", ["chain-backward"])
def test_benchmarks_run_on_any_backend(workload):
    w = WORKLOADS[workload]
    values = [Work("plugrad", way, 1, w).values(2) for way in ("default", "on strict")]
    assert values[0] == pytest.approx(values[1], rel=1e-4)


class Wide(core.UpdateRule):
    """Multiplies by numbers of NumPy's, which promote what they are multiplied with."""

    def step(self, xp, param, grad):
        param -= np.float64(0.5) * grad


def test_a_parameter_keeps_its_dtype_and_shape(registered):
    p = core.Parameter(registered.asarray(np.ones((2, 1), "f")))
    p.grad, p.update_rule = registered.asarray(np.ones((2, 1), "f")), Wide()
    p.update()
    assert p.dtype == np.float32 and p.array.tolist() == [[0.5], [0.5]]
    cell = Cell(registered, p.array)
    with pytest.raises(ValueError, match="broadcast"):
        cell += registered.asarray(np.ones((2, 2), "f"))


def test_communicators_give_arrays_that_never_change_others(registered):
    comm = create_communicator("local")
    comm.rank, comm.size = 1, 2  # what rank 0 has comes from here

    def asked(obj, root=0):
        return np.full_like(obj, 3) if obj is not None else np.full((1, 1), 3, "f")

    comm.bcast_obj, comm.compare_models = asked, lambda *args: None
    model = L.Linear(1, 1, nobias=True)
    model.to_device(registered.default_device())
    comm.bcast_data(model)
    assert model.W.array.tolist() == [[3]]
    layer = L.BatchNormalization(2)
    layer.to_device(registered.default_device())
    AllreducePersistent(layer, create_communicator("local"))()
    assert type(layer.avg_var) is registered.array_type


def test_gradients_show_no_element_twice_where_strides_tell(monkeypatch):
    """As in CuPy, whose arrays can be written to after they have been broadcast."""
    host = core.backend.get("numpy")
    monkeypatch.setattr(type(host), "writable", Backend.writable)
    x = core.Variable(np.ones((3, 1), "f"))
    for array in (x.array, x.array[None], np.ones((3, 0))):
        assert host.writable(array)
    (2 * F.sum(x)).backward()
    assert 0 not in x.grad.strides and x.grad.tolist() == [[2]] * 3


def test_the_dtypes_of_a_library_are_asked_for_once(registered, monkeypatch):
    """What a namespace tells of itself may be made anew whenever it is asked for."""
    found = {name: registered.dtype(name) for name in registered.dtypes()}
    monkeypatch.setattr(registered, "dtypes", None)
    assert {name: registered.dtype(name) for name in found} == found
