"""Functions, a link, an initializer, an optimizer and hooks of one's own, and their checks."""

import os
import sys

import numpy as np

import core as chainer
import core.functions as F
import core.links as L
from core import cuda, function_node, gradient_check, initializer, optimizer, serializers
from core.utils import type_check


class MulAdd(chainer.Function):
    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 3)
        x, y, z = in_types
        type_check.expect(x.dtype.kind == "f", x.shape == y.shape, y.shape == z.shape)

    def forward_cpu(self, inputs):
        x, y, z = inputs
        return (x * y + z,)

    def backward_cpu(self, inputs, grad_outputs):
        x, y, _ = inputs
        (gw,) = grad_outputs
        return y * gw, x * gw, gw


class Exp(function_node.FunctionNode):
    def forward(self, inputs):
        self.retain_outputs((0,))
        return (cuda.get_array_module(*inputs).exp(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        (y,) = self.get_retained_outputs()
        return (y * grad_outputs[0],)


class FanIn(initializer.Initializer):
    def __call__(self, array):
        array[...] = 1.0 / initializer.get_fans(array.shape)[0]


class Scale(chainer.Link):
    def __init__(self, n):
        super().__init__()
        self.add_param("g", (n,), initializer=chainer.initializers.One())
        self.add_persistent("calls", 0)
        self.total = np.zeros(n, "f")
        self.register_persistent("total")

    def __call__(self, x):
        if chainer.config.train:
            self.calls += 1
            self.total += x.data.sum(axis=0)
        return F.broadcast_to(self.g, x.shape) * x


class HalvingRule(optimizer.UpdateRule):
    def init_state(self, param):
        self.state["v"] = cuda.get_array_module(param.data).zeros_like(param.data)

    def update_core(self, param):
        self.state["v"] *= 0.5
        self.state["v"] -= self.hyperparam.lr * param.grad
        param.data += self.state["v"]


class Halving(optimizer.GradientMethod):
    lr = optimizer.HyperparameterProxy("lr")

    def __init__(self, lr=0.02):
        super().__init__()
        self.hyperparam.lr = lr

    def create_update_rule(self):
        return HalvingRule(self.hyperparam)


class Names(chainer.FunctionHook):
    name = "Names"

    def __init__(self):
        self.seen = []

    def forward_preprocess(self, function, in_data):
        self.seen.append((type(function).__name__, len(in_data)))


def halve_gradients(opt):
    for param in opt.target.params():
        param.grad *= 0.5


np.random.seed(0)
a, b, c = (np.random.randn(2, 3).astype("f") for _ in range(3))
assert np.allclose(MulAdd()(a, b, c).data, a * b + c)
gradient_check.check_backward(lambda *x: MulAdd()(*x), (a, b, c), c, dtype="d")
gradient_check.check_double_backward(lambda x: Exp().apply((x,))[0], a, b, c, dtype="d")
try:
    MulAdd()(a, b)
except type_check.InvalidType as error:
    assert "MulAdd" in str(error)

net = chainer.Chain(l1=L.Linear(3, 4, initialW=FanIn()), scale=Scale(4), l2=L.Linear(4, 1))
opt = Halving()
opt.setup(net)
opt.add_hook(halve_gradients, "half")
net.l1.b.update_rule.enabled = False
losses = []
with Names() as names:
    for _ in range(5):
        y = net.l2(net.scale(F.tanh(net.l1(a))))
        loss = F.mean_squared_error(y, np.ones((2, 1), "f"))
        net.cleargrads()
        loss.backward()
        opt.update()
        losses.append(float(loss.data))
assert losses == sorted(losses, reverse=True) and not net.l1.b.data.any()
assert ("Tanh", 1) in names.seen

path = os.path.join(sys.argv[1], "net.npz")
serializers.save_npz(path, net)
again = chainer.Chain(l1=L.Linear(None, 4), scale=Scale(4), l2=L.Linear(4, 1))
serializers.load_npz(path, again)
assert again.scale.calls == 5 and np.array_equal(again.scale.total, net.scale.total)
