"""Right and wrong uses, for type checkers. It is never run.

A line that ends in `# wrong: WORDS` has to be refused by every checker, with the words in the
message; every other line is right and has to be taken.
"""

from typing import Any

import numpy as np
from plugrad_wave import Wave

import core
import core.functions as F
import core.links as L
from core import Variable, datasets, initializers, iterators, optimizers, serializers, training
from core.training import extensions, triggers, updaters
from core.typing import Array

images = np.ones((2, 3, 8, 8), "f")
x = Variable(np.ones((2, 3), "f"), name="x")

# Functions
y: Variable = F.relu(x)
y = F.relu(images)
y = F.softmax(x, axis=1)
y = F.convolution_2d(images, images, stride=2, pad=(1, 1))
y = F.dropout(x, ratio=0.5)
h: tuple[Variable, Variable] = F.lstm(x, x)
y = x.sum(axis=0) + F.lstm(x, x)[1]
F.relu(x, use_cudnn=True)  # wrong: use_cudnn
F.relu([1.0, 2.0])  # wrong: Array
y = F.sum(x, axis=[0, 1]) + F.maximum(x, 0) + F.im2col(images, 2)
F.leaky_relu(x, slop=0.1)  # wrong: slop
core.optimizer.WeightDecay(0.1)
core.optimizer.WeightDecays(0.1)  # wrong: WeightDecays
F.relu("x")  # wrong: Array
F.matmul(x, "x")  # wrong: Array
F.concat(x, 3.0)  # wrong: "int"
F.concat("xy")  # wrong: Array
F.maximum(x, "x")  # wrong: Array
F.softmax(x, axes=1)  # wrong: axes
F.softmax(x, axis="1")  # wrong: "int"
F.convolution_2d(images, images, strid=2)  # wrong: strid
F.average_pooling_2d(images)  # wrong: ksize
F.max_pooling_2d(images)  # wrong: overload
F.no_such_function(x)  # wrong: no_such_function
wrong_number: int = F.relu(x)  # wrong: Variable

y = F.maximum(x, 0.5) + F.add(x, images, 1) + F.concat([x, images], axis=0) + F.where(x > 0, x, 0.0)


# Arrays, which parameters without a shape and gradients before backward have not got yet
def squares(p: core.Parameter, a: Array) -> float:
    if p.array is None or p.grad is None:
        F.relu("x")  # wrong: Array
        return 0.0
    near = (p.array == p.grad).all() or (p.array != 0).any()
    return float((p.grad * p.grad).sum()) + len(a) + len(p.array) + bool(near)


squares(core.Parameter(0, (2, 3)), images)
squares(core.Parameter(0, (2, 3)), x)

# Functions whose result depends on a flag, or on how many arguments there are
y, mask = F.dropout(x, 0.3, return_mask=True)
y, r = F.rrelu(x, return_r=True)
y, eps = F.gaussian(x, x, return_eps=True)
y, indexes = F.max_pooling_2d(images, 2, return_indices=True)
y = F.max_pooling_nd(images, (2, 2), cover_all=False) + F.rrelu(x) + F.gaussian(x, x, eps=x)
y = F.max_pooling_1d(images, 2) + F.max_pooling_2d(images, 2) + F.max_pooling_3d(images, 2)
y = F.identity(x) + F.broadcast(x) + F.forget(F.exp, x) + F.forget(lambda x: F.exp(x) * x, x)
parts: tuple[Variable, ...] = F.identity(x, images) + F.broadcast(*[x, x]) + F.split_axis(x, 3, 1)
parts = F.forget(F.separate, x)
sampler = core.utils.WalkerAlias([1, 2]).sample
y = F.negative_sampling(x, np.zeros(2, "i"), x, sampler, 3)
y, words = F.negative_sampling(x, np.zeros(2, "i"), x, sampler, 3, return_samples=True)
y = L.NegativeSampling(3, [1, 2], 4)(x, np.zeros(2, "i"))
scores, labels = F.argmax_crf1d(x, [images, images])
y = scores + labels[0].argmax()
y = F.dropout(x, return_mask=True)  # wrong: tuple
F.rrelu(x).no_such_method()  # wrong: no_such_method
F.gaussian(x, x).no_such_method()  # wrong: no_such_method
F.max_pooling_2d(images, 2).no_such_method()  # wrong: no_such_method
F.identity(x).no_such_method()  # wrong: no_such_method
F.forget(F.exp, x).no_such_method()  # wrong: no_such_method
y = F.identity(x, x)  # wrong: tuple
y = F.broadcast(x, x)  # wrong: tuple
y = F.split_axis(x, 3, 1)  # wrong: tuple

# Operations as classes: settings are the constructor
F.LeakyReLU(slope=0.1)
F.LeakyReLU(slop=0.1)  # wrong: slop

# Variables
y = 2 * x + 1 - x / 3
y = -(x**2) @ x.T
y = x[0] > 0
y = x.reshape(3, 2).transpose()
shape: tuple[int, ...] = x.shape
size: int = x.size
number: float = float(x[0, 0])
y.backward()
y.cleargrad()
plain: np.ndarray[Any, Any] = x.array
total: float = float(x.array.sum() + x.grad.mean())
np.testing.assert_array_equal(x.array, x.array + 1)
x.array.shape.append(3)  # wrong: append
Variable(x.array, nam="x")  # wrong: nam
Variable(x.array, volatile=True)  # wrong: volatile
x.backwards()  # wrong: backwards
y = x + images - np.float32(1) / x
y = 2.0**x % 3 // np.float64(2)
y = x.reshape((3, -1)) + x.reshape([6]) + x.reshape(np.int64(6))
y = x.transpose(1, 0) + x.transpose((1, 0)) + x.transpose()
y = x[:, None] + x[..., 0] + x[[0, 1]] + x[np.zeros(2, "i")] + x[x > 0] + x[1:, [0]]
y = x.max(axis=(0, -1), keepdims=True) + x.var(1, ddof=1) + x.mean(0, weights=images)
y = x.clip(0, images) + x.astype("float64") + x.repeat([1, 2], axis=0) + x.dot(x.T)
for row in x:
    y = row
x.array = x.grad = images
x.grad = None
x.to_device("cuda:1").to_gpu(0).to_cpu().backward()
x + "a"  # wrong: +
"a" + x  # wrong: Variable
x @ None  # wrong: None
y = x > "a"  # wrong: >
x["a"]  # wrong: Array
x[0.5]  # wrong: Array
x[0] = "a"  # wrong: Array
x.reshape("a")  # wrong: reshape
x.reshape((2, 3), 1)  # wrong: reshape
x.reshape(0.5)  # wrong: reshape
x.transpose("a")  # wrong: transpose
x.sum(axis="a")  # wrong: "int
x.mean(0, weights="a")  # wrong: Array
x.clip("a")  # wrong: Array
x.dot("a")  # wrong: Array
x.array = "a"  # wrong: Array
x.grad = [1.0]  # wrong: Array
x.to_device(0.5)  # wrong: "float"
Variable([1.0])  # wrong: Array

# Links: a call takes and gives what forward does
y = L.Linear(3, 4)(x)
y = L.Linear(4)(x, n_batch_axes=1)
y = L.LSTM(3, 4)(x)
c, y = L.StatelessLSTM(3, 4)(None, None, x)
hy, cy, ys = L.NStepLSTM(1, 3, 4, 0.1)(None, None, [x])
y = ys[0]
y = L.BatchNormalization(3)(x)
y = L.Classifier(L.Linear(3, 4))(x, np.zeros(2, "i"))
y = L.Linear(3, 4, initialW=0.1, initial_bias=np.zeros(4, "f"))(x)
y = L.Linear(3, 4, initialW=lambda array: array.fill(1))(x)
L.Linear(3, 4, initialW="he")  # wrong: initialW
L.Linear(3, 4, nobais=True)  # wrong: nobais
L.Linear(3, 4, wscale=2)  # wrong: wscale
L.Linear("3", 4)  # wrong: "int | None"
L.Linear(3, 4)(x, n_batch_axis=1)  # wrong: n_batch_axis
L.Linear(3, 4)(x).no_such_method()  # wrong: no_such_method


class Net(core.Chain):
    def __init__(self, units: int) -> None:
        super().__init__()
        with self.init_scope():
            self.inner = L.Linear(None, units)
            self.scale = core.Parameter(1, (units,))

    def forward(self, x: Variable, twice: bool = False) -> tuple[Variable, Variable]:
        hidden = F.tanh(self.inner(x) * self.scale)
        return hidden, hidden + hidden if twice else hidden


net = Net(3)
first, second = net(x, twice=True)
y = first
net = net.copy().to_cpu()
number = net.count_params()
net(x, thrice=True)  # wrong: thrice
net(3)  # wrong: Variable
result = net(x).array  # wrong: array
Net("3")  # wrong: "int"


class Half(core.Elementwise):
    share: float = 0.5

    def compute(self, xp: Any, x: Any) -> Any:
        return self.share * x

    def gradient(self, xp: Any, g: Any) -> Any:
        return self.share * g


(y,) = Half(share=0.25).apply((x,))
Half(shares=0.25)  # wrong: shares

# Sequential
model = core.Sequential(L.Linear(3, 4), F.relu, L.Linear(2))
model.append(F.tanh)
y = model(x)
core.Sequential(L.Linear(3, 4), "relu")  # wrong: Argument

# Optimizers
adam = optimizers.Adam(alpha=0.01, weight_decay_rate=0.1).setup(net)
adam.alpha = 0.001
rate: float = adam.alpha
adam.add_hook(core.optimizer_hooks.WeightDecay(0.1))
adam.update()
optimizers.MomentumSGD(lr=0.1, momentum=0.8)
optimizers.Adam(lrr=3)  # wrong: lrr
optimizers.Adam(alpha="fast")  # wrong: "float"
optimizers.SGD(momentum=0.9)  # wrong: momentum
adam.alpha = "fast"  # wrong: "float"
adam.learning_rate = 0.5  # wrong: learning_rate
adam.setup(3)  # wrong: Link
core.optimizer_hooks.WeightDecay(rat=0.1)  # wrong: rat

# Datasets and iterators
pairs = datasets.TupleDataset(images, np.zeros(2, "i"))
batches = iterators.SerialIterator(pairs, 2, shuffle=False)
for batch in batches:
    count: int = len(batch)
core.dataset.concat_examples([(images[0], 1)])
iterators.SerialIterator(pairs, batchsize=2)  # wrong: batchsize
iterators.SerialIterator(pairs, "2")  # wrong: "int"

# Training
updater = updaters.StandardUpdater(batches, adam, device=None)
trainer = training.Trainer(updater, (3, "epoch"), out="result")
trainer.extend(extensions.LogReport(trigger=(1, "epoch")))
trainer.extend(extensions.snapshot(n_retains=2), trigger=triggers.MinValueTrigger("loss"))
trainer.extend(extensions.Evaluator(batches, net), name="val", call_before_training=True)
trainer.run()
updaters.StandardUpdater(batches, adam, devise=None)  # wrong: devise
updaters.StandardUpdater(batches, net)  # wrong: Optimizer
extensions.LogReport(trigger="epoch")  # wrong: trigger
extensions.LogReport(trigge=(1, "epoch"))  # wrong: trigge
extensions.snapshot(trigger=(1, "epoch"))  # wrong: trigger
extensions.snapshot(n_retains="2")  # wrong: "int"
trainer.extend(extensions.LogReport(), invoke_before_training=True)  # wrong: invoke_before_training


@training.make_extension(trigger=(1, "epoch"), priority=training.PRIORITY_READER)
def told(trainer: training.Trainer) -> None:
    print(trainer.updater.epoch)


trainer.extend(told)
training.make_extension(priorty=3)  # wrong: priorty


# Methods that the library calls: their arguments may be named as one likes, and a trainer is one
class Squares(core.dataset.DatasetMixin):
    def __len__(self) -> int:
        return 3

    def get_example(self, index: int) -> int:
        return index**2


class Twice(core.FunctionNode):
    def check_type_forward(self, types: Any) -> None:
        pass

    def forward(self, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (2 * xs[0],)

    def backward(self, indexes: tuple[int, ...], gys: Any) -> tuple[Variable, ...]:
        return (2 * gys[0],)


class Thrice(core.Function):
    def forward_cpu(self, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (3 * xs[0],)

    def backward(self, xs: tuple[Any, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return (3 * gys[0],)


class Labels(core.FunctionHook):
    def forward_preprocess(self, node: Any, arrays: tuple[Any, ...]) -> None:
        print(node.label)


class Calls(core.LinkHook):
    def forward_postprocess(self, call: Any) -> None:
        print(call.out)


class Ones(core.Initializer):
    def __call__(self, filled: Any) -> None:
        filled[...] = 1


class Told(training.Extension):
    def initialize(self, trainer: training.Trainer) -> None:
        print(trainer.updater.epoch)

    def __call__(self, run: training.Trainer) -> None:
        print(run.updater.iteration)


def at_end(trainer: training.Trainer) -> bool:
    return trainer.updater.iteration == 9


trainer.extend(Told(), trigger=at_end)
training.make_extension(trigger=at_end, initializer=at_end)
first_parameters = [p for p in adam.target.params() if p.ndim > adam.target.inner.W.ndim]

# Initializers, configuration, files
L.Linear(3, 4, initialW=initializers.HeNormal(scale=2))
initializers.HeNormal(scal=2)  # wrong: scal
core.config.train = False
core.config.dtype = core.mixed16
core.global_config.use_cudnn = "never"
core.config.trian = True  # wrong: trian
core.config.train = "no"  # wrong: "bool"
core.global_config.use_cudnn = "sometimes"  # wrong: Literal
anything = core.config.no_such_entry  # wrong: no_such_entry
with core.using_config("train", False), core.no_backprop_mode():
    y = F.relu(x)
with core.using("numpy"):
    serializers.save_npz("model.npz", net)
serializers.save_npz("model.npz", net, compres=True)  # wrong: compres
core.using_config("train")  # wrong: value

# An installed plugin of somebody else
y = F.wave(x, height=2.0)
y = F.wave(images, 2.0, periods=(1, 2))
Wave(height=1.0)
optimizers.Drift(speed=0.1).setup(net)
F.wave(x, heigth=2.0)  # wrong: heigth
F.wave(x, "high")  # wrong: "float"
F.wave("x")  # wrong: Array
optimizers.Drift(sped=0.1)  # wrong: sped
