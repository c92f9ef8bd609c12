"""What Chainer has pickled whole, links and optimizers: its instances' dicts become plugrad's.

A pickle names classes by their paths in Chainer, which are found as they are in programs, and the
functions below; what the classes had in their instances differs in little.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import numpy as np

import core
from core import Initializer, Link, Optimizer, Parameter, UpdateRule, Variable, initializers
from core import links as L
from core.arrays import backend
from core.compat.utils.walker_alias import WalkerAlias
from core.link.initializer import as_initializer
from core.optimizer.hyperparameter import Hyperparameter
from core.optimizer.update_hooks import HookTable
from plugins.links.connection.windowed import Windowed
from plugins.links.rnn.mgu import _MGU
from plugins.links.rnn.n_step import NStep, Unit

_OF_THE_PROCESS = {
    "_cpu", "_device", "_device_id", "_within_init_scope", "_overridden_to_methods",
    "_Link__init_done", "_uninitialized_params",
}  # fmt: skip
_CURE = (
    "Load its values into the same model, made here: chainer.serializers.load_pickled(file, model)."
)


def switch() -> None:
    """Let links, optimizers, rules, initializers and samplers take over the state of Chainer's."""
    for cls, is_chainers, take in (
        (Link, _is_of_a_link, _take_link),
        (Optimizer, _is_of_an_optimizer, _take_optimizer),
        (UpdateRule, _is_of_a_rule, _take_rule),
        (Initializer, _is_of_an_initializer, _take_initializer),
        (WalkerAlias, _is_of_a_sampler, _take_sampler),
    ):
        setattr(cls, "__setstate__", _setting(is_chainers, take))  # noqa: B010


def _setting(is_chainers: Callable[[Any], bool], take: Callable[[Any, Any], None]) -> Any:
    def __setstate__(self: Any, state: Any) -> None:
        if isinstance(state, dict) and is_chainers(state):
            take(self, dict(state))
            return
        own, slots = state if isinstance(state, tuple) else (state, None)
        if own:
            self.__dict__.update(own)
        for name, value in (slots or {}).items():
            object.__setattr__(self, name, value)

    return __setstate__


# -- variables and parameters ---------------------------------------------------------------------


def create_variable(array: Any, name: Any, grad: Any, requires_grad: bool, *_: Any) -> Variable:
    """What `chainer.variable._create_variable` did, of versions 3 to 7; devices are the arrays'."""
    return Variable(array, name=name, grad=grad, requires_grad=requires_grad)


def recover_parameter(array: Any, name: Any, grad: Any, *rest: Any) -> Parameter:
    """What `chainer.variable._recover_parameter` did, of versions 2 to 7.

    The initializer and the update rule come next, after `requires_grad` in version 7.
    """
    trained = rest[0] if isinstance(rest[0], bool) else True
    initializer, rule = [each for each in rest if not isinstance(each, bool)][:2]
    found = Parameter(initializer if array is None else array, name=name, requires_grad=trained)
    if array is not None:
        found.array, found.grad = array, grad
        found.initializer = as_initializer(initializer)
    found.update_rule = rule
    return found


def _of_version_1(value: Any) -> Any:
    """A parameter of version 1, whose parameters were Variables."""
    if isinstance(value, Parameter) or not isinstance(value, Variable):
        return value
    found = Parameter(value.array, name=value.name)
    found.array, found.grad = value.array, value.grad
    return found


class Held:
    """What a pickle names, and nothing here has: it keeps what it had.

    Devices of version 7, tables of hooks since version 6, functions within links.
    """


# -- links ----------------------------------------------------------------------------------------


def _is_of_a_link(state: dict[str, Any]) -> bool:
    return not isinstance(state.get("_params"), dict)


def _take_link(self: Any, state: dict[str, Any]) -> None:
    if "_params" not in state:
        raise UnpicklingError(
            f"{type(self).__name__}: Chainer 1.0 to 1.4 has pickled it, as a function with arrays. "
            "Make the link here, and set its parameters: link.W.array[...] = ..."
        )
    for name in state["_params"]:
        state[name] = _of_version_1(state.get(name))
    for key in ("_params", "_persistent", "_children"):
        names = state.get(key, ())
        if isinstance(names, (set, frozenset)):
            names = sorted(names)
        if key != "_children" or isinstance(self, core.Chain):
            state[key] = dict.fromkeys(names)
        elif isinstance(self, core.ChainList):
            state[key] = list(names)
    for cls, converted in _CONVERTED.items():
        if isinstance(self, cls):
            state.update(converted(self, state))
    given = {name: value for name, value in state.items() if _may_have(type(self), name)}
    self.__dict__.update(given)


def _may_have(cls: type, name: str) -> bool:
    """Whether an attribute is the instance's; others are computed here."""
    return name not in _OF_THE_PROCESS and not isinstance(getattr(cls, name, None), property)


def _windows(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    W = state["W"]
    ksize = state.get("ksize") or W.shape[2:]  # which links of any rank did not have
    ndim = type(self)._rank or len(ksize)
    found: dict[str, Any] = {"ndim": ndim}
    for name, usual in (("ksize", ksize), ("stride", 1), ("pad", 0), ("dilate", 1)):
        value = state.get(name, usual)
        found[name] = tuple(value) if isinstance(value, (tuple, list)) else (value,) * ndim
    groups = state.get("groups", 1)
    axis = int("Deconvolution" not in type(self).__name__)
    channels = None if W.array is None else W.shape[axis] * (groups if axis else 1)
    if "out_channels" not in state:
        found["out_channels"] = W.shape[1 - axis]
    if not any(state.get("outsize") or ()):  # a pair of None, in Chainer
        found["outsize"] = None
    return {
        **found,
        "groups": groups,
        "cover_all": state.get("cover_all", False),
        "in_channels": state.get("in_channels") or channels,
    }


def _pairs(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    pairs = {n: state[n] for n in ("ksize", "stride", "pad") if n in state}
    return {n: v if isinstance(v, tuple) else (v, v) for n, v in pairs.items()}


def _unshared(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    W = state["W"]  # (out, height, width, in, ...)
    return {**_pairs(self, state), "in_channels": None if W.array is None else W.shape[3]}


def _statistics(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    made = {n: as_initializer(state.get(f"_initial_{n}"), of) for n, of in _INITIAL.items()}
    known = {name: state.get(name) for name in ("gamma", "beta", "axis", *_INITIAL)}
    renormalized = {"freeze_running_statistics": False}
    return {**known, **renormalized, "_initial": made}


def _sizes(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The size that a linear layer took had no attribute before version 6."""
    W = state["W"]
    return {"in_size": state.get("in_size") or (None if W.array is None else W.shape[1])}


def _layers(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    """The layers of an NStep link, which are links without a class in Chainer."""
    units = []
    for child in state["_children"]:
        unit: Any = Unit.__new__(Unit)
        weights = [name for name in child._params if name[0] == "w"]
        unit.__dict__.update(vars(child), count=len(weights), out_size=child.b0.shape[0])
        units.append(unit)
    W = units[0].w0
    sizes = {"in_size": None if W.array is None else W.shape[1], "out_size": units[0].out_size}
    return {**sizes, "_children": units}


def _gates(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    return {"state_size": vars(state["W_f"])["b"].shape[0]}


def _labels(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Version 1 and 2 had no keys for labels."""
    return {"label_key": state.get("label_key", -1)}


def _paths(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Tables of the inner nodes and signs on the way to each word, filled up with zeros."""
    found = vars(state["_func"])
    begins, known = found["begins"], (found["paths"], found["codes"])
    depth = int(np.diff(begins).max())
    tables = [np.zeros((len(begins) - 1, depth), dtype) for dtype in ("int32", "float32")]
    for word, (begin, end) in enumerate(itertools.pairwise(begins)):
        for table, values in zip(tables, known, strict=True):
            table[word, : end - begin] = values[begin:end]
    return {"_nodes": tables[0], "_signs": tables[1]}


def _refused(self: Any, state: dict[str, Any]) -> dict[str, Any]:
    raise UnpicklingError(f"{type(self).__name__} is not read from pickles. {_CURE}")


_INITIAL = {"avg_mean": 0, "avg_var": 1}
_CONVERTED: dict[type, Callable[[Any, dict[str, Any]], dict[str, Any]]] = {
    Windowed: _windows,
    L.DepthwiseConvolution2D: _pairs,
    L.LocalConvolution2D: _unshared,
    NStep: _layers,
    _MGU: _gates,
    L.Classifier: _labels,
    L.BatchNormalization: _statistics,
    L.Linear: _sizes,
    L.BinaryHierarchicalSoftmax: _paths,
    L.DeformableConvolution2D: _refused,
}
"""Links whose instances differ from Chainer's -> what is other in theirs."""


# -- optimizers -----------------------------------------------------------------------------------


def _hooks_of(state: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """Name, hook and timing of each, of versions 1 to 7."""
    held = vars(state["_hookable"]) if "_hookable" in state else state
    tables = [("_hooks", "pre"), ("_pre_update_hooks", "pre"), ("_post_update_hooks", "post")]
    return [
        (name, hook, timing)
        for key, timing in tables
        for name, hook in (held.get(key) or {}).items()
    ]


def _is_of_an_optimizer(state: dict[str, Any]) -> bool:
    """Here there are a table of hooks, and hyper-parameters with what they may be."""
    return not isinstance(state.get("_hooks", {}), HookTable) and "_groups" not in state


def _take_optimizer(self: Any, state: dict[str, Any]) -> None:
    type(self).__init__(self)  # with hyper-parameters as they are here
    given = vars(state["hyperparam"]) if "hyperparam" in state else state
    for name in self.hyperparam.get_dict():
        if name in given:
            setattr(self.hyperparam, name, given[name])
    target = state.get("target")
    if target is None:
        return
    rules = {path: p.update_rule for path, p in target.namedparams()}
    self.setup(target)
    self.t, self.epoch = state["t"], state["epoch"]
    for path, parameter in target.namedparams():
        _go_on(parameter.update_rule, rules[path], state.get("_states", {}).get(path), self)
    for name, hook, timing in _hooks_of(state):
        self.add_hook(hook, name, timing)


_FIRST_RATE = "initial_alpha"  # which AdaBound's rules have as an attribute in Chainer


def _go_on(rule: Any, before: Any, of_version_1: Any, optimizer: Any) -> None:
    """Let a rule go on where the pickled one was."""
    if before is None:
        kept, rule.t = of_version_1, optimizer.t
    else:
        kept, rule.t, rule.enabled = before._state, before.t, before.enabled
        own = {n: v for n, v in vars(before.hyperparam).items() if n[0] != "_"}
        for name, value in own.items():
            setattr(rule.hyperparam, name, value)
        rule._hooks = before._hooks
        rule._use_fp32_update = before._use_fp32_update
    if kept is None or not rule.t:
        return
    if set(kept) - {_FIRST_RATE} != set(type(rule).state_names):
        raise UnpicklingError(
            f"{type(optimizer).__name__}: the pickle has {', '.join(sorted(kept)) or 'nothing'} "
            f"for a parameter, where {', '.join(sorted(type(rule).state_names))} are needed. Save "
            "it with the Chainer that wrote it, by chainer.serializers.save_npz."
        )
    rule._state = dict(kept)


def _is_of_a_rule(state: dict[str, Any]) -> bool:
    return "_fp32_param" in state or "_state" in state


def _take_rule(self: Any, state: dict[str, Any]) -> None:
    UpdateRule.__init__(self, None)
    self.hyperparam = state["hyperparam"]
    self.t, self.enabled, self._state = state["t"], state["enabled"], state["_state"]
    self._use_fp32_update = state.get("_use_fp32_update", False)
    if _FIRST_RATE in state and self._state is not None:
        self._state = {**self._state, _FIRST_RATE: state[_FIRST_RATE]}
    if state.get("_fp32_param") is not None:
        raise UnpicklingError(
            f"{type(self).__name__}: masters of float32 are not read from pickles. Save the "
            "optimizer with the Chainer that wrote it, by chainer.serializers.save_npz."
        )
    for name, hook, timing in _hooks_of(state):
        self.add_hook(hook, name, timing)


# -- initializers ---------------------------------------------------------------------------------


def _is_of_an_initializer(state: dict[str, Any]) -> bool:
    return True


def _take_initializer(self: Any, state: dict[str, Any]) -> None:
    if getattr(initializers, type(self).__name__, None) is type(self):  # programs' own are whole
        taken = inspect.signature(type(self)).parameters
        type(self).__init__(self, **{name: state[name] for name in taken if name in state})
    self.__dict__.update(state)


# -- samplers -------------------------------------------------------------------------------------


def _is_of_a_sampler(state: dict[str, Any]) -> bool:
    return "threshold" in state


def _take_sampler(self: Any, state: dict[str, Any]) -> None:
    """In Chainer the owner of each share and its alias stand beside each other."""
    keep, values = state["threshold"], state["values"]
    self._size = len(keep)
    self._place((keep, values[::2], values[1::2]), backend.current_device())


__all__ = ["Held", "Hyperparameter", "create_variable", "recover_parameter"]
