"""PyTorch beside plugrad: arrays shared, modules as functions, links as modules."""

import copy
import io
import pickle

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)


def test_arrays_are_shared_both_ways():
    x = core.as_variable(np.arange(6, dtype="f").reshape(2, 3))
    there = torch.from_dlpack(x)
    there[0, 0] = 7
    assert x.array[0, 0] == 7
    link = L.Linear(2, 2)
    with pytest.raises(TypeError, match="silently lose"):
        torch.from_dlpack(link.W)
    with core.no_backprop_mode():
        assert torch.from_dlpack(link.W).data_ptr() == link.W.array.ctypes.data
    labels = core.Variable(np.arange(3))  # integers have no gradient to lose
    assert torch.from_dlpack(labels).tolist() == np.asarray(labels).tolist() == [0, 1, 2]
    tensor = torch.ones(3)
    here = x.__array_namespace__().from_dlpack(tensor)
    assert isinstance(here, core.Variable) and here.array.ctypes.data == tensor.data_ptr()


def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def test_a_module_as_a_function():
    net = module().double()
    function = F.from_torch(net)
    x = RNG.normal(size=(5, 3))
    core.testing.gradient_check.check_backward(function, (x,), RNG.normal(size=(5, 2)), dtype="d")
    v = core.Variable(x)
    net.zero_grad()
    F.sum(F.square(function(v * 2))).backward()
    t = torch.tensor(x, requires_grad=True)
    own = [p.grad.clone() for p in net.parameters()]
    net.zero_grad()
    (net(t * 2) ** 2).sum().backward()
    np.testing.assert_allclose(v.grad, t.grad.numpy(), rtol=1e-10)
    for mine, parameter in zip(own, net.parameters(), strict=True):
        np.testing.assert_allclose(mine, parameter.grad, rtol=1e-10)


@pytest.mark.parametrize("wrapped", [False, True], ids=["array", "Variable"])
def test_parameters_get_gradients_whatever_the_inputs_need(wrapped):
    """As of data in the first layer, and of numbers of words."""
    table = torch.nn.Embedding(4, 3).double()
    i = np.array([1, 3, 1])
    head = core.Variable(RNG.normal(size=3))
    F.sum(F.from_torch(table)(core.Variable(i) if wrapped else i) * head).backward()
    np.testing.assert_array_equal(table.weight.grad, np.outer([0, 2, 0, 1], head.array))
    x = np.ones((2, 3))
    net = torch.nn.Linear(3, 2).double()
    F.sum(F.from_torch(net)(core.Variable(x, requires_grad=False) if wrapped else x)).backward()
    np.testing.assert_array_equal(net.weight.grad, np.full((2, 3), 2))
    assert not F.from_torch(net.requires_grad_(False))(x).requires_grad
    assert not F.from_torch(torch.sin)(x).requires_grad
    with core.no_backprop_mode():
        assert F.from_torch(table)(i).creator is None


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_asked_for_here_whatever_pytorchs_mode(mode):
    x, net = core.Variable(np.ones((2, 3))), torch.nn.Linear(3, 2).double()
    with mode():
        F.sum(F.from_torch(net)(x)).backward()
    np.testing.assert_allclose(x.grad, 2 * [net.weight.detach().numpy().sum(0)])
    np.testing.assert_array_equal(net.weight.grad, np.full((2, 3), 2))


def test_it_takes_an_array():
    with pytest.raises(TypeError, match="from_torch: expected one array at least, got none"):
        F.from_torch(lambda: torch.ones(2))()


def test_a_function_of_several_tensors():
    function = F.from_torch(lambda x, i: (x[i], x.sum()))
    x, i = core.Variable(RNG.normal(size=4)[::-1]), np.array([2, 0, 2])
    rows, total = function(x, i)
    np.testing.assert_array_equal(rows.array, x.array[i])
    F.sum(rows * np.array([1.0, 2.0, 3.0])).backward()
    np.testing.assert_array_equal(x.grad, [2, 0, 4, 0])
    np.testing.assert_allclose(total.array, x.array.sum())


def test_second_derivatives_are_refused():
    x = core.Variable(RNG.normal(size=3))
    (g,) = core.grad([F.sum(F.from_torch(torch.sin)(x))], [x], enable_double_backprop=True)
    with pytest.raises(core.errors.GraphError):
        core.grad([F.sum(g)], [x])


def test_only_tensors_come_out():
    with pytest.raises(TypeError, match="a function that gives tensors, got str"):
        F.from_torch(lambda x: "no")(np.ones(2))


def test_what_is_no_function_or_link_is_told():
    with pytest.raises(TypeError, match="from_torch: expected a function or a module, got 3"):
        F.from_torch(3)
    with pytest.raises(TypeError, match="as_torch: expected a link, got Linear"):
        core.interop.as_torch(torch.nn.Linear(2, 2))


def test_it_is_not_traced():
    with pytest.raises(core.errors.TraceError, match="the value of an array was asked for"):
        core.trace(F.from_torch(torch.sin), np.ones(2, "f"))


def test_a_link_as_a_module():
    link = core.Sequential(L.Linear(3, 4), F.tanh, L.BatchNormalization(4), L.Linear(4, 2))
    for parameter in link.params():
        parameter.array = parameter.array.astype("d")
    net = core.interop.as_torch(link)
    x = torch.tensor(RNG.normal(size=(5, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(net, (x,))
    assert {name for name, _ in net.named_parameters()} >= {"0_W", "1_gamma", "2_b"}
    net(x).square().sum().backward()
    variable = core.Variable(x.detach().numpy())
    link.cleargrads()
    F.sum(F.square(link(variable))).backward()
    np.testing.assert_allclose(x.grad, variable.grad, rtol=1e-6, atol=1e-12)
    for (_, there), here in zip(
        net.named_parameters(), link.params(include_uninit=False), strict=True
    ):
        np.testing.assert_allclose(there.grad, here.grad, rtol=1e-6, atol=1e-12)


def doubled(link):
    for parameter in link.params():
        parameter.array = parameter.array.astype("d")
    return link


def test_gradients_of_gradients_of_a_link():
    link = doubled(core.Sequential(L.Linear(3, 4), F.tanh, L.Linear(4, 2), F.softplus))
    net = core.interop.as_torch(link)
    x = torch.tensor(RNG.normal(size=(2, 3)), requires_grad=True)
    assert torch.autograd.gradgradcheck(net, (x,))
    (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    (g2,) = torch.autograd.grad(g.square().sum(), x, create_graph=True)
    g2.sum().backward()  # a third one
    v = core.Variable(x.detach().numpy())
    (h,) = core.grad([F.sum(link(v))], [v], enable_double_backprop=True)
    (h2,) = core.grad([F.sum(h * h)], [v], enable_double_backprop=True)
    (h3,) = core.grad([F.sum(h2)], [v])
    np.testing.assert_allclose(x.grad, h3.array, rtol=1e-8, atol=1e-12)
    assert all([p.grad.any() for p in net.parameters() if p.ndim == 2])


def test_a_parameter_that_changes_before_backward_is_told():
    net = core.interop.as_torch(L.Linear(3, 2))
    y = net(torch.ones(1, 3)).sum()
    with torch.no_grad():
        net.W.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


class Two(core.Chain):
    def __init__(self):
        super().__init__()
        self.apart = core.Parameter(np.ones((1, 2), "f"))
        with self.init_scope():
            self.a, self.b = L.Linear(3, 2), L.Linear(3, 2)

    def forward(self, x, i):
        return self.a(x), self.b(x)[i], self.apart * 2


def test_what_is_not_used_has_no_gradient():
    net = core.interop.as_torch(Two())
    x, i = torch.ones(1, 3, requires_grad=True), torch.tensor([0, 0])
    a, _, apart = net(x, i)
    a.sum().backward()
    assert x.grad is not None and net.a_W.grad is not None
    assert net.b_W.grad is None and net.b_b.grad is None
    _, b, apart = net(x, i)
    (b.sum() + apart.sum()).backward()
    assert (net.b_b.grad == 2).all()
    *_, apart = net(x, i)
    x.grad = None
    apart.sum().backward()
    assert x.grad is None


def test_a_copy_is_a_module_of_a_copy():
    net = core.interop.as_torch(L.Linear(3, 2)).eval()
    other = copy.deepcopy(net)
    assert not other.training
    x = torch.ones(1, 3)
    with torch.no_grad():
        other.W.add_(1)
        assert torch.allclose(other(x), net(x) + 3)


def test_a_module_goes_through_files_with_its_link():
    net = torch.nn.Sequential(core.interop.as_torch(L.Linear(3, 2)).eval(), torch.nn.ReLU())
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    for other in (pickle.loads(pickle.dumps(net)), torch.load(file, weights_only=False)):
        assert not other[0].training
        x = torch.ones(1, 3)
        assert torch.equal(other(x), net(x))
        with torch.no_grad():
            other[0].W.add_(10)
        assert other(x).min() > 1 and not torch.equal(other(x), net(x))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_what_pytorch_has_frozen_or_replaced_is_not_lost(again):
    link = L.Linear(3, 2)
    module = core.interop.as_torch(link)
    module.W.requires_grad_(False)
    other = again(module)
    assert not other.W.requires_grad and other.b.requires_grad and link.W.requires_grad
    other(torch.ones(1, 3)).sum().backward()
    assert other.W.grad is None and other.b.grad.tolist() == [1, 1]
    module.double()  # of whose values the link knows nothing
    with pytest.raises(ValueError, match="W and the module's W no longer have the same memory"):
        again(module)


def test_memory_that_is_no_longer_shared_is_told():
    link = L.Linear(3, 2)
    for part in (
        lambda net: net.double(),
        lambda net: setattr(link.W, "array", link.W.array.copy()),
        lambda net: setattr(net, "W", torch.nn.Parameter(torch.ones(2, 3))),
    ):
        net = core.interop.as_torch(link)
        net(torch.ones(1, 3))
        part(net)
        with pytest.raises(
            ValueError, match="/W and the module's W no longer have the same memory"
        ):
            net(torch.ones(1, 3, dtype=net.W.dtype))


def test_an_optimizer_of_pytorch_trains_a_link():
    link = L.Linear(3, 1)
    net = core.interop.as_torch(link)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.tensor(RNG.normal(size=(32, 3)), dtype=torch.float32)
    t = x @ torch.tensor([[1.0], [-2.0], [3.0]])
    for _ in range(100):
        optimizer.zero_grad()
        (net(x) - t).square().mean().backward()
        optimizer.step()
    np.testing.assert_allclose(link.W.array, [[1, -2, 3]], atol=1e-3)


def test_modes_and_sizes():
    link = core.Sequential(L.Linear(None, 2), lambda x: F.dropout(x, 0.5))
    with pytest.raises(ValueError, match="/0/W without. Call the link once"):
        core.interop.as_torch(link)
    link(np.ones((1, 3), "f"))
    net = core.interop.as_torch(link)
    x = torch.ones(100, 3)
    assert (net.train()(x) == 0).any() and not (net.eval()(x) == 0).any()


def test_bfloat16_is_shared():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    link = L.Linear(2, 3)
    for parameter in link.params():
        parameter.array = parameter.array.astype(ml_dtypes.bfloat16)
    net = core.interop.as_torch(link)
    assert net.W.dtype == torch.bfloat16
    assert net.W.data_ptr() == link.W.array.ctypes.data
    x = torch.ones(4, 2, dtype=torch.bfloat16, requires_grad=True)
    net(x).sum().backward()
    assert x.grad.dtype == torch.bfloat16
    np.testing.assert_array_equal(net.W.grad.float().numpy(), np.full((3, 2), 4))
    v = core.Variable(np.arange(4).astype(ml_dtypes.bfloat16))
    y = F.from_torch(lambda x: x * x)(v)
    assert y.dtype == v.dtype
    F.sum(y).backward()
    np.testing.assert_array_equal(v.grad.astype("f"), [0, 2, 4, 6])


def test_what_dlpack_lacks_is_told():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    v = core.Variable(np.ones(3, ml_dtypes.bfloat16), requires_grad=False)
    with pytest.raises(BufferError, match=r"Variable\.__dlpack__.*got an array of bfloat16; F"):
        torch.from_dlpack(v)
    with pytest.raises(BufferError, match=r"from_dlpack: expected .*got one of torch\.bfloat16"):
        v.__array_namespace__().from_dlpack(torch.ones(3, dtype=torch.bfloat16))


def test_what_is_no_tensor_is_told():
    net = core.interop.as_torch(L.Linear(2, 2))
    for x in (np.ones((1, 2), "f"), core.Variable(np.ones((1, 2), "f")), [1.0, 2.0], None):
        kind = type(x).__name__
        with pytest.raises(TypeError, match=f"as_torch: expected tensors on the CPU, got {kind}: "):
            net(x)
    with pytest.raises(TypeError, match=r"on the CPU, got one on meta: tensor\.cpu\(\) copies it"):
        net(torch.ones(1, 2, device="meta"))


class Clash(core.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.a = core.ChainDict(b=L.Bias(shape=(2,)))
            self.a_b_b = core.Parameter(np.full(2, 2.0, "f"))
            self.training = core.Parameter(np.full(2, 4.0, "f"))

    def forward(self, x):
        return x * self.a_b_b + self.a["b"](x) * self.training


def test_names_that_clash_stay_apart():
    link = Clash()
    net = core.interop.as_torch(link).eval()
    names = {name: tensor.data_ptr() for name, tensor in net.named_parameters()}
    assert [*names.values()] == [p.array.ctypes.data for _, p in link.namedparams()]
    assert len(names) == 3 and not net.training
    x = torch.ones(1, 2)
    net(x).sum().backward()
    assert sorted(p.grad[0].item() for p in net.parameters()) == [1, 1, 4]


def test_tensors_that_are_seen_negative_or_conjugate():
    z = torch.tensor([[1 + 2j, 3 - 4j]]).conj()
    there = core.interop.as_torch(L.Linear(2, 1, nobias=True, initialW=1))
    assert there(z.imag).tolist() == [[2.0]]
    module = torch.nn.Module()
    module.forward = lambda x: x * 0 + z.imag if x.requires_grad else z.imag
    with core.no_backprop_mode():
        assert F.from_torch(module)(np.ones((1, 2), "f")).array.tolist() == [[-2.0, 4.0]]


def test_parameters_whose_memory_cannot_be_shared():
    link = core.Link()
    with link.init_scope():
        link.p = core.Parameter(np.arange(3.0)[::-1])
    with pytest.raises(
        ValueError, match="as_torch: the memory of /p cannot be shared: it lies back"
    ):
        core.interop.as_torch(link)
    link.p.array = link.p.array.copy()
    assert core.interop.as_torch(link).p.tolist() == [2, 1, 0]
    link.p.array.flags.writeable = False
    with pytest.raises(
        ValueError, match="as_torch: the memory of /p cannot be shared: it is read-only"
    ):
        core.interop.as_torch(link)
