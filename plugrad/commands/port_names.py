"""Where Chainer's names are here, and what is to be said of those that are gone."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

from core.errors import BackendUnavailable

_FACADES = ("functions", "links", "optimizers", "optimizer_hooks", "initializers", "iterators",
            "datasets", "serializers", "function_hooks", "link_hooks", "distributions",
            "training.extensions", "training.triggers", "training.updaters", "dataset", "testing",
            "utils")  # fmt: skip
_FAMILIES = ("activation", "array", "caffe", "connection", "evaluation", "loss", "math", "model",
             "noise", "normalization", "pooling", "rnn", "theano", "util")  # fmt: skip
_FLAT = {f"chainer.{name}" for name in (
    "links", "optimizers", "optimizer", "initializers", "iterators", "datasets", "serializers",
    "function_hooks", "link_hooks", "distributions", "training.extensions", "training.triggers",
    "training.updaters")}  # fmt: skip
"""Packages whose names stand in them, not in modules below them."""
_MODE = "Leave it out, and call the model within `with core.using_config('train', ...):`."
DECIDE = {
    "train": _MODE,
    "test": _MODE,
    "volatile": "Compute within `with core.no_backprop_mode():`.",
    "wscale": "Give initialW=core.initializers.LeCunNormal(scale) and no other initialW.",
}
METHODS = {
    "clip_grads": "Add the hook core.optimizer_hooks.GradientClipping(threshold) after setup().",
    "weight_decay": "Add the hook core.optimizer_hooks.WeightDecay(rate) after setup().",
    "compute_grads_norm": "Add the hook core.optimizer_hooks.GradientClipping to limit the norm.",
    "accumulate_grads": "Call target.addgrads(link).",
    "copy_parameters_from": "Call copyparams(link).",
}
MEANS = "Give Evaluator.__init__ weigh_batches=False, so that batches count alike, as in Chainer."


def place(path: str) -> str:
    """The module here of a module of Chainer.

    >>> place("chainer.functions.loss.vae"), place("chainer.backends.cuda")
    ('core.functions', 'core.backends.cuda')
    """
    below = path.partition(".")[2]
    for facade in _FACADES:
        if below == facade or below.startswith(facade + "."):
            deeper = f"core.{below}"
            return deeper if has_module(deeper) else f"core.{facade}"
    return f"core.{below}" if below else "core"


@cache
def is_collapsed(path: str) -> bool:
    """Whether a path is that of a module of Chainer, whose names stand in a module above it here.

    A file is called by what is in it: `optimizers.adam` has Adam, `datasets.mnist` get_mnist.

    >>> is_collapsed("chainer.functions.activation.relu"), is_collapsed("chainer.functions.relu")
    (True, False)
    """
    home = place(path)
    if home == f"core.{path.partition('.')[2]}":
        return False
    parent, _, name = path.rpartition(".")
    _, facade, *below = *path.split("."), ""
    if facade in ("functions", "links") and below[:1] and below[0] in _FAMILIES:
        return name == name.lower() and len(below) <= 3
    if has(place(parent), name):
        return False
    plain = name.replace("_", "")
    return any(
        plain in each.lower().replace("_", "") for each in dir(importlib.import_module(home))
    )


def is_distribution(path: str) -> bool:
    """Whether a path is that of a distribution, which Chainer has beside its modules."""
    module, _, name = path.rpartition(".")
    return module == "chainer" and not has("core", name) and has("core.distributions", name)


def whereabouts(path: str, whole: bool, long: bool) -> str | None:
    """What is written below `chainer` for what it names: '' as it is, None where it is not here.

    Nothing follows what is `whole`. What is not `long` has no more before its name than a module,
    which the import brings.

    >>> whereabouts("chainer.links.connection.linear.Linear", True, True)
    'links.Linear'
    """
    module, _, name = path.rpartition(".")
    if module.startswith("chainer.functions") and not has("core.functions", name):
        if has("core.links", name):
            return f"links.{name}"
        return None if whole and name not in _FAMILIES else ""
    home = place(module)
    stays = home == module.replace("chainer", "core", 1)
    flat = module in _FLAT or (home != "core" and is_collapsed(module))
    if whole and (flat or (stays and has_module(home))) and not has(home, name):
        return None
    above, _, last = module.rpartition(".")
    is_class = not is_collapsed(module) and has(place(above), last)
    if stays or is_class or not long or (whole and module in _FLAT):
        return ""
    return f"{home.partition('.')[2]}.{name}"


def has_module(path: str) -> bool:
    """Whether a module is here, at this path or by an old one."""
    try:
        importlib.import_module(path)
    except ImportError:
        return False
    return True


def has(module: str, name: str) -> bool:
    """Whether a module here has a name, on machines where CUDA can be used."""
    try:
        return hasattr(importlib.import_module(module), name) or has_module(f"{module}.{name}")
    except ImportError:
        return False
    except BackendUnavailable:
        return True


def downloads(name: str) -> bool:
    """Whether a dataset is downloaded by Chainer, and only on request here."""
    from core import datasets

    function: Any = getattr(datasets, name, None)
    return name.startswith("get_") and "download" in inspect.signature(function).parameters
