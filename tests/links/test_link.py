"""Link: registration, walking, gradients, copies, places, saving, looks."""

import copy
import io
import pickle
import sys

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.arrays import backend
from core.errors import HookError, MissingInit, RegistrationError
from core.testing.memory import load, saved


def host(x):
    return backend.to_host(x)


class Pair(core.Link):
    """Two parameters, one of them without a size until it is used, and a running count."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.x = core.Parameter(1, (2, 3))
            self.y = core.Parameter(core.initializers.One())
        self.add_persistent("count", np.zeros(2, "f"))
        self.note = "plain"

    def forward(self, z):
        if not self.y.is_initialized:
            self.y.initialize(z.shape)
        return self.x * z + self.y


# -- registering ------------------------------------------------------------------------------


def test_only_what_is_set_in_the_scope_is_registered():
    link = Pair()
    link.outside = core.Parameter(0, (2,))
    assert [name for name, _ in link.namedparams()] == ["/x", "/y"]
    assert link.x.name == "x" and link.outside.name is None
    assert not link.within_init_scope
    with link.init_scope():
        assert link.within_init_scope
        with link.init_scope():
            link.inner = core.Parameter(0, (2,))
        link.z = core.Parameter(0, (2,))
        link.number = 5
    assert [name for name, _ in link.namedparams()] == ["/x", "/y", "/inner", "/z"]


def test_a_parameter_outside_of_the_scope_is_told_of_where_the_others_are_trained():
    link = Pair()
    core.optimizers.SGD().setup(link)
    link.again = link.x
    link.fixed = core.Parameter(0, (2,), requires_grad=False)
    with pytest.warns(UserWarning, match=r"Pair\.late: this parameter is neither trained nor"):
        link.late = core.Parameter(0, (2,))
    assert [name for name, _ in link.namedparams()] == ["/x", "/y"]


def test_the_scope_closes_on_an_exception():
    link = Pair()
    with pytest.raises(ZeroDivisionError), link.init_scope():
        1 / 0  # noqa: B018
    assert not link.within_init_scope


def test_classic_registration():
    link = core.Link(W=(3, 2), b=((2,), "float64"), late=None, wide=(None, "d"))
    assert link.W.shape == (3, 2) and np.isnan(host(link.W.array)).all()
    assert link.b.dtype == "float64"
    assert not link.late.is_initialized and not link.wide.is_initialized
    link.wide.initialize((2,))
    assert link.wide.dtype == "float64"
    link.add_param("c", (2,), initializer=3)
    link.add_param("d", 4, np.float64, core.initializers.One())
    given = np.arange(6.0).reshape(2, 3)
    link.add_param("given", initializer=given)
    assert link.given.array is given
    assert link.c.array.tolist() == [3, 3] and link.d.dtype == "float64"
    assert [p.name for p in link.params()] == ["W", "b", "late", "wide", "c", "d", "given"]


@pytest.mark.parametrize("name", ["", "a/b", "/"])
def test_names_that_are_no_parts_of_paths_are_refused(name):
    chain = core.Chain(a=L.Linear(1, 1))
    for register in (
        lambda: chain.add_param(name, (1,)),
        lambda: chain.add_link(name, L.Linear(1, 1)),
        lambda: chain.add_persistent(name, 1),
    ):
        with pytest.raises(RegistrationError, match="expected a name without slashes"):
            register()
    assert set(saved(chain)) == {"a/W", "a/b"}


def test_registering_a_name_twice_is_refused():
    link = Pair()
    with pytest.raises(RegistrationError, match=r"Pair\.x: a parameter is registered"):
        link.add_param("x", (1,))
    with pytest.raises(RegistrationError, match=r"Pair\.count: a persistent value is registered"):
        link.add_persistent("count", 0)
    with pytest.raises(RegistrationError, match="exists already as an unregistered attribute"):
        link.add_param("note", (1,))
    with link.init_scope():
        link.z = core.Parameter(0, (1,))
        with pytest.raises(AttributeError, match="a parameter is registered"):
            link.z = core.Parameter(0, (1,))
    with link.init_scope(), pytest.raises(RegistrationError, match="attribute of the class"):
        link.copy = core.Parameter(0, (1,))
    assert link.x.shape == (2, 3)


@pytest.mark.parametrize("name", ["name", "_device", "_hooks", "_set_in_scope"])
def test_names_that_links_need_for_themselves_are_refused(name):
    chain = core.Chain(a=L.Linear(1, 1))
    for register in (
        lambda: chain.add_param(name, (1,)),
        lambda: chain.add_link(name, L.Linear(1, 1)),
        lambda: core.Chain(**{name: L.Linear(1, 1)}),
        lambda: core.Link(**{name: (1,)}),
    ):
        with pytest.raises(RegistrationError, match=f"{name} is an attribute of the class itself"):
            register()
    assert core.ChainList(chain.to_cpu())[0].name == "0"


def test_a_parameter_is_replaced_by_another():
    link = Pair()
    new = link.x = core.Parameter(0, (4,))
    assert next(link.params()) is new and new.name == "x"
    with link.init_scope():  # as in a subclass, after the __init__ of its base
        newer = link.x = core.Parameter(1, (4,))
    assert next(link.params()) is newer and len(list(link.params())) == 2
    for wrong in (3, core.Variable(np.zeros(4, "f")), Pair()):
        with pytest.raises(RegistrationError, match=r"Pair\.x is a parameter, which .* `del` the"):
            link.x = wrong
    assert link.x is newer


def test_a_parameter_takes_an_array_as_its_values():
    layer = L.Linear(None, 2)
    parameter, values = layer.W, np.ones((2, 3), "f")
    core.optimizers.SGD(1).setup(layer)
    layer.W = values
    assert layer.W is parameter and parameter.array is values and parameter.version == 1
    layer.cleargrads()
    core.functions.sum(layer(np.ones((1, 3), "f"))).backward()
    layer.W.update()
    assert layer.W.array.tolist() == [[0, 0, 0]] * 2


def test_a_link_does_without_a_parameter_in_whose_place_is_none():
    layer = L.Linear(2, 3, initialW=1)
    saved_with = saved(layer)
    layer.b = None
    x = np.ones((1, 2), "f")
    for duplicate in (layer, layer.copy(), layer.copy("copy"), pickle.loads(pickle.dumps(layer))):
        assert duplicate.b is None and duplicate(x).array.tolist() == [[2, 2, 2]]
        assert (
            [path for path, _ in duplicate.namedparams()]
            == ["/W"]
            == ["/" + k for k in saved(duplicate)]
        )
        assert "b" not in repr(duplicate).splitlines()[-1] and duplicate.to_cpu() is duplicate
        core.optimizers.SGD(0).setup(duplicate).update(
            lambda duplicate=duplicate: core.functions.sum(duplicate(x))
        )
    with pytest.raises(RegistrationError, match="which ndarray cannot replace"):
        layer.b = np.zeros(3, "f")
    layer.b = core.Parameter(0, (3,))
    assert [path for path, _ in layer.namedparams()] == ["/W", "/b"]
    assert saved(layer).keys() == saved_with.keys()


def test_a_constant_of_the_class_gives_way_to_a_parameter():
    class Scaled(core.Link):
        factor = 1.0

    link = Scaled()
    link.add_param("factor", (2,))
    assert [name for name, _ in link.namedparams()] == ["/factor"]


def test_attributes_can_be_deleted():
    link = Pair()
    del link.x, link.count
    assert [name for name, _ in link.namedparams()] == ["/y"]
    assert list(saved(link)) == ["y"]
    link.add_param("x", (1,))
    with pytest.raises(AttributeError):
        del link.nothing


def test_misuse_is_named():
    class Early(core.Link):
        def __init__(self):
            with self.init_scope():
                pass

    with pytest.raises(MissingInit, match=r"Early: super\(\).__init__\(\) has not been called"):
        Early()
    link = core.Link()
    with link.init_scope(), pytest.raises(RegistrationError, match="Derive Link from core.Chain"):
        link.child = Pair()
    with pytest.raises(RegistrationError, match="Did you mean 'note'"):
        Pair().register_persistent("noet")
    with pytest.raises(NotImplementedError, match="Link defines no forward"):
        core.Link()(1)


def test_register_persistent_takes_an_existing_attribute():
    link = core.Link()
    link.seen = 3
    link.register_persistent("seen")
    assert saved(link) == {"seen": 3}


# -- walking and gradients --------------------------------------------------------------------


def test_walking_can_leave_out_what_has_no_size():
    link = Pair()
    assert len(list(link.params())) == 2
    assert [p.name for p in link.params(include_uninit=False)] == ["x"]
    assert list(link.links()) == [link] and list(link.links(skipself=True)) == []
    assert list(link.namedlinks()) == [("/", link)] and list(link.children()) == []


def test_count_params_warns_of_the_uncounted():
    link = Pair()
    with pytest.warns(UserWarning, match="not counted.*: /y"):
        assert link.count_params() == 6
    link(np.ones((2, 3), "f"))
    assert link.count_params() == 12


def test_clearing_and_zeroing_gradients():
    link = Pair()
    link.x.grad = np.ones((2, 3), "f")
    link.cleargrads()
    assert link.x.grad is None
    link.zerograds()
    link.y.initialize((2,))
    np.testing.assert_array_equal(link.x.grad, np.zeros((2, 3)))
    np.testing.assert_array_equal(link.y.grad, np.zeros(2))


@pytest.mark.parametrize("place", ["numpy", "strict"])
def test_addgrads_and_copyparams_cross_backends(place):
    link, other = core.Link(x=(2,)), core.Link(x=(2,)).to_device(place)
    other.x.array = backend.get(place).asarray(np.array([1, 2], "f"))
    other.x.grad = backend.get(place).asarray(np.array([3, 4], "f"))
    for total in ([3, 4], [6, 8]):
        link.addgrads(other)
        np.testing.assert_array_equal(link.x.grad, total)
    version = link.x.version
    link.copyparams(other)
    np.testing.assert_array_equal(link.x.array, [1, 2])
    assert isinstance(link.x.array, np.ndarray) and link.x.version == version + 1


def test_a_parameter_without_an_array_gets_one_for_the_gradient_that_is_added():
    waiting, sized = core.Link(x=None), core.Link(x=(2,))
    waiting.addgrads(sized)  # which has none
    assert not waiting.x.is_initialized
    sized.x.grad = np.array([3, 4], "f")
    waiting.addgrads(sized)
    assert waiting.x.shape == (2,)
    np.testing.assert_array_equal(waiting.x.grad, [3, 4])


def test_of_two_parameters_the_one_without_an_array_gets_one():
    for sized in (0, 1):
        pair = [core.Parameter(3), core.Parameter(4)]
        pair[sized].initialize((2,))
        pair[0].copydata(pair[1])
        assert pair[0].array.tolist() == pair[1].array.tolist() == [4, 4]
    one, two = core.Parameter(3), core.Parameter(4)
    one.copydata(two)
    assert not one.is_initialized and not two.is_initialized


def test_copyparams_copies_persistents_and_sizes():
    one, two = Pair(), Pair()
    two(np.ones((2, 3), "f"))
    two.count[:] = 5
    one.copyparams(two, copy_persistent=False)
    assert one.y.shape == (2, 3) and one.count.tolist() == [0, 0]
    kept = one.count
    one.copyparams(two)
    assert one.count is kept and kept.tolist() == [5, 5]


@pytest.mark.parametrize(
    "last",
    [
        lambda: L.Linear(2, 4),
        lambda: L.Linear(2, 1),
        lambda: L.Linear(2, 3, nobias=True),
        lambda: L.BatchNormalization(3),
    ],
)
def test_nothing_is_copied_from_links_of_another_form(last):
    own, other = (core.Sequential(L.BatchNormalization(2), L.Linear(2, 3)) for _ in range(2))
    other[1] = last()
    for parameter in [*own.params(), *other.params()]:
        parameter.grad = parameter.array + 1
    before = {path: (p.array.copy(), p.grad.copy()) for path, p in own.namedparams()}
    for what in ("copyparams", "addgrads"):
        with pytest.raises(ValueError, match=f"Sequential.{what}: .* must have the same form"):
            getattr(own, what)(other)
    for path, parameter in own.namedparams():
        np.testing.assert_array_equal(parameter.array, before[path][0])
        np.testing.assert_array_equal(parameter.grad, before[path][1])


@pytest.mark.parametrize("value", [np.ones(1, "f"), np.ones(3, "f"), None])
def test_no_persistent_value_is_copied_from_one_of_another_shape(value):
    own, other = (core.Sequential(L.Linear(2, 2), L.BatchNormalization(2)) for _ in range(2))
    if value is None:
        del other[1].avg_mean
    else:
        other[1].avg_mean = value
    before = own[0].W.array.copy()
    with pytest.raises(ValueError, match=r"copyparams: .* /1/avg_mean.* the same form"):
        own.copyparams(other)
    np.testing.assert_array_equal(own[0].W.array, before)
    own.copyparams(other, copy_persistent=False)


@pytest.mark.parametrize("name", ["gamma", "avg_var"])
def test_nothing_is_copied_where_an_array_cannot_be_changed(name):
    own, other = (core.Sequential(L.Linear(2, 2), L.BatchNormalization(2)) for _ in range(2))
    fixed = np.ones(2, "f")
    fixed.flags.writeable = False
    if name == "gamma":
        own[1].gamma.array = fixed
    else:
        own[1].avg_var = fixed
    before = own[0].W.array.copy()
    with pytest.raises(ValueError, match=rf"copyparams: .* read-only .* as /1/{name}"):
        own.copyparams(other)
    np.testing.assert_array_equal(own[0].W.array, before)
    other.copyparams(own)


def test_links_of_another_form_are_refused():
    with pytest.raises(ValueError, match=r"has no /x.*same form"):
        core.Link(x=(1,)).copyparams(core.Link(y=(1,)))
    with pytest.raises(ValueError, match="has no /x"):
        core.Link(x=(1,)).addgrads(core.Link())


def test_enable_and_disable_update():
    link = Pair()
    assert not link.update_enabled
    optimizer = core.optimizers.SGD().setup(link)
    assert link.update_enabled
    link.disable_update()
    assert not link.update_enabled
    link.x.grad = np.ones((2, 3), "f")
    optimizer.update()
    assert (link.x.array == 1).all() and link.x.version == 0
    link.enable_update()
    assert link.x.name == "x"
    link.x.grad = np.ones((2, 3), "f")
    optimizer.update()
    assert (link.x.array < 1).all()


def test_frozen_parameters_cost_no_gradient():
    model = core.Sequential(L.Linear(2, 2), L.Linear(2, 2))
    model[0].disable_update()
    optimizer = core.optimizers.SGD().setup(model)
    x = np.ones((3, 2), "f")
    hidden = model[0](x)
    assert not hidden.requires_grad, "nothing below the trained layer is recorded"
    optimizer.update(lambda: F.sum(model(x)))
    assert model[0].W.grad is None and model[0].W.version == 0 and model[1].W.version == 1
    model[0].W.update_rule.enabled = True  # by its rule, not by enable_update
    for _ in range(2):
        optimizer.update(lambda: F.sum(model(x)))
    assert model[0].W.version == 1 and model[0].b.version == 0
    duplicate = copy.deepcopy(model)
    assert duplicate[0].b.frozen and not duplicate[0].b.requires_grad and not duplicate[0].W.frozen


def test_what_was_computed_before_parameters_were_frozen_leads_to_them_afterwards():
    def gradient(freezes):
        link = L.Linear(2, 2, initialW=0.5)
        y = F.sum(F.tanh(link(np.ones((3, 2), "f"))))
        if freezes:
            link.W.grad = np.ones((2, 2), "f")
            link.disable_update()
            link.W.array = link.W.array.astype("d").astype("f")
            y.backward()  # it is passed by, and gets nothing later on
            assert link.W.grad is None
            for made in (
                copy.copy(link.W),
                copy.deepcopy(link.W),
                pickle.loads(pickle.dumps(link.W)),
            ):
                made.frozen = False
                assert made.node is not link.W.node and made.node.get_variable() is made
            link.enable_update()
            assert link.W.grad is None and link.W.name == "W" and link.W.requires_grad
        y.backward()
        return link.W.grad

    np.testing.assert_array_equal(gradient(True), gradient(False))


def test_a_parameter_that_is_frozen_by_itself_stays_so():
    model = core.Sequential(L.Linear(2, 2), L.Linear(2, 2))
    optimizer = core.optimizers.SGD().setup(model)
    model[0].W.frozen = True
    for frozen in (True, True, False):
        model[0].W.frozen = frozen
        before = model[0].W.array.copy()
        optimizer.update(lambda: F.sum(model(np.ones((3, 2), "f"))))
        assert model[0].W.frozen is frozen
        assert np.array_equal(model[0].W.array, before) is frozen


def test_what_is_computed_while_parameters_are_frozen_never_leads_to_them():
    link = L.Linear(2, 2)
    x = core.Variable(np.ones((3, 2), "f"))
    link.disable_update()
    y = F.sum(link(x))
    link.enable_update()
    y.backward()
    assert link.W.grad is None and x.grad is not None
    assert core.grad([F.sum(link(x))], [link.W])[0].shape == (2, 2)


def test_what_never_wanted_a_gradient_stays_so():
    link = core.Link()
    with link.init_scope():
        link.fixed = core.Parameter(1, (2,), requires_grad=False)
    link.disable_update()
    link.enable_update()
    assert not link.fixed.requires_grad and not link.fixed.frozen


# -- copies -----------------------------------------------------------------------------------


def test_share_copies_share_arrays_and_not_gradients():
    link = Pair()
    link.x.grad = np.ones((2, 3), "f")
    duplicate = link.copy()
    assert (
        duplicate.x is not link.x and duplicate.x.array is link.x.array and duplicate.x.grad is None
    )
    assert duplicate.count is link.count and duplicate.x.name == "x"
    duplicate.add_param("more", (1,))
    assert not hasattr(link, "more") and len(list(link.params())) == 2


def test_real_copies_are_independent():
    link = Pair()
    duplicate = link.copy("copy")
    duplicate.x.array[...] = 9
    duplicate.count[...] = 9
    assert (link.x.array == 1).all() and (link.count == 0).all()


def test_init_copies_are_filled_anew():
    link = core.Link()
    with link.init_scope():
        link.x = core.Parameter(core.initializers.Normal(), (50,))
        link.given = core.Parameter(np.arange(3.0))
    duplicate = link.copy("init")
    assert not np.array_equal(duplicate.x.array, link.x.array)
    np.testing.assert_array_equal(duplicate.given.array, [0, 1, 2])
    with pytest.raises(ValueError, match="Did you mean 'share'"):
        link.copy("shared")


def test_repeat_makes_a_sequential_of_copies():
    link = core.Link(x=(2,))
    for mode, shared in [("init", False), ("copy", False), ("share", True)]:
        repeated = link.repeat(3, mode)
        assert isinstance(repeated, core.Sequential) and len(repeated) == 3
        assert all((one.x.array is link.x.array) is shared for one in repeated)
    assert len(link.repeat(0)) == 0


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_deep_copies_and_pickles(clone):
    link = Pair()
    core.optimizers.MomentumSGD().setup(link)
    link.x.grad = np.ones((2, 3), "f")
    link.x.update()
    duplicate = clone(link)
    np.testing.assert_array_equal(duplicate.x.array, link.x.array)
    np.testing.assert_array_equal(duplicate.x.update_rule.state["v"], link.x.update_rule.state["v"])
    assert duplicate.x.update_rule.t == 1 and not duplicate.y.is_initialized
    duplicate.x.update()
    assert not np.array_equal(duplicate.x.array, link.x.array)


# -- places -----------------------------------------------------------------------------------


def test_moving_takes_parameters_persistents_and_what_has_no_size():
    link = Pair()
    assert link.to_device("strict") is link
    assert str(link.device).startswith("strict") and link.xp is backend.get("strict").xp
    link.y.initialize((2,))
    for array in (link.x.array, link.y.array, link.count):
        assert backend.of(array).name == "strict"
    assert link.to_cpu() is link
    assert isinstance(link.y.array, np.ndarray) and isinstance(link.count, np.ndarray)
    chain = core.Chain(link=link)
    assert chain.to_device("strict") is chain and link.x.backend.name == "strict"
    assert chain.to_cpu() is chain and isinstance(link.x.array, np.ndarray)


def test_new_links_are_made_on_the_current_backend():
    with backend.using("strict"):
        link = Pair()
    assert link.x.backend.name == "strict"
    assert str(link.device).startswith("strict")


def test_an_unavailable_device_is_named():
    link = Pair()
    with pytest.raises(backend.BackendError, match="nowhere"):
        link.to_device("nowhere")
    if backend.available()["cuda"] is not None:
        with pytest.raises(backend.BackendUnavailable, match="cuda"):
            link.to_gpu()
    assert isinstance(link.x.array, np.ndarray)


# -- saving -----------------------------------------------------------------------------------


def test_saving_keeps_what_has_no_size_and_loading_gives_it_one():
    link = Pair()
    store = saved(link)
    assert store["y"] is None and set(store) == {"x", "y", "count"}
    link(np.ones((2, 3), "f"))
    link.x.array[...] = 4
    target = Pair()
    load(target, saved(link))
    assert target.y.shape == (2, 3) and (target.x.array == 4).all()
    assert target.x.version == 1, "loading changes a parameter in place"
    load(target, store)
    assert target.y.shape == (2, 3), "what was saved without a size leaves a size alone"


def test_npz_files(tmp_path):
    link = Pair()
    link(np.ones((2, 3), "f"))
    link.x.array[...] = 4
    core.serializers.save_npz(tmp_path / "link.npz", link)
    target = Pair()
    core.serializers.load_npz(tmp_path / "link.npz", target)
    np.testing.assert_array_equal(target.x.array, link.x.array)
    assert target.y.shape == (2, 3)


# -- calling ----------------------------------------------------------------------------------


class Recording(core.LinkHook):
    name = "Recording"

    def __init__(self):
        self.told = []

    def added(self, link):
        self.told.append(("added", link))

    def deleted(self, link):
        self.told.append(("deleted", link))

    def forward_preprocess(self, args):
        self.told.append(("pre", args.link, args.forward_name, args.args, args.kwargs, args.out))

    def forward_postprocess(self, args):
        self.told.append(("post", args.link, args.out))


class Twice(core.Link):
    def forward(self, x, by=2):
        return x * by


def test_hooks_of_one_link():
    link, other, hook = Twice(), Twice(), Recording()
    assert link.add_hook(hook) is link and link.local_link_hooks == {"Recording": hook}
    with pytest.raises(HookError, match="a hook named 'Recording' is here already"):
        link.add_hook(Recording())
    assert link(3, by=5) == 15 and other(3) == 6
    with pytest.raises(HookError, match="Did you mean 'Recording'"):
        link.delete_hook("Recoding")
    link.delete_hook("Recording")
    link(1)
    assert hook.told == [
        ("added", link),
        ("pre", link, "forward", (3,), {"by": 5}, None),
        ("post", link, 15),
        ("deleted", link),
    ]


def test_hooks_of_a_block_see_every_link():
    outer, hook = core.Sequential(Twice(), Twice()), Recording()
    with hook:
        with pytest.raises(HookError, match="no other hook named 'Recording'"), Recording():
            pass
        assert outer(1) == 4
    outer(1)
    seen = [entry[1] for entry in hook.told if entry[0] == "pre"]
    assert seen == [outer, *outer]
    assert hook.told[0] == ("added", None) and hook.told[-1] == ("deleted", None)


def test_a_hook_leaves_its_block_on_an_exception():
    with pytest.raises(ZeroDivisionError), Recording():
        1 / 0  # noqa: B018
    with Recording() as hook:
        assert hook.told == [("added", None)]


def test_debug_mode_knows_the_path_of_the_link():
    from core.graph.debug import link_path

    paths = []

    class Spy(core.Link):
        def forward(self, x):
            paths.append(link_path())
            return x

    model = core.Chain(body=core.Sequential(Spy(), Spy()))
    model.forward = lambda x: model.body(x)
    with core.using_config("debug", True):
        model(1)
    model(1)
    assert paths == ["/body/0", "/body/1", "", ""]


# -- looks ------------------------------------------------------------------------------------


def test_repr_is_a_tree():
    link = Pair()
    link.x.update_rule = core.UpdateRule()
    link.x.update_rule.enabled = False
    assert repr(link) == (
        "Pair: 6 parameters, 1 unsized\n"
        "├─ x      (2, 3)  float32 frozen      6\n"
        "├─ y      unsized                     ?\n"
        "└─ count  (2,)    float32 persistent"
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_models_are_printed_where_the_encoding_has_no_lines(monkeypatch, encoding):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    model = core.Sequential(L.Linear(2, 2), core.Chain(größe=L.Linear(2, 1)))
    shown = (repr(model), str(core.summary(model)))
    assert all(text.encode(encoding) for text in shown)
    assert ("`- 1: Chain" in shown[0]) == (encoding in ("ascii", "latin-1", "cp1252"))
    assert ("gr\\xf6\\xdfe" in shown[0]) == (encoding == "ascii")


def test_sizes_that_come_later_leave_the_dtype_as_it_was_meant():
    with core.using_config("dtype", "float64"):
        link = L.Linear(None, 2)
        duplicates = [link.copy(mode) for mode in ("share", "copy", "init")]
        duplicates += [copy.deepcopy(link), pickle.loads(pickle.dumps(link))]
    for each in (link, *duplicates):
        each.W.initialize((2, 3))
        assert each.W.dtype == each.b.dtype == np.float64
    typed = core.Parameter(core.initializers.Zero(dtype="float16"))
    typed.initialize((2,))
    assert typed.dtype == np.float16


@pytest.mark.parametrize(
    ("shape", "error"),
    [((3, -1), ValueError), ((3, 2.0), TypeError), (("3",), TypeError), (2.5, TypeError)],
)
def test_shapes_are_of_whole_numbers(shape, error):
    message = "Parameter: expected a shape of whole numbers from 0 on, got"
    with pytest.raises(error, match=message):
        core.Parameter(0, shape)
    with pytest.raises(error, match=message):
        core.Parameter(0).initialize(shape)
    assert core.Parameter(0, (np.int64(2), 0)).shape == (2, 0)
    assert core.Parameter(0, np.int32(2)).shape == (2,)


def test_sizes_of_layers_are_whole_numbers():
    for make in (lambda: L.Linear(3.0, 2), lambda: L.Linear("3", 2), lambda: L.Linear(3, 2.5)):
        with pytest.raises(TypeError, match="_size to be a whole number"):
            make()
    with pytest.raises(TypeError, match="out_channels"):
        L.Convolution2D(3, 2.5, 3)
    with pytest.raises(ValueError, match=r"Convolution2D: expected groups to be .* in \[1, inf\)"):
        L.Convolution2D(3, 2, 3, groups=0)


def test_a_classifier_is_called_with_inputs_and_labels():
    with pytest.raises(TypeError, match=r"got the labels alone. Call it .* as model\(x, t\)"):
        L.Classifier(L.Linear(3, 2))(np.ones((2, 3), "f"))


def test_what_is_no_hook_is_refused():
    with pytest.raises(TypeError, match="Linear.add_hook: expected a LinkHook, got function"):
        L.Linear(3, 2).add_hook(print_nothing)


def print_nothing(*_):
    pass


def test_only_some_links_are_made_from_parameters():
    with pytest.raises(NotImplementedError, match="Highway cannot be made from parameters"):
        L.Highway.from_params(np.ones((2, 2), "f"))


def test_persistent_values_of_any_kind_are_copied():
    one, other = core.Link(), core.Link()
    for link, value in ((one, {"a": [1]}), (other, {"a": [2]})):
        link.add_persistent("table", value)
        link.add_persistent("mean", np.full(2, value["a"][0], "f"))
        link.add_param("W")
    one.copyparams(other)
    assert one.table == {"a": [2]} and one.table is not other.table
    assert one.mean.tolist() == [2, 2] and one.mean is not other.mean
    assert not one.W.is_initialized
    one.mean[:] = 3
    one.copyparams(other, copy_persistent=False)
    assert one.mean.tolist() == [3, 3]


def test_a_link_moves_to_a_gpu_with_its_children(monkeypatch):
    """The referee's devices stand in for those of CUDA."""
    monkeypatch.setattr(backend, "GPU", "strict")
    model = core.Sequential(L.Linear(3, 2), core.Sequential(L.BatchNormalization(2)))
    for device, expected in ((None, "strict:0"), (1, "strict:1")):
        assert model.to_gpu(device) is model
        assert {str(p.device) for p in model.params()} == {expected}
        norm = model[1][0]
        assert str(backend.of(norm.avg_mean).device_of(norm.avg_mean)) == expected


def test_sequentials_are_added_to_sequentials_alone():
    with pytest.raises(TypeError, match="unsupported operand"):
        core.Sequential() + [L.Linear(3, 2)]


@pytest.mark.parametrize("key", [-1, 0, 1, "t"])
def test_where_a_classifier_finds_its_labels(key):
    model = classifier(key)
    x, t = np.ones((2, 3), "f"), np.array([0, 1], "i")
    args, kwargs = {
        -1: ((x, x, t), {}),
        0: ((t, x, x), {}),
        1: ((x, t, x), {}),
        "t": ((x, x), {"t": t}),
    }[key]
    assert model(*args, **kwargs).shape == () and model.accuracy is None
    assert (model.y.array == 1).all()
    model.release_graph()
    assert model.y.creator is None
    model.compute_accuracy = True
    model(*args, **kwargs)
    assert model.accuracy.array == 0.5


class Product(core.Link):
    def forward(self, x, scale):
        return core.as_variable(x) * scale


def classifier(key):
    model = L.Classifier(Product(), label_key=key)
    model.compute_accuracy = False
    return model


def test_labels_that_are_not_there():
    x = np.ones((2, 3), "f")
    with pytest.raises(ValueError, match="expected the labels as argument number 3, got 2"):
        L.Classifier(Product(), label_key=3)(x, x)
    with pytest.raises(ValueError, match="expected the labels as the argument 't', got s"):
        L.Classifier(Product(), label_key="t")(x, s=x)
    with pytest.raises(TypeError, match="label_key to be a whole number or a string, got float"):
        L.Classifier(Product(), label_key=1.5)


@pytest.mark.parametrize("name", ["forward", "__call__"])
@pytest.mark.parametrize("base", [core.Link, core.Chain])
def test_classes_after_link_may_compute(base, name):
    class Doubles:
        pass

    setattr(Doubles, name, lambda self, x, shift=0: 2 * x + shift)
    assert type("Doubling", (base, Doubles), {})()(3, shift=1) == 7
    with pytest.raises(NotImplementedError, match="Nothing defines no forward"):
        type("Nothing", (base,), {})()(3)
