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
    ("refused there", "mean-1[23] average-1[23]", "Weights may have several axes, as in NumPy."),
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
    ("refused there", "det-1", "Determinants of 0 have gradients, by cofactors."),
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
        "scatter_add-? transpose_sequence-? arctan2-? einsum-? sparse_matmul-? r2_score-? "
        "zoneout-1",
        "Real arguments have one dtype, but for weights and the factors of matrix products.",
    ),
    (
        "another dtype",
        "linear-? *convolution_*-?",
        "The result has the dtype of x, as in Chainer 3, and biases too; Chainer 7 promotes.",
    ),
    (
        "another dtype",
        "batch_matmul-? bilinear-? black_out-? negative_sampling-?",
        "All products of matrices promote.",
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


MIXED = (
    (
        "batch_matmul?* bilinear?* black_out?* negative_sampling?*",
        "All products of matrices take the wider dtype, as matmul does.",
    ),
    ("r2_score?*", "What is compared has one dtype."),
    (
        "batch_normalization?0?float16 batch_renormalization?0?float16",
        "16-bit examples are normalized in float32, by parameters of either dtype.",
    ),
)
"""Functions that take other mixed dtypes than Chainer 3.0.0, and why."""

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
        "dstack hstack vstack stack separate",
        "Arrays are reshaped and concatenated, or stacked or taken apart by one operation.",
    ),
    (
        "convolution_* deconvolution_* depthwise_* dilated_*",
        "There is one operation for any number of axes, dilation and groups.",
    ),
    ("mean average rsqrt", "They are operations of their own."),
    ("prelu r2_score", "The operation is called by the name of its class."),
    ("broadcast", "Each input is broadcast by an operation of its own."),
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
# Probes of tests/data/behaviour of which other things come than in Chainer 3.0.0, and why. Where
# Chainer raises, what works here needs no mention; other classes of errors do.
BEHAVIOUR = {
    "links": (
        (
            "add_param_pos add_param_kw",
            "A dtype that is given holds beside an initializer.",
        ),
        (
            "new_grad_* add_param_no_init",
            "The gradient of a new parameter is None, not NaN: the first backward gives the true "
            "one, and parameters that are never trained cost no memory for one.",
        ),
        (
            "scope_twice_param",
            "Twice one name in one block is a slip of copying; a later block may replace.",
        ),
        (
            "scope_same_link_two_names chainlist_same_twice",
            "One link twice in a chain is a slip as in `[layer] * 3`; call it twice to share it.",
        ),
        ("scope_link_in_link", "The link would not be trained; the cure is named."),
        (
            "scope_param_then_number replace_W_number replace_W_link replace_W_variable*",
            "Chainer goes on with a parameter that is none, and fails in the optimizer or when "
            "saving; here `del` says that it is meant.",
        ),
        (
            "replace_b_none_params replace_b_none_namedparams replace_child_lambda_children",
            "What stands in is no parameter and no child: Chainer lists it, and fails on it.",
        ),
        ("replace_W_array_params", "The array becomes the parameter's values, and is trained."),
        ("replace_W_param_name replace_child_link", "What replaces another gets its name."),
        (
            "replace_child_number replace_child_list replace_child_param chainlist_add_fn",
            "Chainer takes them, and fails when it walks the links.",
        ),
        ("copyparams_persistent", "Running statistics are copied too, as by later versions."),
        ("disable_before_setup", "A link that was frozen before setup stays frozen."),
        (
            "link_kw_pair_int chainlist_bad chainlist_attr_link copyparams_other_chain",
            "What is refused is refused by a class that says what kind of error it is.",
        ),
        (
            "link_call_missing chain_no_call",
            "__call__ says that forward is missing.",
        ),
    ),
    "optimizers": (
        (
            "hyper_change_number_to_none hyper_string_for_number",
            "What was a number stays one: a slip would show in the step, or never.",
        ),
        (
            "hyper_opt_new hyper_rule_new opt_attr_set",
            "Where names are declared, another one is a slip (`adam.learning_rate`).",
        ),
        ("setup_returns", "It gives the optimizer, as in later versions."),
        (
            "update_no_setup update_variable_loss update_vector_loss update_tuple_loss "
            "update_float_loss hook_call_hooks_unsetup ser_unsetup hook_same param_uninit_len "
            "param_uninit_use var_copydata_*",
            "Chainer's errors come from where it stumbles; these say what is expected.",
        ),
        (
            "update_grad_none update_unused_*",
            "A parameter without a gradient is left alone; its rule counts no step.",
        ),
        ("rule_hook_clipping rule_hook_class hook_call_each", "Refused where they are added."),
        (
            "ser_opt ser_opt_before_update",
            "Files name the rules, and the state to come.",
        ),
        ("param_initialize_twice", "Links call it each time; what there is stays."),
        ("opt_float16_zero_*", "0 / 0 is NaN in Chainer; here the element stands still."),
    ),
    "data": (
        ("cfg_local_show", "Texts are shown with quotes."),
        ("cfg_names", "There are entries of later versions."),
        (
            "rep_*none* rep_scope_fn_noreporter summary_empty_* it_empty* ser_npz_missing",
            "The errors say what is expected.",
        ),
        ("summary_var", "A mean is a number, without a graph."),
        ("it_shuffle", "Orders are drawn as by version 7: a permutation for each pass."),
        (
            "it_big_batch",
            "A batch may be larger than two passes.",
        ),
        ("it_zero_batch ds_sub_bad", "What gives nothing for ever is refused."),
        ("ds_mixin", "Negative indices count from the end, as they do in lists and slices."),
        ("ds_split_float", "Where a dataset is split is a whole number."),
        ("it_array ds_tuple_np", "Batches are lists, shuffled or not; items are examples."),
        ("ds_mixin_missing* ser_base_*", "What lacks a method is told when it is made."),
        ("init_Orthogonal", "It draws as version 7 does."),
    ),
    "programs": (
        ("evaluator_eval_func", "Means are over the examples: a short last batch counts for less."),
    ),
    "training": (
        ("trig_bad_unit* trig_zero_period", "The errors say what is expected."),
        ("up_epoch_to_opt", "The updater counts the optimizer's epochs, as in later versions."),
        ("up_ser tr_ser_keys", "Files name the rules."),
        ("upd_base*", "What lacks a method is told when it is made."),
        ("tr_ext_late_extend", "An extension that is added during a run is refused."),
        ("x_print* x_progress*", "Tables have lines; bars are for terminals."),
        ("x_snapshot_prio", "A snapshot of the trainer is taken after those of objects."),
        ("x_dump_graph*", "The graph is written for Mermaid as well."),
    ),
}
