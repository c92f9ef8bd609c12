"""Chain, ChainList and Sequential: children by name and by number."""

import copy
import pickle
import sys

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import RegistrationError
from core.testing.memory import load, saved


class Net(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, 3)
            self.body = core.ChainList(L.Linear(3, 3), L.Linear(3, 3))
            self.scale = core.Parameter(1, (3,))

    def forward(self, x):
        h = self.l1(x)
        for layer in self.body:
            h = layer(h)
        return h * self.scale


X = np.ones((2, 2), "f")
PATHS = ["/scale", "/l1/W", "/l1/b", "/body/0/W", "/body/0/b", "/body/1/W", "/body/1/b"]


def test_paths_go_through_the_tree():
    net = Net()
    assert [path for path, _ in net.namedparams()] == PATHS
    assert [path for path, _ in net.namedlinks()] == ["/", "/l1", "/body", "/body/0", "/body/1"]
    assert [link.name for link in net.links()] == [None, "l1", "body", "0", "1"]
    assert list(net.children()) == [net["l1"], net["body"]]
    assert {f"/{key}" for key in saved(net)} == set(PATHS)


def test_children_by_keyword_and_add_link():
    chain = core.Chain(a=core.Link(x=(1,)))
    chain.add_link("b", core.Link(y=(2,)))
    assert [path for path, _ in chain.namedparams()] == ["/a/x", "/b/y"]
    assert chain.b.name == "b"


def test_children_set_outside_the_scope_stay_outside_or_replace():
    net = Net()
    net.extra = L.Linear(1, 1)
    assert "extra" not in [name for name, _ in net._named_children()]
    new = net.l1 = L.Linear(2, 3, nobias=True)
    assert net["l1"] is new and new.name == "l1" and net.extra.name is None
    assert "/l1/b" not in [path for path, _ in net.namedparams()]
    with pytest.raises(TypeError, match="expected a link as its child, got int"):
        net.l1 = 3


@pytest.mark.parametrize("stand_in", [abs, lambda x: x, None])
def test_what_is_no_link_may_stand_in_for_a_child(stand_in):
    net, without = Net(), [path for path in PATHS if not path.startswith("/l1/")]
    net.l1 = stand_in
    for chain in (net, net.copy()):
        assert chain.l1 is stand_in and chain["l1"] is stand_in
        assert [path for path, _ in chain.namedparams()] == without
    net.l1 = L.Linear(1, 1)
    assert net.l1.name == "l1"
    assert sorted(path for path, _ in net.namedparams()) == sorted(PATHS)
    with pytest.raises(TypeError, match="expected a link as its child, got type"):
        net.l1 = L.Linear


def test_registering_twice_is_refused():
    net = Net()
    with pytest.raises(RegistrationError, match=r"Net\.l1: a link is registered under this name"):
        net.add_link("l1", L.Linear(1, 1))
    with net.init_scope(), pytest.raises(RegistrationError, match="a link is registered"):
        net.l1 = L.Linear(1, 1)
    with net.init_scope(), pytest.raises(RegistrationError, match="a link is registered"):
        net.l1 = core.Parameter(0, (1,))
    with pytest.raises(RegistrationError, match=r"this Linear is registered as 'l1' already"):
        net.add_link("again", net.l1)
    with pytest.raises(RegistrationError, match="its child number 0 already"):
        net.body.add_link(net.body[0])
    with pytest.raises(RegistrationError, match="attribute of the class"):
        net.add_link("params", L.Linear(1, 1))
    assert [path for path, _ in net.namedparams()] == PATHS


def test_a_link_is_no_part_of_itself():
    net = Net()
    with pytest.raises(RegistrationError, match="a part of itself"):
        net.add_link("me", net)
    with pytest.raises(RegistrationError, match="a part of itself"):
        net.body.append(net.body)
    outer = core.Chain(net=net)
    with pytest.raises(RegistrationError, match="a part of itself"):
        net.add_link("outer", outer)
    with pytest.raises(TypeError, match="expected a link"):
        core.Chain(a=3)


def test_children_are_deleted():
    net = Net()
    del net.l1
    assert [path for path, _ in net.namedparams()][0] == "/scale"
    assert "/l1/W" not in [path for path, _ in net.namedparams()]
    with pytest.raises(RegistrationError, match="Did you mean 'body'"):
        net["bdy"]


def test_shared_parameters_count_once():
    shared = L.Linear(2, 2)
    model = core.Chain(a=core.Chain(x=shared), b=core.Chain(y=shared))
    assert [path for path, _ in model.namedparams()] == ["/a/x/W", "/a/x/b"]
    assert model.count_params() == 6
    optimizer = core.optimizers.SGD(lr=1.0).setup(model)
    for p in model.params():
        p.grad = np.ones(p.shape, "f")
    before = shared.b.array.copy()
    optimizer.update()
    np.testing.assert_allclose(shared.b.array, before - 1)


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_copies_reach_all_children(mode):
    net = Net()
    duplicate = net.copy(mode)
    assert [path for path, _ in duplicate.namedparams()] == PATHS
    assert duplicate.name is None and [link.name for link in duplicate.links()][1:] == [
        "l1",
        "body",
        "0",
        "1",
    ]
    assert duplicate.body is not net.body and duplicate.body[0] is not net.body[0]
    assert (duplicate.body[0].W.array is net.body[0].W.array) == (mode == "share")
    duplicate.body.append(L.Linear(3, 3))
    duplicate.add_link("more", L.Linear(3, 3))
    assert [path for path, _ in net.namedparams()] == PATHS


def grown(link):
    """A link, with one more child."""
    new = L.Linear(1, 1)
    if isinstance(link, core.Chain):
        with link.init_scope():
            link.new = new
    elif isinstance(link, core.ChainDict):
        link["new"] = new
    else:
        link.append(new)
    return new


@pytest.mark.parametrize(
    "make",
    [
        Net,
        lambda: core.ChainList(L.Linear(1, 1)),
        lambda: core.Sequential(L.Linear(1, 1), abs),
        lambda: core.ChainDict({"a": L.Linear(1, 1)}),
    ],
)
def test_a_shallow_copy_has_the_same_parts_in_tables_of_its_own(make):
    net = make()
    net.add_persistent("mean", np.zeros(2))
    params, children = list(net.params()), list(net.children())
    other = copy.copy(net)
    assert type(other) is type(net) and other.mean is net.mean
    for mine, its in zip(net.params(), other.params(), strict=True):
        assert mine is its
    new = grown(other)
    other.add_param("p", (2,))
    other.add_persistent("n", 1)
    assert [id(child) for child in other.children()] == [*map(id, children), id(new)]
    assert [id(child) for child in net.children()] == [*map(id, children)]
    assert [*map(id, net.params())] == [*map(id, params)]
    assert "n" not in saved(net) and "n" in saved(other)
    grown(net)
    assert new in list(other.children()) and new not in list(net.children())


def instructions(function, *args):
    """How many instructions Python runs for a call."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return count


def test_links_of_a_long_list_are_not_compared_with_each_other():
    short, long = ([core.Link() for _ in range(n)] for n in (100, 400))
    once = instructions(core.ChainList().extend, short)
    assert instructions(core.ChainList().extend, long) < 5 * once


@pytest.mark.parametrize(
    "clone",
    [
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: x.copy("share"),
        lambda x: x.copy("copy"),
        lambda x: x.copy("init"),
    ],
)
@pytest.mark.parametrize("place", [core.Sequential, core.ChainList, lambda x: core.ChainDict(x=x)])
def test_clones_keep_sharing_inside(clone, place):
    shared, tied = L.Linear(2, 2), L.Linear(2, 2)
    tied.W = shared.W
    model = core.Chain(a=core.Chain(x=shared), b=place(shared), c=tied)
    duplicate = clone(model)
    assert [duplicate.a.x] == [*duplicate.b.children()] and duplicate.a.x is not shared
    assert duplicate.c.W is duplicate.a.x.W is not shared.W
    assert [*dict(duplicate.namedparams())] == [*dict(model.namedparams())]


class Aliased(core.Chain):
    """A chain that applies its children by attributes of its own."""

    def __init__(self):
        super().__init__(a=L.Linear(2, 2), b=core.ChainList(L.Linear(2, 2)))
        self.layers = [self.a, self.b[0]]
        self.layers.append(self.layers)
        self.named = {"a": self.a, "deep": ([self.b[0]],)}
        self.weights = (self.a.W,)
        self.last = self.b
        self.data = [1, 2]
        self.a.above = self
        self.other = L.Linear(2, 2)

    def forward(self, x):
        return self.layers[1](self.layers[0](x))


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_attributes_of_copies_hold_what_is_theirs(mode):
    model = Aliased()
    duplicate = model.copy(mode)
    assert duplicate.layers[:2] == [duplicate.a, duplicate.b[0]] != model.layers[:2]
    assert duplicate.named == {"a": duplicate.a, "deep": ([duplicate.b[0]],)}
    assert duplicate.weights[0] is duplicate.a.W is not model.a.W
    assert duplicate.last is duplicate.b and duplicate.a.above is duplicate
    assert (duplicate.data is model.data) == (duplicate.other is model.other) == (mode == "share")
    assert model.layers[0] is model.a and model.copy().a.copy().above is not model
    F.sum(duplicate(np.ones((1, 2), "f"))).backward()
    assert all(parameter.grad is None for parameter in model.params())
    assert all(parameter.grad is not None for parameter in duplicate.params())


def test_children_are_copied_by_the_copy_of_their_class():
    class Counted(core.Chain):
        copies = 0

        def copy(self, mode="share"):
            clone = super().copy(mode)
            clone.copies += 1
            return clone

    duplicate = core.Sequential(Counted(), core.Chain(inner=Counted())).copy().copy()
    assert duplicate[0].copies == duplicate[1].inner.copies == 2


def test_gradients_of_a_shared_copy_are_those_of_all_places():
    model = core.Chain(table=L.EmbedID(5, 3), output=L.Linear(3, 5, nobias=True))
    model.output.W = model.table.W
    duplicate = model.copy()
    for link in (model, duplicate):
        F.sum(link.output(link.table(np.arange(5)))).backward()
    expected = model.table.W.grad.copy()
    model.cleargrads()
    model.addgrads(duplicate)
    np.testing.assert_array_equal(model.table.W.grad, expected)


def test_chain_list_is_a_list():
    a, b, c, d = (core.Link(x=(1,)) for _ in range(4))
    chain = core.ChainList(a, b)
    chain.append(c)
    chain.insert(0, d)
    assert [*chain] == [d, a, b, c] and len(chain) == 4 and chain[-1] is c
    assert chain[1:3] == [a, b]
    del chain[0]
    assert [link.name for link in chain] == ["0", "1", "2"]
    chain[0] = d
    chain.extend([a])
    assert [*chain] == [d, b, c, a]
    assert [path for path, _ in chain.namedparams()] == [f"/{i}/x" for i in range(4)]
    with pytest.raises(TypeError, match="expected a link"):
        chain[0] = abs
    assert chain[0] is d
    with chain.init_scope(), pytest.raises(RegistrationError, match="have numbers, not names"):
        chain.last = core.Link()
    with chain.init_scope():
        chain.w = core.Parameter(0, (1,))
    assert next(chain.namedparams())[0] == "/w"


def test_chain_list_does_all_that_lists_do():
    first, second, third = (L.Linear(n, n + 1) for n in range(1, 4))
    chain = core.ChainList(first, second, third)
    chain.reverse()
    assert list(chain) == [third, second, first]
    assert [path for path, _ in chain.namedlinks(True)] == ["/0", "/1", "/2"]
    assert [link.name for link in chain] == ["0", "1", "2"]
    assert list(reversed(chain)) == [first, second, third]
    assert chain.index(first) == 2
    assert chain.count(first) == 1
    assert first in chain
    assert chain.pop(0) is third
    assert second.name == "0"
    chain.remove(second)
    with pytest.raises(ValueError):
        chain.remove(second)
    chain += [third]
    assert list(chain) == [first, third]
    chain.clear()
    assert len(chain) == 0


def test_gradients_flow_and_grads_add_up():
    net, other = Net(), Net()
    for each in (net, other):
        core.functions.sum(each(X)).backward()
    expected = {p: v.grad + dict(other.namedparams())[p].grad for p, v in net.namedparams()}
    net.addgrads(other)
    for path, param in net.namedparams():
        np.testing.assert_array_equal(param.grad, expected[path])


def test_saving_reaches_all_children():
    net, target = Net(), Net()
    load(target, saved(net))
    np.testing.assert_array_equal(target(X).array, net(X).array)


# -- Sequential -------------------------------------------------------------------------------


def double(x):
    return 2 * x


def test_sequential_applies_links_and_functions_in_order():
    first, last = L.Linear(2, 3, initialW=1), L.Linear(3, 1, initialW=1)
    model = core.Sequential(first, double, last)
    np.testing.assert_array_equal(model(X).array, [[12], [12]])
    assert [path for path, _ in model.namedparams()] == ["/0/W", "/0/b", "/1/W", "/1/b"]
    assert core.Sequential()(3) == 3


def test_sequential_passes_tuples_as_arguments():
    model = core.Sequential(lambda x, y: (x + y, x - y), lambda a, b: a * b)
    assert model(5, 3) == 16
    assert core.Sequential(lambda x: (x, x))(1) == (1, 1)


def test_sequential_is_a_list_of_layers():
    a, b = core.Link(x=(1,)), core.Link(x=(1,))
    model = core.Sequential(a, abs)
    model.append(double)
    model.insert(1, b)
    assert [*model] == [a, b, abs, double] and abs in model and len(model) == 4
    assert [*reversed(model)] == [double, abs, b, a]
    assert model.index(abs) == 2 and model.count(abs) == 1
    assert isinstance(model[1:3], core.Sequential) and [*model[1:3]] == [b, abs]
    assert model.pop() is double
    model.remove(abs)
    model[0] = double
    assert [*model] == [double, b] and [path for path, _ in model.namedparams()] == ["/0/x"]
    joined = model + core.Sequential(a)
    assert [*joined] == [double, b, a]
    model += [abs, abs]
    assert model.count_by_layer_type("abs") == 2 and model.count_by_layer_type("Link") == 1
    model.remove_by_layer_type("abs")
    with pytest.raises(ValueError, match="Did you mean 'Link'"):
        model.remove_by_layer_type("Lnik")
    with pytest.raises(ValueError, match="not among the layers"):
        model.index(abs)
    with pytest.raises(TypeError, match="links and callables, got int"):
        model.append(3)
    model.reverse()
    assert [*model] == [b, double]
    model.clear()
    assert len(model) == 0 and not list(model.children())


def test_sequential_flattens_and_repeats():
    inner = core.Sequential(L.Linear(2, 2), abs)
    model = core.Sequential(inner, double, core.Sequential(core.Sequential(abs)))
    assert [*model.flatten()] == [inner[0], abs, double, abs]
    repeated = inner.repeat(3)
    assert len(repeated) == 6 and repeated[1] is abs
    assert len({id(link) for link in repeated.children()}) == 3
    assert repeated[0].W.array is not inner[0].W.array
    shared = inner.repeat(2, mode="share")
    assert shared[0].W.array is shared[2].W.array is inner[0].W.array
    with pytest.raises(ValueError, match="Did you mean 'copy'"):
        inner.repeat(2, "cpoy")


def test_one_link_at_several_places_is_one_child():
    link = L.Linear(2, 2)
    model = core.Sequential(link, abs, link)
    assert model.count_params() == 6 and len(list(model.children())) == 1
    duplicate = model.copy()
    assert duplicate[0] is duplicate[2] and duplicate[0] is not link
    assert copy.deepcopy(model)[0] is not link


def test_sequential_pickles_and_saves():
    model = core.Sequential(L.Linear(2, 2), double)
    duplicate = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(duplicate(X).array, model(X).array)
    target = core.Sequential(L.Linear(2), double)
    load(target, saved(model))
    np.testing.assert_array_equal(target(X).array, model(X).array)


def test_repr_of_a_tree():
    model = core.Sequential(L.Linear(2, 10), abs, core.Chain(out=L.Linear(1)))
    assert repr(model) == (
        "Sequential: 31 parameters, 1 unsized\n"
        "├─ 0: Linear(in_size=2, out_size=10)            30\n"
        "│  ├─ W  (10, 2) float32                        20\n"
        "│  └─ b  (10,)   float32                        10\n"
        "├─ abs\n"
        "└─ 1: Chain                                  1 + ?\n"
        "   └─ out: Linear(in_size=None, out_size=1)  1 + ?\n"
        "      ├─ W  unsized                              ?\n"
        "      └─ b  (1,)    float32                      1"
    )


def test_a_slice_leaves_the_numbers_that_the_tree_shows():
    model = core.Sequential(*[L.Linear(1, 1) for _ in range(3)])
    before = repr(model), model._repr_html_()
    assert "0: Linear" in repr(model[2:])
    assert (repr(model), model._repr_html_()) == before


def test_a_class_is_no_layer():
    model = core.Sequential(L.Linear(2, 3))
    for place in (core.Sequential, model.append, lambda layer: model.insert(0, layer)):
        with pytest.raises(TypeError, match=r"the class Linear. Make one of it: Linear\(...\)"):
            place(L.Linear)
    assert len(model) == len(list(model.params())) // 2 == 1
