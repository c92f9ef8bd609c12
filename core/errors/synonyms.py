"""What other libraries call things, and what to write here: one table, by where a name is typed.

A value is a name of the same place, or an expression, in which `x` is a Variable, `model` a link
and `optimizer` an optimizer; `numpy` is there for functions of NumPy's that take Variables. Several
names are for arguments, of which a function has one.
"""

from __future__ import annotations

from typing import Any

from core.errors.exceptions import UnknownName

_TRAIN = "core.using_config('train', True)"
_EVAL = "core.using_config('train', False)"
_SAVE = "core.serializers.save_npz('model.npz', model)"
_LOAD = "core.serializers.load_npz('model.npz', model)"

TABLE: dict[str, dict[str, str | tuple[str, ...]]] = {
    "backends": {"cpu": "numpy", "cupy": "cuda", "gpu": "cuda", "np": "numpy"},
    "functions": {
        "addmm": "linear",
        "affine_grid": "spatial_transformer_grid",
        "argsort": "numpy.argsort",
        "avg_pool1d": "average_pooling_1d",
        "adaptive_avg_pool1d": "adaptive_average_pooling_nd",
        "adaptive_avg_pool2d": "adaptive_average_pooling_nd",
        "adaptive_avg_pool3d": "adaptive_average_pooling_nd",
        "adaptive_max_pool1d": "adaptive_max_pooling_nd",
        "adaptive_max_pool2d": "adaptive_max_pooling_nd",
        "adaptive_max_pool3d": "adaptive_max_pooling_nd",
        "avg_pool2d": "average_pooling_2d",
        "avg_pool3d": "average_pooling_3d",
        "batch_norm": "batch_normalization",
        "bce_loss": "sigmoid_cross_entropy",
        "bce_with_logits": "sigmoid_cross_entropy",
        "binary_cross_entropy": "sigmoid_cross_entropy",
        "binary_cross_entropy_with_logits": "sigmoid_cross_entropy",
        "binary_crossentropy": "sigmoid_cross_entropy",
        "bmm": "matmul",
        "cat": "concat",
        "categorical_crossentropy": "softmax_cross_entropy",
        "chunk": "split_axis",
        "clamp": "clip",
        "concatenate": "concat",
        "conv1d": "convolution_1d",
        "conv2d": "convolution_2d",
        "conv3d": "convolution_3d",
        "conv_transpose1d": "deconvolution_1d",
        "conv_transpose2d": "deconvolution_2d",
        "conv_transpose3d": "deconvolution_3d",
        "cross_entropy": "softmax_cross_entropy",
        "crossentropy": "softmax_cross_entropy",
        "ctc_loss": "connectionist_temporal_classification",
        "cumlogsumexp": "logcumsumexp",
        "diff": "numpy.diff",
        "eigh": "numpy.linalg.eigh",
        "embedding": "embed_id",
        "gather": "select_item",
        "grid_sample": "spatial_transformer_sampler",
        "group_norm": "group_normalization",
        "hardswish": "x * core.functions.relu6(x + 3) / 6",
        "hardtanh": "clip",
        "hinge_loss": "hinge",
        "index_add": "scatter_add",
        "instance_norm": "group_normalization",
        "interpolate": "resize_images",
        "isnan": "numpy.isnan",
        "kl_div": "core.distributions.kl_divergence",
        "l1_loss": "mean_absolute_error",
        "layer_norm": "layer_normalization",
        "local_response_norm": "local_response_normalization",
        "logaddexp": "numpy.logaddexp",
        "logdet": "numpy.linalg.slogdet",
        "logsigmoid": "-core.functions.softplus(-x)",
        "mae_loss": "mean_absolute_error",
        "masked_fill": "where",
        "max_pool1d": "max_pooling_1d",
        "max_pool2d": "max_pooling_2d",
        "max_pool3d": "max_pooling_3d",
        "mish": "x * core.functions.tanh(core.functions.softplus(x))",
        "mm": "matmul",
        "mse": "mean_squared_error",
        "mse_loss": "mean_squared_error",
        "multi_head_attention_forward": "core.links.MultiHeadAttention",
        "nll_loss": "softmax_cross_entropy",
        "nms": "non_maximum_suppression",
        "norm": "numpy.linalg.norm",
        "permute": "transpose",
        "pow": "x**2",
        "reduce_max": "max",
        "reduce_mean": "mean",
        "reduce_min": "min",
        "reduce_sum": "sum",
        "rms_norm": "rms_normalization",
        "roi_align": "roi_average_align_2d",
        "roi_pool": "roi_pooling_2d",
        "roll": "numpy.roll",
        "scatter_max": "segment_max",
        "scatter_mean": "segment_mean",
        "scatter_min": "segment_min",
        "scatter_reduce": "segment_max",
        "scatter_softmax": "segment_softmax",
        "scatter_sum": "segment_sum",
        "unsorted_segment_sum": "segment_sum",
        "sigmoid_cross_entropy_with_logits": "sigmoid_cross_entropy",
        "slogdet": "numpy.linalg.slogdet",
        "smooth_l1_loss": "huber_loss",
        "softmax_cross_entropy_with_logits": "softmax_cross_entropy",
        "solve": "numpy.linalg.solve",
        "sort": "numpy.sort",
        "sparse_categorical_crossentropy": "softmax_cross_entropy",
        "split": "split_axis",
        "std": "numpy.std",
        "svd": "numpy.linalg.svd",
        "take_along_axis": "numpy.take_along_axis",
        "topk": "numpy.argsort",
        "tril": "numpy.tril",
        "triplet_margin_loss": "triplet",
        "triu": "numpy.triu",
        "unbind": "separate",
        "unfold": "im2col",
        "unsqueeze": "expand_dims",
        "upsample": "resize_images",
        "var": "numpy.var",
        "view": "reshape",
    },
    "links": {
        "Chain": "core.Chain",
        "ChainDict": "core.ChainDict",
        "ChainList": "core.ChainList",
        "AvgPool1d": "core.functions.average_pooling_1d",
        "AvgPool2d": "AveragePooling2D",
        "AvgPool3d": "core.functions.average_pooling_3d",
        "BatchNorm": "BatchNormalization",
        "BatchNorm1d": "BatchNormalization",
        "BatchNorm2d": "BatchNormalization",
        "BatchNorm3d": "BatchNormalization",
        "BCEWithLogitsLoss": "core.functions.sigmoid_cross_entropy",
        "Conv1d": "Convolution1D",
        "Conv2d": "Convolution2D",
        "Conv3d": "Convolution3D",
        "Conv1DTranspose": "Deconvolution1D",
        "Conv2DTranspose": "Deconvolution2D",
        "Conv3DTranspose": "Deconvolution3D",
        "ConvTranspose1d": "Deconvolution1D",
        "ConvTranspose2d": "Deconvolution2D",
        "ConvTranspose3d": "Deconvolution3D",
        "CrossEntropyLoss": "core.functions.softmax_cross_entropy",
        "CTCLoss": "core.functions.connectionist_temporal_classification",
        "Dense": "Linear",
        "DepthwiseConv2D": "DepthwiseConvolution2D",
        "Embedding": "EmbedID",
        "FullyConnected": "Linear",
        "GroupNorm": "GroupNormalization",
        "GRUCell": "StatelessGRU",
        "InstanceNorm1d": "GroupNormalization",
        "InstanceNorm2d": "GroupNormalization",
        "InstanceNorm3d": "GroupNormalization",
        "L1Loss": "core.functions.mean_absolute_error",
        "LayerNorm": "LayerNormalization",
        "LSTMCell": "StatelessLSTM",
        "MaxPool1d": "core.functions.max_pooling_1d",
        "MaxPool2d": "MaxPooling2D",
        "MaxPool3d": "core.functions.max_pooling_3d",
        "Module": "core.Chain",
        "ModuleDict": "core.ChainDict",
        "ModuleList": "core.ChainList",
        "MSELoss": "core.functions.mean_squared_error",
        "NLLLoss": "core.functions.softmax_cross_entropy",
        "PixelShuffle": "core.functions.pixel_shuffle",
        "PixelUnshuffle": "core.functions.pixel_unshuffle",
        "ReLU6": "core.links.ClippedReLU(6)",
        "ResNet50": "ResNet50Layers",
        "ResNet101": "ResNet101Layers",
        "ResNet152": "ResNet152Layers",
        "RMSNorm": "RMSNormalization",
        "RNN": "NStepRNNTanh",
        "Sequential": "core.Sequential",
        "SmoothL1Loss": "core.functions.huber_loss",
        "TransformerDecoderLayer": "TransformerBlock",
        "TransformerEncoderLayer": "TransformerBlock",
        "Upsample": "core.functions.resize_images",
        "VGG16": "VGG16Layers",
        "VGG19": "VGG19Layers",
    },
    "initializers": {
        "kaiming_normal_": "HeNormal",
        "kaiming_uniform_": "HeUniform",
        "ones_": "One",
        "RandomNormal": "Normal",
        "RandomUniform": "Uniform",
        "xavier_normal_": "GlorotNormal",
        "xavier_uniform_": "GlorotUniform",
        "zeros_": "Zero",
    },
    "optimizers": {
        "CosineAnnealingLR": "core.training.extensions.CosineShift",
        "CosineAnnealingWarmRestarts": "core.training.extensions.CosineShift",
        "CosineDecay": "core.training.extensions.CosineShift",
        "ExponentialLR": "core.training.extensions.ExponentialShift",
        "GradientDescent": "SGD",
        "LinearLR": "core.training.extensions.LinearShift",
        "LambdaLR": "core.training.extensions.FunctionShift",
        "lr_scheduler": "core.training.extensions.StepShift",
        "Momentum": "MomentumSGD",
        "MultiStepLR": "core.training.extensions.MultistepShift",
        "Nesterov": "NesterovAG",
        "OneCycleLR": "core.training.extensions.OneCycleShift",
        "StepLR": "core.training.extensions.StepShift",
    },
    "optimizer_hooks": {
        "AveragedModel": "ExponentialMovingAverage",
        "clip_grad_norm_": "GradientClipping",
        "clip_grad_value_": "GradientValueClipping",
        "clipvalue": "GradientValueClipping",
        "EMA": "ExponentialMovingAverage",
        "L1": "Lasso",
        "L2": "WeightDecay",
    },
    "datasets": {
        "CIFAR10": "get_cifar10",
        "CIFAR100": "get_cifar100",
        "ConcatDataset": "ConcatenatedDataset",
        "DataLoader": "core.iterators.SerialIterator",
        "FashionMNIST": "get_fashion_mnist",
        "ImageFolder": "LabeledImageDataset",
        "KMNIST": "get_kuzushiji_mnist",
        "load_digits": "get_digits",
        "MNIST": "get_mnist",
        "random_split": "split_dataset_random",
        "Subset": "SubDataset",
        "SVHN": "get_svhn",
        "TensorDataset": "TupleDataset",
    },
    "iterators": {
        "DataLoader": "SerialIterator",
        "RandomSampler": "ShuffleOrderSampler",
        "Sampler": "OrderSampler",
    },
    "serializers": {
        "load": "load_npz",
        "load_file": "load_safetensors",
        "load_state_dict": "load_npz",
        "load_weights": "load_npz",
        "save": "save_npz",
        "save_file": "save_safetensors",
        "save_weights": "save_npz",
        "state_dict": "save_npz",
    },
    "extensions": {
        "CSVLogger": "LogReport",
        "CosineAnnealingLR": "CosineShift",
        "CosineAnnealingWarmRestarts": "CosineShift",
        "CosineDecay": "CosineShift",
        "EarlyStopping": "core.training.triggers.EarlyStoppingTrigger",
        "ExponentialLR": "ExponentialShift",
        "LambdaLR": "FunctionShift",
        "LearningRateMonitor": "observe_lr",
        "LinearLR": "LinearShift",
        "ModelCheckpoint": "snapshot",
        "OneCycle": "OneCycleShift",
        "OneCycleLR": "OneCycleShift",
        "ReduceLROnPlateau": "core.training.triggers.PlateauTrigger",
        "StepLR": "StepShift",
        "SummaryWriter": "TensorBoardReport",
        "TensorBoard": "TensorBoardReport",
        "TerminateOnNaN": "FailOnNonNumber",
        "tqdm": "ProgressBar",
    },
    "triggers": {
        "EarlyStopping": "EarlyStoppingTrigger",
        "ReduceLROnPlateau": "PlateauTrigger",
    },
    "training": {"Callback": "Extension", "EarlyStopping": "triggers.EarlyStoppingTrigger"},
    "core": {
        "autograd": "grad",
        "DataLoader": "core.iterators.SerialIterator",
        "enable_grad": "force_backprop_mode",
        "from_numpy": "Variable",
        "GradientTape": "grad",
        "inference_mode": "no_backprop_mode",
        "load": "core.serializers.load_npz",
        "manual_seed": "seed",
        "Module": "Chain",
        "ModuleDict": "ChainDict",
        "ModuleList": "ChainList",
        "nn": "links",
        "no_grad": "no_backprop_mode",
        "optim": "optimizers",
        "save": "core.serializers.save_npz",
        "set_seed": "seed",
        "stop_gradient": "core.as_variable(x.array)",
        "Tensor": "Variable",
        "Trainer": "core.training.Trainer",
        "value_and_grad": "grad",
    },
    "config": {
        "cudnn_benchmark": "autotune",
        "default_dtype": "dtype",
        "floatx": "dtype",
        "training": "train",
    },
    "Variable": {
        "clamp": "clip",
        "cpu": "to_cpu",
        "cuda": "to_gpu",
        "detach": "core.as_variable(x.array)",
        "dim": "ndim",
        "clone": "copy",
        "double": "x.astype('float64')",
        "expand": "core.functions.broadcast_to(x, x.shape)",
        "gather": "numpy.take_along_axis",
        "grad_fn": "creator",
        "float": "x.astype('float32')",
        "half": "x.astype('float16')",
        "is_leaf": "creator",
        "long": "x.astype('int64')",
        "masked_fill": "core.functions.where",
        "norm": "core.functions.sqrt(core.functions.sum(x**2))",
        "numel": "size",
        "numpy": "array",
        "permute": "transpose",
        "pow": "x**2",
        "requires_grad_": "requires_grad",
        "sort": "numpy.sort(x)",
        "stop_gradient": "core.as_variable(x.array)",
        "t": "T",
        "to": "to_device",
        "unsqueeze": "core.functions.expand_dims(x, 0)",
        "view": "reshape",
        "zero_grad": "cleargrad",
    },
    "Link": {
        "cpu": "to_cpu",
        "cuda": "to_gpu",
        "eval": _EVAL,
        "load_state_dict": _LOAD,
        "load_weights": _LOAD,
        "modules": "links",
        "named_modules": "namedlinks",
        "named_parameters": "namedparams",
        "parameters": "params",
        "register_buffer": "add_persistent",
        "register_forward_hook": "add_hook",
        "register_parameter": "add_param",
        "requires_grad_": "disable_update",
        "save_weights": _SAVE,
        "state_dict": _SAVE,
        "to": "to_device",
        "train": _TRAIN,
        "zero_grad": "cleargrads",
    },
    "Optimizer": {
        "add_param_group": "group",
        "learning_rate": ("lr", "alpha"),
        "load_state_dict": "core.serializers.load_npz('optimizer.npz', optimizer)",
        "minimize": "update",
        "param_groups": "groups",
        "state_dict": "core.serializers.save_npz('optimizer.npz', optimizer)",
        "step": "update",
        "zero_grad": "optimizer.target.cleargrads()",
    },
    "hyperparameters": {
        "beta_1": "beta1",
        "beta_2": "beta2",
        "betas": "beta1",
        "decay": "rho",
        "epsilon": "eps",
        "learning_rate": ("lr", "alpha"),
        "lr": "alpha",
        "weight_decay": "weight_decay_rate",
    },
    "arguments": {
        "dilation": "dilate",
        "dim": "axis",
        "dims": "axes",
        "filters": "out_channels",
        "ignore_index": "ignore_label",
        "in_features": "in_size",
        "input": "x",
        "keepdim": "keepdims",
        "kernel_size": "ksize",
        "label": "t",
        "labels": "t",
        "negative_slope": "slope",
        "num_layers": "n_layers",
        "out_features": "out_size",
        "p": "ratio",
        "padding": "pad",
        "padding_idx": "ignore_label",
        "rate": "ratio",
        "reduction": "reduce",
        "strides": "stride",
        "target": "t",
        "units": "out_size",
        "weight": ("W", "class_weight"),
        "bias": ("nobias", "b"),
    },
}  # fmt: skip


_MODE = "Use `with core.using_config('train', False):`."
_NO_CUDNN = "Leave it out: core.config has use_cudnn and cudnn_deterministic."

REMOVED: dict[str, tuple[tuple[str, ...], str]] = {
    "train": ((), _MODE),
    "test": ((), _MODE),
    "use_cudnn": ((), _NO_CUDNN),
    "deterministic": ((), _NO_CUDNN),
    "volatile": ((), "Use `with core.no_backprop_mode():`."),
    "wscale": (
        ("initialW", "conv_init"),
        "Give {}=initializers.HeNormal(scale / math.sqrt(2)), or LeCunNormal(scale).",
    ),
    "bias": (("initial_bias",), "Give {}, or nobias=True for none."),
}
"""Arguments that existed before -> the arguments one of which functions have that had it, () for
all functions, and the sentence that says what to write instead, {} being that argument."""

_THEANO = (
    "Theano ended in 2017 and does not run on today's NumPy. Write the function as a "
    "core.FunctionNode, or import its model from ONNX by core.links.ONNXModel."
)

GONE = {"links": {"TheanoFunction": _THEANO}, "functions": {"theano_function": _THEANO}}
"""Names that existed before, by where they were -> why they are gone, and what to write instead."""

NEEDLESS = {"inplace": " Leave it out: functions change no array, and give new ones."}
"""Arguments of other libraries for which there is no other here -> end of the sentence."""


def folded(name: str) -> str:
    """A name without what tells apart spellings of one word: case and underscores.

    >>> folded("BatchNorm2d") == folded("batch_norm_2d")
    True
    """
    return name.replace("_", "").casefold()


_FOLDED = {
    kind: {folded(name): ours for name, ours in names.items()} for kind, names in TABLE.items()
}


def ours(name: str, kind: str, known: dict[str, str]) -> str:
    """What to write for another library's name, or ''; a name of ours is one of `known`, folded."""
    found = _FOLDED.get(kind, {}).get(folded(name), ())
    for target in (found,) if isinstance(found, str) else found:
        if not target.isidentifier() or folded(target) in known:
            return target
    return ""


def quoted(target: str) -> str:
    """A name in quotes, an expression as it is."""
    return repr(target) if target.isidentifier() else target


class NameOfOthers:
    """A method that another library has on such objects: an error that says what to write."""

    def __init__(self, name: str, ours: str) -> None:
        self.name = name
        self.ours = ours

    def __get__(self, owner: Any, cls: type) -> Any:
        for base in cls.__mro__:  # a class beside the link may well have it
            other = base.__dict__.get(self.name, self)
            if type(other) is not NameOfOthers:
                return other.__get__(owner, cls) if hasattr(other, "__get__") else other
        raise UnknownName(f"{cls.__name__} has no {self.name!r}. Did you mean {quoted(self.ours)}?")


class RemovedAttribute(NameOfOthers):
    """An attribute that objects once had: to read it or to set it is an error that has the cure."""

    def __init__(self, cure: str) -> None:
        self.cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type) -> Any:
        raise UnknownName(f"{cls.__name__}.{self.name} no longer exists. {self.cure}")

    def __set__(self, owner: Any, value: Any) -> None:
        self.__get__(owner, type(owner))


def refuse_names_of_others(cls: type) -> None:
    """Let attributes of `cls` that other libraries have be refused with what to write."""
    for name, ours in TABLE[cls.__name__].items():
        setattr(cls, name, NameOfOthers(name, str(ours)))


def real_names(owner: object) -> list[str]:
    """The attributes of an object without those that are there only to be refused."""
    return [name for name in object.__dir__(owner) if not _is_refused(type(owner), name)]


def _is_refused(cls: type, name: str) -> bool:
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)
    return isinstance(found, NameOfOthers)
