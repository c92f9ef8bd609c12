"""Update rules: how one parameter changes by its gradient.

An author declares hyper-parameters as annotated fields, names the state that is kept for each
parameter, and writes `step`:

    class MomentumSGDRule(UpdateRule):
        lr: float = 0.01
        momentum: float = 0.9
        ranges = {"lr": "[0, inf)", "momentum": "(-1, 1]"}
        state_names = ("v",)

        def step(self, xp, param, grad, v):
            v *= self.momentum
            v -= self.lr * grad
            param += v

A number out of its range is refused, whoever sets it; one without a range may be any. Sharing of
hyper-parameters, saving and moving of the state, float32 masters of 16-bit parameters,
hooks and freezing follow. Rules written in the older way, which override `init_state` and
`update_core` or `update_core_cpu` and `update_core_gpu`, work as well.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from core.arrays.backend import to_backend, to_host
from core.errors import UnknownName, UpdateError, nearest
from core.errors.kinds import checked
from core.errors.known_attributes import KnownAttributes, annotated_kinds
from core.errors.set_by_init import missing_init
from core.graph.fitting import is_array
from core.link.parameter import Parameter
from core.link.serializer import Deserializer
from core.optimizer import together
from core.optimizer.hyperparameter import Hyperparameter
from core.optimizer.master import Master, cast
from core.optimizer.rule_declaration import declare, gives_a_result
from core.optimizer.step import Step
from core.optimizer.update_hooks import Hook, HookTable

_SIXTEEN_BIT = ("float16", "bfloat16")


class UpdateRule(KnownAttributes):
    """How one parameter changes by its gradient; each parameter has its own rule.

    Args:
        parent_hyperparam: The hyper-parameters to share, as an optimizer's; by default the
            declared ones.
        hyperparameters: Values of hyper-parameters for this rule alone.

    `t` counts the updates made, and a rule that is not `enabled` makes none.

    >>> import core, numpy as np
    >>> class Halving(core.UpdateRule):
    ...     factor: float = 0.5
    ...     def step(self, xp, param, grad):
    ...         param *= self.factor
    >>> p = core.Parameter(np.array([4.0, 8.0]))
    >>> p.grad = np.zeros(2)
    >>> p.update_rule = Halving()
    >>> p.update()
    >>> p.array, p.update_rule.t
    (array([2., 4.]), 1)
    """

    hyperparameters: ClassVar[dict[str, Any]] = {}
    ranges: ClassVar[dict[str, Any]] = {}
    kernels_of: ClassVar[type | None] = None  # whose kernels serve too; not inherited
    follows_step: ClassVar[bool] = True  # whether `step`, or its kernel, is all of an update
    state_names: ClassVar[tuple[str, ...] | dict[str, float]] = ()
    _fills: ClassVar[dict[str, float]] = {}
    # Without a dict there are no attributes that nobody knows; a user's class has one, unless
    # it says which attributes it needs, as AdaBoundRule does.
    __slots__ = (
        "__weakref__",
        "_form",
        "_hooks",
        "_loaded",
        "_master",
        "_state",
        "_use_fp32_update",
        "by_setup",
        "enabled",
        "hyperparam",
        "t",
    )
    hyperparam: Hyperparameter
    t: int
    enabled: bool
    by_setup: bool  # whether an optimizer's setup has given it to its parameter
    _state: dict[str, Any] | None
    _loaded: dict[str, Any]
    _form: Any  # library, shape and dtype of what the state is known to fit
    _hooks: HookTable
    _use_fp32_update: bool
    _master: Master | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare(cls, UpdateRule)

    def __init__(
        self, parent_hyperparam: Hyperparameter | None = None, **hyperparameters: Any
    ) -> None:
        self.hyperparam = Hyperparameter(parent_hyperparam or self.default_hyperparam())
        for name, value in hyperparameters.items():
            if value is not None:
                setattr(self.hyperparam, name, value)
        self.t = 0
        self.enabled = True
        self.by_setup = False
        self._state = None
        self._loaded = {}
        self._form = None
        self._hooks = HookTable(type(self).__name__)
        self._use_fp32_update = False
        self._master = None

    def __getattr__(self, name: str) -> Any:
        if name in UpdateRule.__slots__:
            raise missing_init(type(self))
        if name.startswith("__"):  # what Python itself asks for, as `copy` does of each rule
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        raise UnknownName(
            f"{type(self).__name__} has no attribute {name!r}."
            f"{nearest(name, [*self.hyperparameters, *dir(type(self))], 'hyperparameters')}"
        )

    @property
    def state(self) -> Any:
        """Name -> array of what is kept for the parameter; None before the first update."""
        return self._state

    @classmethod
    def default_hyperparam(cls) -> Hyperparameter | None:
        """The declared values, as the parent of all others; None where nothing is declared."""
        if not cls.hyperparameters:
            return None
        return Hyperparameter(None, cls.ranges, cls.whole()).define(**cls.hyperparameters)

    @classmethod
    def whole(cls) -> list[str]:
        """The hyper-parameters that are annotated as whole numbers."""
        return [name for name, kind in annotated_kinds(cls).items() if kind.types == {int}]

    def _may_have(self, name: str) -> bool:
        return hasattr(self, "__dict__")  # a user's class

    def _settable(self) -> Iterable[str]:
        return [*self.hyperparameters, "enabled", "t"]

    # ------------------------------------------------------------------ what an author writes

    def step(self, *args: Any, **state: Any) -> None:
        """`step(xp, param, grad, **state)`: change `param` and the state in place by `grad`.

        All are arrays of one backend, whose namespace is `xp`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines no step(). Write one, or override update_core()."
        )

    def check(self, param: Parameter) -> None:
        """Raise UpdateError if this rule cannot update `param`; called before any is changed."""

    def init_state(self, param: Parameter) -> None:
        """Fill `self.state` for a parameter: arrays like it for each declared name."""
        backend = param.backend
        for name, fill in self._fills.items():
            self.state[name] = backend.filled_like(param.array, fill)

    def update_core(self, param: Parameter) -> None:
        """Change the array of `param` by its gradient."""
        backend = param.backend
        with backend.entered(backend.device_of(param.array)):
            if backend.on_gpu:
                self.update_core_gpu(param)
            else:
                self.update_core_cpu(param)

    def update_core_cpu(self, param: Parameter) -> None:
        """Change an array in host memory; called by `update_core`."""
        self._run_step(param)

    def update_core_gpu(self, param: Parameter) -> None:
        """Change an array on a GPU; called by `update_core`."""
        self._run_step(param)

    def _run_step(self, param: Parameter) -> None:
        spec: Any = param._spec
        backend, array, grad, state = spec.backend, param._array, param.grad, self._state or {}
        kernel = backend.update_kernels.get(type(self))
        done = NotImplemented
        if kernel is not None:
            done = kernel(self, backend.xp, array, grad, **state)
        if done is NotImplemented:
            if not backend.mutable:
                self._step_in_cells(backend, param)
                return
            gave: Any = self.step(backend.xp, array, grad, **state)  # type: ignore[func-returns-value]
            if gave is not None:
                raise gives_a_result(self)

    def _step_in_cells(self, backend: Any, param: Parameter) -> None:
        """Make the step where arrays cannot be changed: new ones take their place."""
        from core.optimizer.cell import Cell, CellNamespace

        state = self._state or {}
        cell = Cell(backend, param._array)
        cells = {k: Cell(backend, v) if is_array(v) else v for k, v in state.items()}
        xp = CellNamespace(backend.xp)
        gave: Any = self.step(xp, cell, param.grad, **cells)  # type: ignore[func-returns-value]
        if gave is not None:
            raise gives_a_result(self)
        param.array = cell.array
        state.update({k: c.array for k, c in cells.items() if isinstance(c, Cell)})

    # ------------------------------------------------------------------ the update

    def update(self, param: Parameter) -> None:
        """Make one step, unless the rule is disabled or the parameter has no gradient.

        Raises:
            UpdateError: The gradient or the state does not fit the parameter, which then is as it
                was.
        """
        step = Step.of(param, self)
        if step is not None:
            try:
                step.begin()
                step.call_hooks()
            except BaseException:
                step.undo()
                raise
            together.make([step])

    def _has_master(self, param: Parameter) -> bool:
        """Whether steps of `param` work on a float32 master of it."""
        return self._use_fp32_update and param.backend.dtype_name(param.dtype) in _SIXTEEN_BIT

    def _work_on(self, param: Parameter) -> Parameter:
        """What a step works on: `param`, or its float32 master as `param` is now."""
        if not self._has_master(param):
            return param
        if self._master is None or self._master.shape != param.shape:
            self._master = Master(cast(param.backend, param.array, "float32"), param.name)
        self._master.follow(param)
        return self._master

    def _prepare(self, work: Parameter) -> None:
        """Make the state where there is none, and bring it to where the parameter is."""
        spec: Any = work._spec
        form = spec.type, spec.shape, spec.dtype
        if self._state is None:
            self._state = {}
            self.init_state(work)
            self._form = None if self._loaded else form
            self._state |= self._loaded
            self._loaded = {}
        place = spec.device
        for name, value in self._state.items():
            alike = type(value) is spec.type
            here = alike and (place is None or spec.backend.spec_device(value) == place)
            if not here and is_array(value):
                self._state[name] = to_backend(value, work.device)
        if self._form != form:
            self._fit(work)
            self._form = form

    def _fit(self, work: Parameter) -> None:
        """Bring the state, of a file or of earlier arrays, to the dtype of `work`.

        Raises UpdateError where it belongs to a parameter of another shape.
        """
        new, state = copy.copy(self), self._state or {}
        new._state, new._loaded = {}, dict(state)
        new.init_state(work)
        shape = tuple(work.shape)
        for name, start in new._state.items():
            value: Any = state.get(name)
            if not (is_array(start) and is_array(value)):
                continue
            if tuple(start.shape) == shape != tuple(value.shape):
                raise UpdateError(
                    f"update {work.name or 'of a parameter'}: expected {name!r} of "
                    f"{type(self).__name__} in the parameter's shape {shape}, got "
                    f"{tuple(value.shape)}, from a file or from before the parameter had another "
                    "shape. Call setup(link) again, which begins without state. Nothing has been "
                    "updated."
                )
            if start.dtype == work.dtype != value.dtype:
                state[name] = cast(work.backend, value, work.dtype)

    def _count(self) -> None:
        _set_t(self, self.t + 1)

    def _call_hooks_before(self, work: Parameter) -> None:
        """Call the hooks before a step; they see its number, though it may still be given up."""
        self._count()
        try:
            for hook in self._hooks.pre:
                hook(self, work)
        finally:
            _set_t(self, self.t - 1)

    def _call_hooks_after(self, work: Parameter) -> None:
        for hook in self._hooks.post:
            hook(self, work)

    def _run(self, work: Parameter) -> None:
        """Count a step and make it."""
        self._count()
        spec = work._spec
        if self.follows_step and spec is not None and spec.device is None:
            self._run_step(work)  # there is no device to enter
        else:
            self.update_core(work)

    @checked
    def use_fp32_update(self, flag: bool = True) -> None:
        """Keep a float32 master of a 16-bit parameter, update that, and round the result.

        Hooks get the master; the parameter's own array is the master rounded.
        """
        self._use_fp32_update = flag

    # ------------------------------------------------------------------ hooks

    @checked
    def add_hook(self, hook: Hook, name: str | None = None, timing: str = "auto") -> None:
        """Call `hook(rule, param)` before (`'pre'`) or after (`'post'`) each step of this rule.

        What it has in `serialize` the optimizer saves and loads, as for its own hooks.

        Raises:
            HookError: The name is taken, or the hook makes sense only for all parameters together.
        """
        if getattr(hook, "call_for_each_param", None) is False:
            raise _not_for_one(hook)
        self._hooks.add(hook, name, timing)

    def remove_hook(self, name: str) -> None:
        """Remove the hook called `name`."""
        self._hooks.remove(name)

    # ------------------------------------------------------------------ saving

    def serialize(self, serializer: Any) -> None:
        """Save or load `t`, every piece of state and the float32 master."""
        self.t = serializer.optional_value("t", self.t)
        known = self._loaded if self._state is None else self._state
        found = {name: serializer(name, known.get(name)) for name in self._state_names()}
        master = self._master
        if self._use_fp32_update:
            array = serializer("fp32_param", None if master is None else master.array)
        if not isinstance(serializer, Deserializer):
            return
        self._loaded = {name: value for name, value in found.items() if value is not None}
        self._form = None
        self._state = None  # what the file lacks is made with the next step
        if len(self._loaded) == len(found):
            self._state, self._loaded = found, {}
        if self._use_fp32_update:
            self._master = None if array is None else Master(array)

    def held(self) -> dict[str, Any]:
        """All that is kept for the parameter, on the host, to be sent to another process."""
        master = self._master
        return {
            "t": self.t,
            "state": self._state and {k: _hosted(v) for k, v in self._state.items()},
            "loaded": {k: _hosted(v) for k, v in self._loaded.items()},
            "master": None if master is None else _hosted(master.array),
        }

    def hold(self, held: dict[str, Any] | None) -> None:
        """Keep what `held` gives; None lets go of all but the count."""
        found = held or {"t": self.t, "state": None, "loaded": {}, "master": None}
        self.t, self._state, self._loaded = found["t"], found["state"], found["loaded"]
        self._form = None
        self._master = None if found["master"] is None else Master(found["master"])

    def _state_names(self) -> list[str]:
        return self._initial_names() if self._state is None else list(self._state)

    def _initial_names(self) -> list[str]:
        """The names of what `init_state` makes."""
        clone = copy.copy(self)
        clone._state = {}
        stand_in = Parameter(0.0, (1,))
        stand_in.zerograd()
        clone.init_state(stand_in)
        return list(clone._state)

    @classmethod
    def continues(cls, rule: str, hyperparameters: Mapping[str, Any]) -> bool:
        """Whether state of the `rule` that a file names, by its class, goes on with this one.

        A class that once had another name, or was another's option, overrides it; it is given the
        hyper-parameters in the file, to tell by.
        """
        return rule == cls.__name__

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v!r}" for k, v in self.hyperparam.get_dict().items())
        return f"{type(self).__name__}({values})"


def _hosted(value: Any) -> Any:
    return to_host(value) if is_array(value) else value


# What each step sets, without a look at names and kinds.
_set_t: Any = vars(UpdateRule)["t"].__set__


def _not_for_one(hook: Any) -> Exception:
    from core.errors import HookError

    return HookError(
        f"UpdateRule.add_hook: {getattr(hook, 'name', type(hook).__name__)} looks at all "
        "parameters together, and cannot be added to a single rule. Add it to the optimizer, or "
        "to a group of it if it has a method for_group."
    )
