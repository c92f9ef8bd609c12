"""What links do beside being called: states, statistics, masks, samples; run with both systems.

Each script sees `C` (the system), `L`, `F`, `np`, and `x(shape, name)`, which gives the same values
everywhere; it sets `result`, a list of arrays, variables and numbers.
"""

import numpy as np
from data.links.link_facts import fill, told
from data.links.vision_values import values

FINETUNE = """
link = {made}
fill(link)
link(x({shape}))
link.start_finetuning()
y = [link(x({shape}, i), finetune=True) for i in "abc"]
result = [*y, *(getattr(link, name) for name in sorted(link._persistent))]
"""

STATE = """
link = {made}
fill(link)
link(x((3, 4)))
link.set_state({state})
result = [link(x((3, 4), "b")), link(x((3, 4), "c"))]
link.reset_state()
result.append(link(x((2, 4))))
"""

SAMPLED = """
class Sampler:
    def sample(self, shape):
        return (np.arange(np.prod(shape)) % 4).reshape(shape).astype("i")
link = {made}
link.W.array[...] = x(link.W.shape, "W")
link.sampler = Sampler()
link.cleargrads()
given = C.Variable(x((3, 4)))
loss = link(given, np.array({labels}, "i"){more})
F.sum(loss).backward()
result = [loss, given.grad, link.W.grad]
"""

SCRIPTS = {
    "finetune BatchNormalization": FINETUNE.format(made="L.BatchNormalization(4)", shape=(3, 4)),
    "finetune BatchNormalization by axis": FINETUNE.format(
        made="L.BatchNormalization(3, axis=(0, 2))", shape=(2, 3, 4)
    ),
    "finetune BatchRenormalization": FINETUNE.format(
        made="L.BatchRenormalization(4, 2, 1)", shape=(3, 4)
    ),
    "finetune DecorrelatedBatchNormalization": FINETUNE.format(
        made="L.DecorrelatedBatchNormalization(4, 2)", shape=(8, 4)
    ),
    "LSTM set_state": STATE.format(
        made="L.LSTM(4, 3)",
        state="C.Variable(x((3, 3), 'c')), C.Variable(x((3, 3), 'h'))",
    ),
    "StatefulZoneoutLSTM set_state": STATE.format(
        made="L.StatefulZoneoutLSTM(4, 3, c_ratio=0, h_ratio=0)",
        state="C.Variable(x((3, 3), 'c')), C.Variable(x((3, 3), 'h'))",
    ),
    "StatefulZoneoutLSTM, all kept": STATE.format(
        made="L.StatefulZoneoutLSTM(4, 3, c_ratio=1, h_ratio=1)",
        state="C.Variable(x((3, 3), 'c')), C.Variable(x((3, 3), 'h'))",
    ),
    "GRU set_state": STATE.format(made="L.GRU(4, 3)", state="C.Variable(x((3, 3), 'h'))"),
    "StatefulMGU set_state": STATE.format(
        made="L.StatefulMGU(4, 3)", state="C.Variable(x((3, 3), 'h'))"
    ),
    "LSTM state": """
link = L.LSTM(4, 3)
fill(link)
link(x((3, 4)))
link(x((2, 4), "shorter"))
result = [link.c, link.h]
""",
    "StatelessLSTM without a state": """
link = L.StatelessLSTM(4, 3)
fill(link)
result = [*link(None, None, x((3, 4))), *link(x((3, 3)), None, x((3, 4)))]
""",
    "SimplifiedDropconnect with a mask": """
link = L.SimplifiedDropconnect(4, 3, ratio=0.25)
fill(link)
masks = [x((3, 3, 4), "m") > 0, x((3, 4), "m") > 0]
result = [link(x((3, 4)), mask=masks[0]), link(x((3, 4)), mask=masks[1], use_batchwise_mask=False)]
""",
    "NegativeSampling": SAMPLED.format(
        made="L.NegativeSampling(4, [3, 2, 5, 1], 2)", labels=[0, 2, 1], more=""
    ),
    "NegativeSampling, ignoring, no sum": SAMPLED.format(
        made="L.NegativeSampling(4, [3, 2, 5, 1], 2)", labels=[0, -1, 1], more=", reduce='no'"
    ),
    "BlackOut": """
class Sampler:
    def sample(self, shape):
        return np.array([[0, 3], [1, 1], [2, 0]], "i")
link = L.BlackOut(4, [3, 2, 5, 1], 2)
link.W.array[...] = x(link.W.shape, "W")
link.sampler = Sampler()
link.cleargrads()
given = C.Variable(x((3, 4)))
loss = link(given, np.array([0, 2, 1], "i"))
loss.backward()
result = [loss, given.grad, link.W.grad]
""",
    "Classifier": """
link = L.Classifier(L.Linear(4, 3), label_key=0)
fill(link)
loss = link(np.array([0, 2, 1], "i"), x((3, 4)))
result = [loss, link.y, link.accuracy]
""",
    "CRF1d": """
link = L.CRF1d(3)
fill(link)
xs = [x((2, 3), "a"), x((2, 3), "b"), x((1, 3), "c")]
ys = [np.array(y, "i") for y in ([0, 2], [1, 1], [2])]
scores, labels = link.argmax(xs)
result = [link(xs, ys, reduce="no"), scores, *labels]
""",
    "BinaryHierarchicalSoftmax.create_huffman_tree": """
tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4})
link = L.BinaryHierarchicalSoftmax(3, tree)
fill(link)
result = [link(x((4, 3)), np.arange(4, dtype="i"))]
""",
    "Linear, two axes of the batch": """
link = L.Linear(None, 3)
link(x((2, 3, 4)), n_batch_axes=2)
fill(link)
result = [link(x((2, 3, 4)), n_batch_axes=2), link(x((2, 3, 2, 2)), n_batch_axes=2)]
""",
    "EmbedID, several axes": """
link = L.EmbedID(4, 3, ignore_label=-1)
fill(link)
result = [link(np.array([[0, -1], [3, 2]], "i"))]
""",
    "from_params": """
made = [
    L.Linear.from_params(x((3, 4), "W"), x((3,), "b")),
    L.Linear.from_params(x((3, 4), "W"), nobias=True),
    L.EmbedID.from_params(x((3, 4), "W")),
    L.Convolution2D.from_params(x((2, 3, 3, 3), "W"), x((2,), "b"), stride=2, pad=1),
    L.ConvolutionND.from_params(x((2, 3, 3), "W"), x((2,), "b"), pad=1),
]
result = [p.array for link in made for _, p in sorted(link.namedparams())]
result += [made[0](x((2, 4))), made[3](x((1, 3, 5, 5))), made[4](x((1, 3, 5)))]
""",
    "NStepLSTM without a state": """
link = L.NStepLSTM(2, 4, 3, 0)
fill(link)
hy, cy, ys = link(None, None, [x((3, 4)), x((1, 4), "b"), x((2, 4), "c")])
result = [hy, cy, *ys, link.n_cells, link.n_weights, int(link.use_bi_direction)]
""",
    "NStepBiGRU without a state": """
link = L.NStepBiGRU(1, 4, 3, 0)
fill(link)
hy, ys = link(None, [x((3, 4)), x((1, 4), "b"), x((2, 4), "c")])
result = [hy, *ys, link.n_cells, link.n_weights, int(link.use_bi_direction)]
""",
    "ChildSumTreeLSTM, other numbers of children": """
link = L.ChildSumTreeLSTM(4, 3)
fill(link)
cs, hs = ([x((2, 3), f"{name}{i}") for i in range(3)] for name in "ch")
result = [*link(*cs[:1], *hs[:1], x((2, 4))), *link(*cs, *hs, x((2, 4)))]
""",
    "ChildSumTreeLSTM, a leaf": """
link = L.ChildSumTreeLSTM(4, 3)
fill(link)
result = [*link(None, None, x((2, 4)))]
""",
    "NaryTreeLSTM, a leaf": """
link = L.NaryTreeLSTM(4, 3, 2)
fill(link)
result = [*link(None, None, None, None, x((2, 4)))]
""",
    "frozen links": """
link = L.Classifier(L.Linear(4, 3))
fill(link)
link.disable_update()
result = [link(x((3, 4)), np.array([0, 2, 1], "i"))]
""",
    "BatchNormalization in two modes": """
link = L.BatchNormalization(3)
fill(link)
for name in "abcd":
    link(x((4, 3), name))
with C.using_config("train", False):
    y = link(x((4, 3)))
result = [y, link.avg_mean, link.avg_var]
""",
}


def run(source, system):
    """What a script results in, told in a few numbers."""
    scope = {
        "C": system,
        "L": system.links,
        "F": system.functions,
        "np": np,
        "fill": fill,
        "x": lambda shape, name="x": values(name, shape).astype("f"),
    }
    exec(source, scope)
    arrays = [np.asarray(getattr(value, "array", value)) for value in scope["result"]]
    return [[list(array.shape), str(array.dtype), told(array)] for array in arrays]


def all_scripts(system):
    return {name: run(source, system) for name, source in SCRIPTS.items()}
