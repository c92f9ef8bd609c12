"""Cases of losses."""

from oracles.cases import Family, real, values, whole

CASES = Family()
add = CASES.add
SUMS = ("sum", "no", "mean")

for name in ("absolute_error", "squared_error", "mean_absolute_error", "mean_squared_error"):
    add(name, real(2, 3), real(2, 3))
    add(name, real(), real())
    add(name, values([1.0, 2.0, 0.0]), values([1.0, 1.0, 1.0]))
    add(name, real(2, 3), real(3))
for reduce in (*SUMS, "bad"):
    add("bernoulli_nll", real(2, 3, lo=0.0, hi=1.0), real(2, 3), reduce)
    add("gaussian_kl_divergence", real(2, 3), real(2, 3), reduce)
    add("gaussian_nll", real(2, 3), real(2, 3), real(2, 3), reduce)
add("bernoulli_nll", values([0.0, 1.0]), values([1000.0, -1000.0]), "no")
add("gaussian_kl_divergence", real(2, 3), real(2, 3))
add("gaussian_nll", real(2, 3), real(2, 3), real(2, 3))
for reduce in ("mean", "no"):
    samples = values([[0, 1], [2, 0], [1, 1]], "int32")
    add("black_out", real(3, 2), values([1, 0, 2], "int32"), real(4, 2), samples, reduce)
    for norm in ("L1", "L2"):
        add("hinge", real(3, 4), values([0, 3, 1], "int32"), norm, reduce)
        add("hinge", values([[1.0, -1.0, 0.0]]), values([1], "int32"), norm=norm, reduce=reduce)
    add("hinge", real(3, 4), values([0, -1, 1], "int32"), reduce=reduce)
    add("contrastive", real(4, 2), real(4, 2), values([0, 1, 1, 0], "int32"), 1, reduce)
    add("contrastive", real(4, 2), real(4, 2), values([0, 1, 0, 0], "int32"), 3.0, reduce)
    same = values([[1.0, 2.0], [0.5, 0.5]])
    add("contrastive", same, same, values([1, 0], "int32"), reduce=reduce)
    add("triplet", real(3, 2), real(3, 2), real(3, 2), 0.2, reduce)
    add("triplet", real(3, 2), real(3, 2), real(3, 2), margin=5.0, reduce=reduce)
    add("triplet", same, same, same, margin=0.0, reduce=reduce)
add("hinge", real(3, 4), values([0, 4, 1], "int32"))
add("hinge", real(3, 4), values([0, 1, 1], "int32"), "L3")
add("contrastive", real(4, 2), real(4, 2), values([0, 2, 1, 0], "int32"))
for reduce in ("half_squared_sum", "no"):
    add("cross_covariance", real(4, 2), real(4, 3), reduce)
    add("decov", real(4, 3), reduce)
for reduce in ("sum_along_second_axis", "no"):
    add("huber_loss", real(3, 2, 2), real(3, 2, 2), 1.0, reduce)
    add("huber_loss", real(3, 2), real(3, 2), delta=0.3, reduce=reduce)
    add("huber_loss", values([[0.0, 1.0, -1.0, 2.0]]), values([[0.0] * 4]), 1.0, reduce)

for reduce in ("mean", "no"):
    add("crf1d", real(3, 3), [real(2, 3), real(2, 3)], [whole(2), whole(2)], reduce)
    add("crf1d", real(3, 3), [real(3, 3), real(2, 3)], [whole(3), whole(2)], reduce=reduce)
    x, t = [real(2, 4) for _ in range(4)], values([[1, 2], [3, 3]], "int32")
    add("connectionist_temporal_classification", x, t, 0, reduce=reduce)
    add(
        "connectionist_temporal_classification",
        x,
        values([[1, 0], [2, 1]], "int32"),
        3,
        reduce=reduce,
    )
    add(
        "connectionist_temporal_classification",
        *(x, t, 0, values([4, 3], "int32"), values([2, 1], "int32"), reduce),
    )
    short = values([3, 2], "int32")
    add("connectionist_temporal_classification", x, t, 0, short, reduce=reduce)
    add("connectionist_temporal_classification", x[:2], t, 0, reduce=reduce)
add("crf1d", real(3, 3), [real(2, 3), real(1, 3), real(1, 3)], [whole(2), whole(1), whole(1)])
add("argmax_crf1d", real(3, 3), [real(2, 3), real(2, 3)])
add("argmax_crf1d", real(3, 3), [real(3, 3), real(1, 3)])

NEGATIVE = [[3, 0, 1], [3, 2, 0], [3, 1, 3]]


def drawn(shape):
    return np_array(NEGATIVE)[: shape[0], : shape[1]]


def np_array(given):
    import numpy as np

    return np.array(given, "int32")


for reduce in ("sum", "no"):
    t = values([1, 0, 2], "int32")
    add("negative_sampling", real(3, 2), t, real(4, 2), drawn, 2, reduce)
    ignored = values([1, -1, 2], "int32")
    add("negative_sampling", real(3, 2), ignored, real(4, 2), drawn, 2, reduce)
add("negative_sampling", real(3, 2), t, real(4, 2), drawn, 1, return_samples=True)

SIGNS = values([[1, 0, -1], [0, 0, 1]], "int32")
for reduce in ("mean", "no"):
    for normalize in (True, False):
        add("sigmoid_cross_entropy", real(2, 3), SIGNS, normalize, reduce)
    add(
        "sigmoid_cross_entropy", values([[1e3, -1e3, 5.0], [-1e3, 1e3, 1e-3]]), SIGNS, reduce=reduce
    )
    add("sigmoid_cross_entropy", real(2, 3), values([[-1] * 3] * 2, "int32"), reduce=reduce)
add("sigmoid_cross_entropy", real(2, 3), whole(2, 2))
add("sigmoid_cross_entropy", real(4), values([0, 1, -1, 1], "int32"), False)

weight = real(4, lo=0.5, plain=True)
for options in (
    {},
    {"normalize": False},
    {"reduce": "no"},
    {"class_weight": weight},
    {"class_weight": weight, "reduce": "no"},
    {"class_weight": weight, "normalize": False},
    {"ignore_label": 2},
    {"cache_score": False},
    {"cache_score": False, "class_weight": weight},
    {"enable_double_backprop": True},
    {"enable_double_backprop": True, "class_weight": weight},
    {"enable_double_backprop": True, "reduce": "no"},
    {"enable_double_backprop": True, "normalize": False, "ignore_label": 1},
):
    add("softmax_cross_entropy", real(3, 4), values([1, -1, 2], "int32"), **options)
    add("softmax_cross_entropy", real(2, 4, 2), values([[1, -1], [3, 0]], "int32"), **options)
add("softmax_cross_entropy", values([[1e3, -1e3, 0.0]] * 2), values([0, 1], "int64"), reduce="no")
add("softmax_cross_entropy", real(3, 4), values([-1, -1, -1], "int32"))
add("softmax_cross_entropy", real(3, 4), values([-1, -1, -1], "int32"), enable_double_backprop=True)
add("softmax_cross_entropy", real(3, 4), values([0, 4, 1], "int32"))
add("softmax_cross_entropy", real(3, 4), values([0, -2, 1], "int32"))
add("softmax_cross_entropy", real(3, 4), whole(2))
add("softmax_cross_entropy", real(0, 4), values([], "int32"))
soft = values([[0.1, 0.2, 0.3, 0.4], [0.7, 0.0, 0.2, 0.1], [0.0, 1.0, 0.0, 0.0]], plain=True)
for options in (
    {},
    {"reduce": "no"},
    {"soft_target_loss": "kl-divergence"},
    {"soft_target_loss": "kl-divergence", "reduce": "no"},
    {"normalize": False},
    {"class_weight": weight},
    {"enable_double_backprop": True},
    {"enable_double_backprop": True, "reduce": "no", "soft_target_loss": "kl-divergence"},
    {"soft_target_loss": "bad"},
):
    add("softmax_cross_entropy", real(3, 4), soft, **options)
add("softmax_cross_entropy", real(3, 4), real(3, 4, lo=0.1, plain=True))
deep = values([[[0.5, 0.25], [0.5, 0.75]]] * 2, plain=True)
add("softmax_cross_entropy", real(2, 2, 2), deep)
add("softmax_cross_entropy", real(2, 2, 2), deep, reduce="no")
add("softmax_cross_entropy", real(2, 2, 2), deep, normalize=False)

segments = values([[[0, 0, 1], [1, 2, 2]]], "int32")
for options in ({}, {"norm": 2}, {"alpha": 2.0, "beta": 0.5, "gamma": 0.1}):
    add(
        "discriminative_margin_based_clustering_loss",
        *(real(1, 3, 2, 3), segments, 0.5, 1.5, 3),
        **options,
    )
add(
    "discriminative_margin_based_clustering_loss",
    *(real(2, 2, 2, 2), values([[[0, 0], [1, 1]], [[0, 1], [0, 1]]], "int32"), 0.1, 1.5, 2),
)
