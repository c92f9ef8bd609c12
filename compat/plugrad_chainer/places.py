"""Where the names of Chainer's modules stand here: one table from paths to modules.

A name of `chainer.functions.loss.vae` is looked for in the modules of the longest path that the
table has, and then in those of the paths above it; a path that the table has not stands for the
module of the same path below `core`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from plugrad_chainer import gone
from plugrad_chainer.facts import VERSIONS, modules, names_of

from core.errors import BackendUnavailable, nearest

_HERE, _ONE = "plugrad_chainer.here.", "plugrad_chainer.version1."

HOMES: dict[str, tuple[str, ...]] = {
    "chainer": (_HERE + "top", "core", _ONE + "function_set", _ONE + "flag", "core.distributions"),
    "chainer.backend": (_HERE + "devices", "core.arrays.backend"),
    "chainer.backends": (_HERE + "devices", "core.compat.backends"),
    "chainer.backends.cuda": (_HERE + "cuda", "core.compat.cuda"),
    "chainer.cuda": (_HERE + "cuda", "core.compat.cuda"),
    "chainer._backend": ("core.arrays.backend",),
    "chainer.datasets": (_HERE + "datasets", "core.datasets"),
    "chainer.distribution": ("core.distributions",),
    "chainer.flag": (_ONE + "flag",),
    "chainer.function_set": (_ONE + "function_set",),
    "chainer.functions": (
        _HERE + "functions",
        "core.functions",
        _HERE + "classes",
        _HERE + "missing",
    ),
    "chainer.initializers": ("core.initializers", _HERE + "initializers"),
    "chainer.links": (_HERE + "links", "core.links", _HERE + "missing"),
    "chainer.optimizers": (_HERE + "optimizers", "core.optimizers"),
    "chainer.testing": (
        _HERE + "parameterized",
        "core.testing",
        _HERE + "testing",
        _HERE + "cases",
        _HERE + "distribution_case",
    ),
    "chainer.training": (_HERE + "training", "core.training"),
    "chainer.types": (_HERE + "types",),
    "chainer.training.extensions": (_HERE + "training", "core.training.extensions"),
    "chainer.training.extensions.snapshot_writers": (
        "plugins.training.extensions.snapshot_writers",
    ),
    "chainer.utils": ("core.compat.utils", _HERE + "utils"),
}
"""Path in Chainer -> modules here, the first of which that has a name gives it."""

NAMES: dict[str, str] = {
    "chainer.datasets.image_dataset.available": "plugrad_chainer.here.data.available",
    "chainer.dataset.convert.Conveyor": "plugrad_chainer.here.data.Conveyor",
    "chainer.dataset.tabular.from_data": "core.datasets.from_data",
    "chainer.get_device": "plugrad_chainer.here.devices.get_device",
    "chainer.get_function_hooks": "plugrad_chainer.here.inside.get_function_hooks",
    "chainer.using_device": "plugrad_chainer.here.devices.using_device",
    "chainer.functions.BatchNormalization": "chainer.links.BatchNormalization",
    "chainer.functions.caffe.CaffeFunction": "chainer.links.CaffeFunction",
    "chainer.functions.caffe.caffe_function": "chainer.links.caffe.caffe_function",
    "chainer.functions.caffe.caffe_function.CaffeFunction": "chainer.links.CaffeFunction",
    "chainer.gradient_check.numerical_grad_cpu": "chainer.gradient_check.numerical_grad",
    "chainer.gradient_check.numerical_grad_gpu": "chainer.gradient_check.numerical_grad",
    "chainer.functions.PReLU": "chainer.links.PReLU",
    "chainer.initializers.backend": "chainer.backend",
    "chainer.initializers.cuda": "chainer.cuda",
    "chainer.initializers.types": "chainer.types",
    "chainer.init_weight": "plugrad_chainer.here.initializers.init_weight",
    "chainer.utils.cache.cached_property": "functools.cached_property",
    "chainer.utils.experimental": "core.utils.experimental.experimental",
    "chainer.utils.nondeterministic": "core.utils.experimental.nondeterministic",
    "chainer.graph_optimizations.static_graph": "plugrad_chainer.here.top.static_graph",
}
"""Name in Chainer -> where it stands, if that is not found by the paths."""

for _family in ("connection", "rnn"):
    for _unit in ("LSTM", "GRU", "MGU"):
        _path = f"chainer.links.{_family}.{_unit.lower()}.{_unit}Base"
        NAMES[_path] = f"chainer.links.Stateless{_unit}"
    for _name in ("argsort_list_descent", "permutate_list"):
        for _path in ("n_step_rnn", "n_step_lstm"):
            NAMES[f"chainer.links.{_family}.{_path}.{_name}"] = f"plugrad_chainer.here.data.{_name}"

_OPERATORS = "sub mul div:truediv floordiv neg pow matmul"
for _pair in _OPERATORS.split():
    _theirs, _, _ours = _pair.partition(":")
    for _path in ("math.basic_math", "basic_math"):
        NAMES[f"chainer.functions.{_path}.{_theirs}"] = f"operator.{_ours or _theirs}"

for _theirs, _ours in {
    "backends._cpu.CpuDevice": "Held",
    "optimizer.Hyperparameter": "Hyperparameter",
    "links.connection.deformable_convolution_2d.DeformableConvolution2DSampler": "Held",
    "links.loss.hierarchical_softmax.BinaryHierarchicalSoftmaxFunction": "Held",
    "optimizer._Hookable": "Held",
    "optimizer._OptimizerHookable": "Held",
    "variable._create_variable": "create_variable",
    "variable._recover_parameter": "recover_parameter",
}.items():  # which pickles ask for
    NAMES[f"chainer.{_theirs}"] = f"plugrad_chainer.behaviour.pickles.{_ours}"

_INSIDE = {
    "initializers": "get_initializer",
    "functions.connection.convolution_2d": "pair",
    "functions.connection.deconvolution_2d": "pair",
    "functions.connection.linear": "as_mat",
    "functions.connection.n_step_lstm": "stack_weight",
    "functions.rnn.n_step_lstm": "stack_weight",
    "functions.pooling.pooling_2d": "pair",
    "links.connection.convolution_2d": "pair",
    "links.connection.deconvolution_2d": "pair",
    "links.model.vision.vgg": "max_pooling_2d",
    "links.model.vision.googlenet": "average_pooling_2d",
    "dataset.convert": "concat_arrays",
    "functions.activation.lstm": "extract_gates",
    "functions.rnn.lstm": "extract_gates",
    "functions.pooling.roi_pooling_2d": "roi_pooling_slice",
    "link_hook": "ForwardPreprocessCallbackArgs ForwardPostprocessCallbackArgs",
    "optimizer": "sum_sqnorm",
    "optimizer_hooks.gradient_clipping": "sum_sqnorm",
    "datasets.image_dataset": "read_image_as_array postprocess_image check_pillow_availability",
    "links.model.vision.resnet": "global_average_pooling_2d",
    "training.extensions._snapshot": "snapshot_object find_snapshot_files find_latest_snapshot",
}
for _path, _names in _INSIDE.items():
    for _name in _names.split():
        NAMES[f"chainer.{_path}._{_name}"] = f"plugrad_chainer.here.inside.{_name}"
for _path in ("cuda", "backends.cuda"):
    NAMES[f"chainer.{_path}._get_device"] = "chainer.cuda.get_device"
for _path in ("pooling.pooling_2d", "pooling_2d"):
    NAMES[f"chainer.functions.{_path}.Pooling2D"] = "plugrad_chainer.here.inside.Pooling2D"
NAMES["chainer.functions.Pooling2D"] = "plugrad_chainer.here.inside.Pooling2D"
NAMES["chainer.utils.type_check._argname"] = "chainer.utils.type_check.argname"
for _name in ("get_link_hooks", "version"):
    NAMES[f"chainer._{_name}"] = f"plugrad_chainer.here.inside.{_name}"
NAMES["chainer.dataset.convert._concat_arrays_with_padding"] = (
    "plugrad_chainer.here.inside.concat_arrays"
)

EVERYWHERE = {"cuda": "chainer.backends.cuda", "type_check": "chainer.utils.type_check"}
"""What nearly every module of Chainer's had imported -> where it stands."""

SETTINGS = {"chainer.disable_experimental_feature_warning": "core"}
"""What programs set in a module -> the module that reads it."""


@cache
def homes(path: str) -> tuple[str, ...]:
    """The modules in which the names of a path are looked for, in order.

    >>> homes("chainer.links.connection.linear")[:2]
    ('plugrad_chainer.here.links', 'core.links')
    """
    found: list[str] = []
    while path:
        same = "core" + path.removeprefix("chainer")
        found += HOMES[path] if path in HOMES else [same] if _exists(same) else []
        path = path.rpartition(".")[0]
    return tuple(dict.fromkeys(found))


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def find(path: str, name: str) -> Any:
    """What stands for a name of a module of Chainer.

    Raises:
        AttributeError: There is nothing; the message says what to write instead.
    """
    full = f"{path}.{name}"
    if full in NAMES:
        home, _, theirs = NAMES[full].rpartition(".")
        return getattr(import_module(home), theirs)
    known = name in modules().get(path, ())
    for home in homes(path) if known else homes(path)[: len(HOMES.get(path, ("", "")))]:
        try:
            return getattr(import_module(home), name)
        except (BackendUnavailable, gone.Gone):
            raise
        except (AttributeError, ImportError):
            continue
    deeper = _below(path, name) if known else None
    if deeper is not None:
        return import_module(deeper)
    if name in EVERYWHERE:
        return import_module(EVERYWHERE[name])
    if known:
        raise AttributeError(f"{full} is not in plugrad. {gone.cure(gone.NAMES, full)}")
    hint = "" if name.startswith("_") else nearest(name, modules().get(path, ()))
    raise AttributeError(f"module {path!r} has no attribute {name!r}.{hint}")


@cache
def _below(path: str, name: str) -> str | None:
    """The module further below that a package had as an attribute: `chainer.links.linear`."""
    found = [m for m in modules() if m.startswith(f"{path}.") and m.endswith(f".{name}")]
    return min((m for m in found if gone.cure(gone.MODULES, m) is None), default=None)


def has(path: str, name: str) -> bool:
    """Whether something stands for a name."""
    full = f"{path}.{name}"
    if full in modules() and full not in NAMES:
        return gone.cure(gone.MODULES, full) is None
    try:
        find(path, name)
    except BackendUnavailable:  # it is there where a GPU is
        return True
    except (AttributeError, ImportError):
        return False
    return True


def is_module(full: str) -> bool:
    """Whether a name of a module is that of a module below it, and nothing else has it.

    Of a name that was a module once, as `chainer.functions.relu` in version 1.2, the last version
    decides.
    """
    if full not in modules() or full in NAMES:
        return False
    path, _, name = full.rpartition(".")
    last = names_of(VERSIONS[3])
    return full in last or name not in last.get(path, ())


def set_(path: str, name: str, value: Any) -> None:
    """Set a setting where it is read."""
    home = SETTINGS.get(f"{path}.{name}")
    if home is not None:
        setattr(import_module(home), name, value)


def refuse_module(path: str) -> None:
    """Raise ImportError for a module of which nothing is here."""
    cure = gone.cure(gone.MODULES, path)
    if cure is not None:
        raise ImportError(f"{path} is not in plugrad. {cure}", name=path)
