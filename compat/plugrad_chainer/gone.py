"""What programs may look for in vain, and what to write instead."""

from __future__ import annotations

from fnmatch import fnmatchcase


class Gone(AttributeError):
    """A name that is gone; the message says what to write instead."""


_CUDNN = "Functions call cuDNN themselves where plugrad's extra cudnn is installed."

MODULES: tuple[tuple[str, str], ...] = (
    ("chainer.exporters*", "Write the model with core.export.onnx, which Caffe's successors read."),
    ("chainer.utils.conv_nd_kernel", "Write a kernel with chainer.backends.cuda.elementwise."),
    (
        "chainer.functions.pooling.*_kernel",
        "Write a kernel with chainer.backends.cuda.elementwise.",
    ),
    ("chainer.cuda_fusion", "Use chainer.backends.cuda.fuse."),
    ("chainer.cudnn*", _CUDNN),
    ("chainer.functions.cudnn*", _CUDNN),
)
"""Modules of which nothing is here: patterns -> the sentence that says what to do."""

_OPERATION = (
    "It is how Chainer computes a function, not what programs call: call the function, or write an "
    "operation of your own as a core.FunctionNode."
)
_BASE = "It is a base of Chainer's own links; derive from a link or from chainer.Chain."

NAMES: tuple[tuple[str, str], ...] = (
    ("*.cudnn", _CUDNN),
    ("*.libcudnn", _CUDNN),
    ("*cudnn_dropout_states*", _CUDNN),
    ("*.n_step_lstm.Dropout*States", _CUDNN),
    ("*CUDNN*", f"{_CUDNN} Layouts are found by them too: leave it out."),
    ("chainer.memory_layouts.*", "Arrays have one layout: leave it out."),
    ("*.DaliIterator", "Use chainer.iterators.MultiprocessIterator."),
    ("chainer.exporters.caffe.export", "Use core.export.onnx."),
    ("chainer.distributions.*", "It is how a distribution computes; use chainer.distributions."),
    ("chainer.device_resident.DeviceResidentsVisitor", "Use link.to_device."),
    ("chainer.msg", "It is a variable of a loop, left over in Chainer."),
    ("chainer.thread_local", "Use chainer.config, which each thread has for itself."),
    ("chainer.*.caffe.*.available", "Leave it out: CaffeFunction needs no Caffe."),
    ("chainer.*cuda.fusion", "Use chainer.backends.cuda.fuse."),
    ("chainer.links.*Base", _BASE),
    ("chainer.links.*.TreeParser", _BASE),
    ("chainer.links.*Function", _OPERATION),
    ("chainer.links.*Sampler", _OPERATION),
    ("chainer.links.*.argsort_list_descent", _BASE),
    ("chainer.links.*.permutate_list", _BASE),
    ("chainer.links.*.fix_avg_*", _BASE),
    ("chainer.functions.*.available_cpu", "SciPy is needed for it; ask importlib for that."),
    ("chainer.functions.*", _OPERATION),
    ("chainer.link_hooks.*", "It is how the hook computes; use chainer.link_hooks."),
    ("chainer.function_hooks.*", "Use chainer.function_hooks.CupyMemoryProfileHook."),
    (
        "chainer.graph_optimizations.*",
        "Static graphs are an experiment of Chainer's: leave it out.",
    ),
    ("chainer.testing.*", "Use pytest."),
    ("chainer.training.updaters.*", "Write an updater of your own from chainer.training."),
    (
        "chainer.training.extensions.*",
        "It is how an extension works; use chainer.training.extensions.",
    ),
    ("chainer.utils.conv_nd_kernel.*", "Write a kernel with chainer.backends.cuda.elementwise."),
    (
        "chainer.datasets.*",
        "It is how a dataset is made; use chainer.datasets.get_mnist and others.",
    ),
    ("chainer.dataset.*", "Use chainer.dataset.concat_examples, or a converter."),
    ("chainer.serializers.*", "Use chainer.serializers.save_npz."),
    ("chainer.initializers.*", "Use chainer.initializers, and chainer.Parameter to fill an array."),
    ("chainer.types.*", "Use typing.Any, or core.typing."),
    ("chainer.backends.*", "Use chainer.backends.cuda, or CuPy."),
    ("chainer.cuda.*", "Use chainer.backends.cuda, or CuPy."),
    ("chainer.utils.*", "Write it with NumPy."),
    ("chainer.*", "It is no part of what programs write."),
)
"""Names: patterns -> the sentence that says what to do. The first that fits counts."""


def cure(table: tuple[tuple[str, str], ...], full: str) -> str | None:
    """What to write instead of a name or a module, if a table knows it."""
    return next((text for pattern, text in table if fnmatchcase(full, pattern)), None)
