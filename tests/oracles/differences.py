"""Where plugrad deliberately does other than Chainer 7.8.1: cases, what differs, and why.

What differs is one of: `outputs`, `gradients` and `watched` arrays, their `dtypes`, `refused here`
(Chainer computes), `refused there` (plugrad computes).
"""

from fnmatch import fnmatchcase

DIFFERENCES = (
    (
        "gradients",
        "ceil-* fix-* floor-* sign-*",
        "Chainer gives none where the derivative is zero almost everywhere; here it is zeros.",
    ),
    ("gradients", "r2_score-[012456]", "Chainer's score has no gradient; here it has."),
    (
        "gradients",
        "pad-[3-9] pad-1[0-2]",
        "Chainer cuts the gradient back as if the border were constant; borders depend on x.",
    ),
    (
        "gradients",
        "arctan2-1 fmod-1",
        "Chainer does not sum the gradients of broadcast inputs up, so they have other shapes.",
    ),
    (
        "gradients",
        "connectionist_temporal_classification-[3489]",
        "Chainer's gradient of labels that fit into no alignment is arbitrary or NaN; here 0.",
    ),
    (
        "gradients",
        "softmax_cross_entropy-42",
        "Chainer's gradient holds only for probabilities that sum to 1.",
    ),
    (
        "outputs gradients",
        "softmax_cross_entropy-38",
        "Chainer ignores the class weights where probabilities are given.",
    ),
    (
        "gradients",
        "discriminative_margin_based_clustering_loss-1",
        "Chainer's gradient of a norm at 0 is NaN; here it is 0.",
    ),
    (
        "outputs",
        "roi_max_pooling_2d-1 roi_max_align_2d-1",
        "Bins without elements are -inf in Chainer on the CPU, and 0 on the GPU; here they are 0.",
    ),
    (
        "outputs gradients",
        "contrastive-6",
        "Labels are 0 and 1; what a 2 gives is an accident of arithmetic.",
    ),
    (
        "dtypes",
        "classification_summary-* precision-* recall-* f1_score-*",
        "Chainer divides counts in float64 whatever the scores are; here single stays single.",
    ),
    (
        "dtypes",
        "max_pooling_?d-3 max_pooling_?d-4 max_pooling_nd-[3489] max_pooling_nd-1[34]",
        "Indices are int32, as in Chainer on the GPU, and int64 in Chainer on the CPU.",
    ),
    (
        "gradients",
        "forget-0",
        "Chainer draws another mask when it computes again; here it is the same.",
    ),
    (
        "refused here",
        "select_item-3 embed_id-4 hinge-4 hinge-9 softmax_cross_entropy-1[23] "
        "softmax_cross_entropy-2[45] softmax_cross_entropy-30",
        "Chainer lets a negative label count from the end; here it is out of range.",
    ),
    (
        "refused here",
        "split_axis-9",
        "Indices that fall make parts that overlap, whose gradient Chainer gets wrong.",
    ),
    (
        "refused here",
        "sum_to-4",
        "Chainer loses elements where a shape does not broadcast.",
    ),
    (
        "refused there",
        "maxout-3 permutate-3 repeat-4 bias-3 scale-3",
        "Axes may be counted from the end.",
    ),
    (
        "refused there",
        "where-[45] maximum-[45] minimum-[45] fmod-3 polygamma-2",
        "A number may stand for an array.",
    ),
    ("refused there", "squared_difference-1", "The shapes may broadcast, as in all arithmetic."),
    ("refused there", "einsum-4", "Dimensions of an ellipsis may broadcast, as in numpy.einsum."),
    ("refused there", "sum-10", "Integers may be summed."),
    ("refused there", "rrelu-4", "An interval may be a point."),
    ("refused there", "zeta-1", "Both arguments may be Variables; only q has a derivative."),
    ("refused there", "softmax_cross_entropy-32", "There may be no examples."),
    (
        "refused there",
        "softmax_cross_entropy-39 softmax_cross_entropy-40",
        "Probabilities have derivatives of any order.",
    ),
    (
        "refused there",
        "batch_normalization-1[89] batch_normalization-20 fixed_batch_normalization-1[23]",
        "All axes may be normalized over, with numbers for gamma and beta.",
    ),
    ("refused there", "batch_renormalization-12", "Running statistics need not be given."),
)


def known(name):
    """What is known to differ in a case."""
    found = [
        what.split() if "refused" not in what else [what]
        for what, names, _ in DIFFERENCES
        if any(fnmatchcase(name, pattern) for pattern in names.split())
    ]
    return {each for part in found for each in part}


SPOILT = (
    (
        "no elements",
        "*",
        "There may be no examples, images or elements; or none where x is divided.",
    ),
    (
        "another dtype",
        "scatter_add-? transpose_sequence-? linear-? *convolution_*-? black_out-? arctan2-? "
        "matmul-? einsum-? sparse_matmul-? r2_score-? zoneout-1",
        "Real arguments have one dtype, as in Chainer 3; Chainer 7 promotes.",
    ),
    (
        "integers",
        "scatter_add-? transpose_sequence-? zoneout-1",
        "All arguments have one dtype.",
    ),
    (
        "integers",
        "ceil-? fix-? floor-? sum_to-?",
        "Integers are not rounded, nor summed to a shape.",
    ),
    (
        "integers",
        "fliplr-? flipud-? moveaxis-? absolute-? sum-? cumsum-? cumprod-? forget-?",
        "Integers have no derivatives, and otherwise all that others have.",
    ),
    (
        "an axis more, an axis less",
        "dstack-1 hstack-1 vstack-1",
        "Arrays of fewer axes are made fit, as by numpy.vstack and its kin.",
    ),
    (
        "an axis more, an axis less",
        "squared_difference-?",
        "The shapes may broadcast, as in all arithmetic.",
    ),
    (
        "an axis more, an axis less",
        "layer_normalization-?",
        "The last axes are normalized over, however many there are before them.",
    ),
    (
        "an axis less, one element less",
        "as_strided-? sum_to-?",
        "Chainer reads beyond the array, or loses elements.",
    ),
    (
        "one element less",
        "deconvolution_*-?",
        "Chainer takes biases that are too few, and broadcasts or ignores them.",
    ),
    (
        "one element less",
        "negative_sampling-?",
        "Chainer does not see that W has other columns than x.",
    ),
    (
        "an axis more, an axis less",
        "argmax_crf1d-? zoneout-1",
        "Chainer broadcasts what has other axes.",
    ),
    ("an axis less", "dropout-?", "Here a mask cannot make more elements of x."),
    (
        "one element less",
        "spatial_pyramid_pooling_2d-1",
        "Windows that see nothing are -inf in Chainer.",
    ),
)
"""Where spoilt cases differ: how they are spoilt, which they are, and why one takes them."""


def may_differ(name, how):
    """Whether Chainer and plugrad are known to treat a spoilt case differently."""
    return any(
        how in ways.split(", ") and any(fnmatchcase(name, p) for p in names.split())
        for ways, names, _ in SPOILT
    )


LABELS = (
    (
        "x?[-+*/]?array array?[-+*/]?x x?[*][*]?array array?[*][*]?x",
        "An array is an input like any other.",
    ),
    (
        "x?-?[-0-9]* x?/?[-0-9]* *[0-9]?/?x",
        "The label says what was written: x - 2.0, x / 2.0, 2.0 / x.",
    ),
    ("m?@?m batch_matmul", "There is one operation for all products of matrices."),
    (
        "dstack hstack vstack stack",
        "Arrays are reshaped and concatenated, or stacked by one operation.",
    ),
    (
        "convolution_* deconvolution_* depthwise_* dilated_*",
        "There is one operation for any number of axes, dilation and groups.",
    ),
    ("mean average rsqrt", "They are operations of their own."),
    ("prelu r2_score", "The operation is called by the name of its class."),
    (
        "bilinear black_out crf1d negative_sampling batch_renormalization n_step_* "
        "fixed_batch_renormalization",
        "They are composed of other operations.",
    ),
    (
        "argmax argmin accuracy binary_accuracy classification_summary precision recall f1_score",
        "What has no derivative is not in the graph.",
    ),
)
"""Names of cases and operators whose labels differ from Chainer 3.0.0, and why."""

ATTRIBUTES = (
    (
        "LogSumExp.axis Max.axis Min.axis Prod.axis Sum.axis Squeeze.axis",
        "An axis stays what it was given as.",
    ),
    ("*ND.ksize *ND.stride *ND.pad", "One number stands for all axes."),
    (
        "CrossCovariance.* DeCov.* ConnectionistTemporalClassification.zero_padding",
        "What is kept for the gradient, or chosen for it, is no setting.",
    ),
)
"""Attributes of function classes that differ from Chainer 3.0.0, and why."""
