"""What version 1's documents tell people to write, block by block, in the words of its programs.

Blocks that are not run as they stand, and why:

- `fetch_mldata` is gone from scikit-learn, and `print 'epoch'` and `xrange` are Python 2's: the
  perceptron learns from numbers that are made here.
- A state of the shape (50,) beside a batch, `np.random.rand((4, 3), dtype=...)` and
  `acumulate_grads` are slips of the document; the last one is told of (see below).
- Kernels that say `w[i] = x[i]` are PyCUDA's, as are `GPUArray`, contexts and generators: refused
  with what to write.
- Two GPUs: model and data are divided on the host in the same words, and what needs a GPU says so.
"""

import copy
import unittest

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Function, FunctionSet, Variable, cuda, gradient_check, optimizers

no_gpu = pytest.mark.skipif(cuda.available, reason="tells what is said without a GPU")
needs_gpu = pytest.mark.skipif(not cuda.available, reason="needs a GPU and CuPy")


def f32(*shape):
    return np.random.RandomState(0).randn(*shape).astype(np.float32)


def labels(n, k):
    return np.arange(n, dtype=np.int32) % k


# -- forward and backward computation -------------------------------------------------------------


def test_one_element():
    x = Variable(np.array([5], dtype=np.float32))
    y = x**2 - 2 * x + 1
    assert y.data == np.array([16], "f")
    y.backward()
    assert x.grad == np.array([8], "f")


def test_gradients_in_between():
    x = Variable(np.array([5], dtype=np.float32))
    z = 2 * x
    y = x**2 - z + 1
    y.backward(retain_grad=True)
    assert z.grad == np.array([-1], "f")


def test_several_elements():
    x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    y = x**2 - 2 * x + 1
    y.grad = np.ones((2, 3), dtype=np.float32)
    y.backward()
    assert (x.grad == np.array([[0, 2, 4], [6, 8, 10]], "f")).all()


# -- parametric functions -------------------------------------------------------------------------


def test_a_parametric_function():
    f = F.Linear(3, 2)
    assert f.W.shape == (2, 3) and (f.b.data == 0).all()
    x = Variable(np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32))
    y = f(x)
    np.testing.assert_allclose(y.data, x.data @ f.W.data.T, rtol=1e-5)
    f.gW.fill(0)
    f.gb.fill(0)
    y.grad = np.ones((2, 2), dtype=np.float32)
    y.backward()
    assert (f.gW == np.array([[5, 7, 9], [5, 7, 9]], "f")).all()
    assert (f.gb == np.array([2, 2], "f")).all()


def test_a_set_of_functions():
    model = FunctionSet(l1=F.Linear(4, 3), l2=F.Linear(3, 2))
    assert isinstance(model.l1, F.Linear) and isinstance(model.l2, F.Linear)
    model.l3 = F.Linear(2, 2)
    x = Variable(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], dtype=np.float32))
    h3 = model.l3(model.l2(model.l1(x)))
    assert h3.data.shape == (2, 2)
    assert [p.shape for p in model.parameters] == [(3, 4), (3,), (2, 3), (2,), (2, 2), (2,)]
    assert len(model.gradients) == 6
    model.l3 = F.Linear(2, 1)
    assert len(model.parameters) == 6 and model.l3.W.shape == (1, 2)


def test_an_optimizer():
    model = FunctionSet(l1=F.Linear(4, 3), l2=F.Linear(3, 2))
    optimizer = optimizers.SGD()
    optimizer.setup(model.collect_parameters())
    optimizer.zero_grads()
    assert all((g == 0).all() for g in model.gradients)
    before = [p.copy() for p in model.parameters]
    F.sum(model.l2(model.l1(Variable(f32(5, 4))))).backward()
    gradients = [g.copy() for g in model.gradients]
    optimizer.update()
    for p, old, g in zip(model.parameters, before, gradients, strict=True):
        np.testing.assert_allclose(p, old - 0.01 * g, rtol=1e-5, atol=1e-6)


def perceptron():
    np.random.seed(0)
    return FunctionSet(l1=F.Linear(12, 10), l2=F.Linear(10, 10), l3=F.Linear(10, 3))


def forward(x_data, y_data, model):
    x = Variable(x_data)
    t = Variable(y_data)
    h1 = F.relu(model.l1(x))
    h2 = F.relu(model.l2(h1))
    y = model.l3(h2)
    return F.softmax_cross_entropy(y, t), F.accuracy(y, t)


def learn(model, optimizer, x, t, epochs=20, batchsize=10):
    for _ in range(epochs):
        indexes = np.random.permutation(len(x))
        for i in range(0, len(x), batchsize):
            chosen = indexes[i : i + batchsize]
            optimizer.zero_grads()
            loss, _ = forward(x[chosen], t[chosen], model)
            loss.backward()
            optimizer.update()


def test_a_perceptron_learns_and_is_evaluated():
    x, t = f32(60, 12), labels(60, 3)
    x[np.arange(60), t] += 3
    x_train, x_test = np.split(x, [50])
    t_train, t_test = np.split(t, [50])
    model = perceptron()
    optimizer = optimizers.SGD(0.1)
    optimizer.setup(model.collect_parameters())
    learn(model, optimizer, x_train, t_train)
    batchsize, sum_loss, sum_accuracy = 5, 0, 0
    for i in range(0, 10, batchsize):
        loss, accuracy = forward(x_test[i : i + batchsize], t_test[i : i + batchsize], model)
        sum_loss += loss.data * batchsize
        sum_accuracy += accuracy.data * batchsize
    assert sum_accuracy / 10 > 0.7 and sum_loss / 10 < 1


# -- recurrent nets -------------------------------------------------------------------------------


def language_model():
    np.random.seed(1)
    return FunctionSet(
        embed=F.EmbedID(20, 10),
        x_to_h=F.Linear(10, 5),
        h_to_h=F.Linear(5, 5),
        h_to_y=F.Linear(5, 20),
    )


def one_step(model, h, cur_word, next_word, volatile=False):
    word = Variable(cur_word, volatile=volatile)
    t = Variable(next_word, volatile=volatile)
    x = F.tanh(model.embed(word))
    h = F.tanh(model.x_to_h(x) + model.h_to_h(h))
    return h, F.softmax_cross_entropy(model.h_to_y(h), t)


def sequence_loss(model, x_list, volatile=False):
    h = Variable(np.zeros((1, 5), dtype=np.float32), volatile=volatile)
    loss = 0
    for cur_word, next_word in zip(x_list, x_list[1:], strict=False):
        h, new_loss = one_step(model, h, cur_word, next_word, volatile=volatile)
        loss += new_loss
    return loss


WORDS = [np.array([i * 7 % 20], dtype=np.int32) for i in range(13)]


def test_backprop_through_a_sequence():
    model = language_model()
    optimizer = optimizers.SGD(0.5)
    optimizer.setup(model.collect_parameters())
    losses = []
    for _ in range(5):
        optimizer.zero_grads()
        loss = sequence_loss(model, WORDS)
        loss.backward()
        optimizer.update()
        losses.append(float(loss.data))
    assert losses[-1] < losses[0]


def test_truncated_backprop():
    model = language_model()
    optimizer = optimizers.SGD(0.5)
    optimizer.setup(model.collect_parameters())
    h = Variable(np.zeros((1, 5), dtype=np.float32))
    loss = updates = 0
    seqlen = len(WORDS[1:])
    for count, (cur_word, next_word) in enumerate(zip(WORDS, WORDS[1:], strict=False), 1):
        h, new_loss = one_step(model, h, cur_word, next_word)
        loss += new_loss
        if count % 5 == 0 or count == seqlen:
            optimizer.zero_grads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()
            updates += 1
    assert updates == 3 and loss.creator is None


def test_evaluation_without_a_history():
    model = language_model()
    kept, volatile = sequence_loss(model, WORDS), sequence_loss(model, WORDS, volatile=True)
    assert volatile.data == kept.data
    assert volatile.volatile == "on" and volatile.creator is None
    assert kept.volatile == "off" and kept.creator is not None


def test_a_fixed_feature_extractor():
    fixed_func, predictor_func = F.Linear(4, 3), F.Linear(3, 1)
    x = Variable(f32(2, 4), volatile=True)
    feat = fixed_func(x)
    feat.volatile = False
    y = F.sum(predictor_func(feat))
    fixed_func.gW.fill(0)
    y.backward()
    assert feat.grad.shape == (2, 3) and (fixed_func.gW == 0).all()
    assert x.grad is None


def test_volatile_and_other_variables_do_not_mix():
    on, off = Variable(f32(2), volatile=True), Variable(f32(2))
    with pytest.raises(ValueError, match="cannot be mixed"):
        on + off
    auto = Variable(f32(2), volatile="auto")
    assert (on + auto).volatile == chainer.ON and (off + auto).volatile == chainer.OFF
    assert Variable(f32(2), True).volatile == "on"
    assert chainer.flag.aggregate_flags([chainer.AUTO, chainer.OFF]) == "off"


def test_volatile_flags_reach_functions_of_all_forms():
    class Old(Function):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    class New(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

    x = Variable(f32(2, 4), volatile="on")
    for y in (Old()(x), New().apply((x,))[0], x[0], F.split_axis(x, 2, 1)[0], x + 1):
        assert y.volatile == "on" and y.creator is None


# -- GPUs -----------------------------------------------------------------------------------------


@no_gpu
@pytest.mark.parametrize(
    "code",
    [
        "cuda.init()",
        "cuda.init(0)",
        "cuda.to_gpu(np.ones((5, 4, 3), dtype=np.float32))",
        "cuda.ones((5, 4, 3))",
        "cuda.zeros((2,))",
        "cuda.full((2,), 3)",
        "cuda.empty((4, 3))",
        "cuda.use_device(1)",
        "cuda.using_device(1)",
        "cuda.copy(np.ones((4, 3), 'f'), out_device=1)",
        "FunctionSet(l1=F.Linear(784, 100)).to_gpu()",
        "FunctionSet(gpu0=FunctionSet(l1=F.Linear(7, 10)).to_gpu(0))",
        "copy.deepcopy(perceptron()).to_gpu(0)",
        "cuda.seed(3)",
        "cuda.to_gpu_async(np.ones(2))",
    ],
)
def test_what_needs_a_gpu_says_so(code):
    with pytest.raises(RuntimeError, match="cannot be used here: .*(install|update the driver)"):
        eval(code)


def test_what_needs_no_gpu():
    x = np.ones((4, 3), "f")
    assert cuda.to_cpu(x) is x and cuda.to_cpu_async(x) is x
    with cuda.using_device(x, x):
        assert (x + 1 == 2).all()
    assert cuda.get_device(x).id == -1
    cuda.shutdown()
    np.testing.assert_array_equal(F.copy(Variable(x), -1).data, x)


@pytest.mark.parametrize(
    "name", ["GPUArray", "Context", "get_generator", "IPCArrayHandle", "cublas"]
)
def test_what_was_pycudas_is_refused_with_what_to_write(name):
    with pytest.raises(AttributeError, match=r"was PyCUDA's\. (Use|Leave)"):
        getattr(cuda, name)


def test_a_kernel_in_pycudas_form_is_refused_with_todays():
    with pytest.raises(TypeError, match="'T w', 'w = x"):
        cuda.elementwise("float* w, const float* x", "w[i] = x[i]", "copy")


@needs_gpu
def test_a_model_learns_on_the_gpu():
    cuda.init()
    x, t = f32(20, 12), labels(20, 3)
    model = perceptron().to_gpu()
    optimizer = optimizers.SGD(0.1)
    optimizer.setup(model.collect_parameters())
    learn(model, optimizer, cuda.to_gpu(x), cuda.to_gpu(t), epochs=2)
    assert isinstance(model.parameters[0], cuda.ndarray)
    assert (cuda.to_cpu(cuda.ones((5, 4, 3))) == 1).all()
    with cuda.using_device(model.parameters[0]):
        assert cuda.copy(cuda.ones((4, 3)), out_device=0).shape == (4, 3)


def test_two_copies_of_a_model_share_the_work():
    """The same on the host: one half of the batch each, gradients added, parameters copied back."""
    model = perceptron()
    model_0, model_1 = copy.deepcopy(model), model
    whole = copy.deepcopy(model)
    x, t = f32(20, 12), labels(20, 3)
    optimizer = optimizers.SGD(0.1)
    optimizer.setup(model_0.collect_parameters())
    optimizer.zero_grads()
    model_1.zerograds()
    for half, replica in ((slice(0, 10), model_0), (slice(10, 20), model_1)):
        loss, _ = forward(x[half], t[half], replica)
        loss.backward()
    optimizer.accumulate_grads(model_1.gradients)
    optimizer.update()
    model_1.copy_parameters_from(model_0.parameters)
    alone = optimizers.SGD(0.2)
    alone.setup(whole)
    alone.zero_grads()
    forward(x, t, whole)[0].backward()
    alone.update()
    for one, other, right in zip(*(m.parameters for m in (model_0, model_1, whole)), strict=True):
        assert (one == other).all()
        np.testing.assert_allclose(one, right, rtol=1e-4, atol=1e-6)


def test_two_halves_of_a_model_exchange_what_they_compute():
    """The model-parallel network, with -1 for each of the two devices."""
    parts = [FunctionSet(l1=F.Linear(12, 6), l2=F.Linear(6, 3)) for _ in range(2)]
    model = FunctionSet(gpu0=parts[0].to_cpu(), gpu1=parts[1].to_cpu())
    x, t = f32(5, 12), labels(5, 3)
    h_0, h_1 = F.relu(model.gpu0.l1(Variable(x))), F.relu(model.gpu1.l1(Variable(x)))
    h_0 += F.copy(h_1, -1)
    h_1 = F.copy(h_0, -1)
    y = model.gpu0.l2(h_0) + F.copy(model.gpu1.l2(h_1), -1)
    model.zerograds()
    F.softmax_cross_entropy(y, Variable(t)).backward()
    assert len(model.parameters) == 8 and all(np.abs(g).sum() > 0 for g in model.gradients)


def test_a_slip_in_a_name_is_told():
    with pytest.raises(AttributeError, match="Did you mean 'accumulate_grads'"):
        optimizers.SGD().acumulate_grads  # noqa: B018


def test_parameters_are_set_as_a_whole():
    model, other = perceptron(), perceptron()
    other.parameters = [p * 0 + 2 for p in model.parameters]
    other.gradients = [p * 0 + 3 for p in model.parameters]
    assert all((p == 2).all() for p in other.parameters)
    assert (other.l1.gW == 3).all()


# -- functions of one's own -----------------------------------------------------------------------


class MulAdd(Function):
    def forward(self, inputs):
        x, y, z = inputs
        w = x * y + z
        return (w,)

    def backward(self, inputs, grad_outputs):
        x, y, _ = inputs
        gw = grad_outputs[0]
        return y * gw, x * gw, gw


class MulAddOnCpu(Function):
    forward_cpu, backward_cpu = MulAdd.forward, MulAdd.backward


@pytest.mark.parametrize("cls", [MulAdd, MulAddOnCpu])
def test_a_function_without_parameters(cls):
    x, y, z = (Variable(f32(3, 2) + i) for i in range(3))
    w = cls()(x, y, z)
    np.testing.assert_allclose(w.data, x.data * y.data + z.data, rtol=1e-6)
    w.grad = np.ones((3, 2), "f")
    w.backward()
    assert (x.grad == y.data).all() and (y.grad == x.data).all() and (z.grad == 1).all()


class EltwiseParamProduct(Function):
    parameter_names = ("w",)
    gradient_names = ("gw",)

    def __init__(self, *shape):
        self.w = np.ones(shape, dtype=np.float32)
        self.gw = np.empty_like(self.w)

    def forward(self, inputs):
        return (self.w * inputs[0],)

    def backward(self, inputs, grad_outputs):
        x, gy = inputs[0], grad_outputs[0]
        self.gw += gy * x
        return (gy * self.w,)


def test_a_function_with_parameters_is_trained():
    model = FunctionSet(scale=EltwiseParamProduct(3, 2))
    optimizer = optimizers.SGD(0.5)
    optimizer.setup(model.collect_parameters())
    optimizer.zero_grads()
    x = Variable(f32(3, 2))
    F.sum(model.scale(x)).backward()
    optimizer.update()
    np.testing.assert_allclose(model.scale.w, 1 - 0.5 * x.data, rtol=1e-6)
    assert (x.grad == 1).all()


def test_a_function_has_its_arrays():
    function = EltwiseParamProduct(3, 2)
    (w,), (gw,) = function.parameters, function.gradients
    assert w is function.w and gw is function.gw and function.to_cpu() is function
    assert MulAdd().parameters == ()

    class Owner(Function):
        def __init__(self):
            self.parameters = "its own"

    assert Owner().parameters == "its own"


class Grown(chainer.Link):
    """Makes its parameter when the first input comes, as links of version 1.11 and later did."""

    def __init__(self):
        super().__init__()
        self.add_uninitialized_param("W")

    def __call__(self, x):
        if self.has_uninitialized_params:
            self.add_param("W", x.shape[1:])
            self.W.data[...] = 2
        return x * F.broadcast_to(self.W, x.shape)


def test_a_parameter_that_is_announced():
    link = Grown()
    assert link.has_uninitialized_params and not list(link.params())
    assert (link(Variable(np.ones((3, 2), "f"))).data == 2).all()
    assert not link.has_uninitialized_params and link.W.shape == (2,)
    with pytest.raises(AttributeError, match="has an attribute 'W' already"):
        link.add_uninitialized_param("W")


def test_the_function_that_is_a_parameter():
    p = F.Parameter(f32(4, 3))
    x = Variable(f32(4, 3))
    F.sum(p() * x).backward()
    np.testing.assert_allclose(x.grad, p.W.data)


def test_numerical_gradients():
    x, gy = f32(4, 3), np.ones((4, 3), dtype=np.float32)
    (gx,) = gradient_check.numerical_grad(lambda: (x * x,), (x,), (gy,))
    gradient_check.assert_allclose(gx, 2 * x, atol=1e-2)


class TestReLU(unittest.TestCase):
    def test_backward_cpu(self):
        x = Variable(np.array([[1.5, -0.3], [-2, 0.7], [0.4, 1]], dtype=np.float32))
        y = F.relu(x)
        y.grad = f32(3, 2)
        y.backward()
        func = y.creator
        (gx,) = gradient_check.numerical_grad(lambda: func.forward((x.data,)), (x.data,), (y.grad,))
        gradient_check.assert_allclose(gx, x.grad, atol=1e-3)


def test_one_function_twice():
    f, x = F.Linear(3, 2), Variable(f32(4, 3))
    y, z = f(x), f(x)
    assert y.creator is not z.creator and (y.data == z.data).all()
    F.sum(y + z).backward()
    np.testing.assert_allclose(x.grad, np.tile(2 * f.W.data.sum(axis=0), (4, 1)), rtol=1e-5)


# -- the optimizer's gradients --------------------------------------------------------------------


def test_gradients_are_measured_clipped_and_decayed():
    model = F.Linear(3, 2, nobias=True)
    optimizer = optimizers.SGD()
    optimizer.setup(model)
    model.W.grad = np.full((2, 3), 2, "f")
    assert optimizer.compute_grads_norm() == pytest.approx(np.sqrt(24))
    optimizer.clip_grads(100)
    assert (model.W.grad == 2).all()
    optimizer.clip_grads(1)
    assert optimizer.compute_grads_norm() == pytest.approx(1, rel=1e-5)
    before = model.W.grad.copy()
    optimizer.weight_decay(0.1)
    np.testing.assert_allclose(model.W.grad, before + 0.1 * model.W.data, rtol=1e-6)
    with pytest.raises(RuntimeError, match="expected 1 gradients, got 2"):
        optimizer.accumulate_grads([before, before])


class Momentum(chainer.Optimizer):
    """As versions 1.5 to 1.24 had optimizers of one's own: a parameter and a dict."""

    def __init__(self, lr=0.1):
        self.lr = lr

    def init_state(self, param, state):
        state["v"] = np.zeros_like(param.data)

    def update_one_cpu(self, param, state):
        state["v"] *= 0.9
        state["v"] -= self.lr * param.grad
        param.data += state["v"]


class FirstMomentum(chainer.Optimizer):
    """As the first versions had them: arrays, and a state of any kind."""

    def __init__(self, lr=0.1):
        self.lr = lr

    def init_state_cpu(self, param, grad):
        return np.zeros_like(param)

    def update_one_cpu(self, param, grad, state):
        state *= 0.9
        state -= self.lr * grad
        param += state


class GradientMomentum(Momentum, chainer.GradientMethod):
    """The same, of the base class of those that follow a gradient."""


@pytest.mark.parametrize("make", [Momentum, FirstMomentum, GradientMomentum])
def test_optimizers_of_ones_own(make):
    model, same = F.Linear(3, 2), F.Linear(3, 2)
    same.copyparams(model)
    optimizer, reference = make(0.1), optimizers.MomentumSGD(0.1)
    optimizer.setup(model)
    reference.setup(same)
    for _ in range(3):
        for link, each in ((model, optimizer), (same, reference)):
            link.zerograds()
            F.sum(link(Variable(f32(4, 3))) ** 2).backward()
            each.update()
    np.testing.assert_allclose(model.W.data, same.W.data, rtol=1e-5)
    assert optimizer.t == 3 and optimizer.lr == 0.1 and isinstance(optimizer, make)
    optimizer.prepare()


def test_adams_first_arguments():
    assert optimizers.Adam(lam=1 - 1e-8).alpha == 0.001
    with pytest.raises(ValueError, match="Leave it out"):
        optimizers.Adam(lam=0.9)


def test_a_reduction_in_pycudas_form_is_refused_with_todays():
    with pytest.raises(TypeError, match="'y = a', '0', 'sum'"):
        cuda.reduce("const float* x", "x[i]", "a+b", "0", "sum")


def test_arrays_alone_cannot_be_set_up():
    with pytest.raises(TypeError, match="Parameterized functions"):
        optimizers.SGD().setup((([np.zeros(2)]), ([np.zeros(2)])))
