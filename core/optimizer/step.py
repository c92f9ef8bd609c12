"""One step of one parameter, from its gradient to its new values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from core.arrays.backend import of as backend_of
from core.arrays.spec import spec_of
from core.errors import UpdateError
from core.link.parameter import Parameter
from core.optimizer.master import Master, cast

if TYPE_CHECKING:
    from core.optimizer.update_rule import UpdateRule


class Step:
    """A step of a parameter that is under way: `begin`, hooks of optimizer and rule, then `make`.

    `grad` is the gradient that came, and `loss_scale` the factor that backward has put on it.
    `work` is what hooks and the rule get: once the step has begun, its `grad` is the true gradient,
    without the loss scale. It is the parameter itself, or the float32 master of a parameter of 16
    bits.
    """

    __slots__ = ("grad", "loss_scale", "parameter", "rule", "work")

    def __init__(self, parameter: Parameter, rule: UpdateRule, grad: Any) -> None:
        self.parameter = self.work = parameter
        self.rule = rule
        self.grad = grad
        self.loss_scale = parameter.loss_scale

    @classmethod
    def of(cls, parameter: Parameter, rule: UpdateRule) -> Self | None:
        """The step to be made; None where the rule is disabled, or there is no gradient.

        Raises UpdateError where the gradient does not fit the parameter, or that cannot be changed.
        """
        if not rule.enabled or parameter._array is None:
            return None
        if parameter._frozen:  # a rule that was enabled by itself needs gradients again
            parameter.frozen = False
        grad = parameter.grad
        if grad is None:
            return None
        if spec_of(grad) is not parameter._spec:
            _check_gradient(parameter, grad)
        backend = parameter.backend
        if not backend.writable(parameter._array) and backend.mutable:
            raise UpdateError(
                f"update {parameter.name or 'of a parameter'}: expected an array that can be "
                "changed, got a read-only one, or one that shows an element several times. Set "
                "the parameter's array to a copy of it. Nothing has been updated."
            )
        return cls(parameter, rule, grad)

    def begin(self, loss_scale: float | None = None) -> None:
        """Take up the work copy, its true gradient and the rule's state; nothing has moved yet.

        The gradient is divided by `loss_scale`, that of a 16-bit parameter in float32. Where the
        optimizer has none, it is that of a `backward(loss_scale=...)` of the script's own.
        """
        loss_scale = self.loss_scale if loss_scale is None else loss_scale
        rule, work, grad = self.rule, self.parameter, self.grad
        if rule._use_fp32_update:
            self.work = work = rule._work_on(work)
            if work is not self.parameter:
                grad = cast(work.backend, grad, "float32")
        if loss_scale is not None:
            with work.backend.beside(grad):
                grad = work.xp.asarray(grad * (1.0 / loss_scale))
        rule.check(work)
        if work is not self.parameter or grad is not self.grad:
            work.grad = grad
        rule._prepare(work)
        if rule._hooks:
            self.let_change()

    def let_change(self) -> None:
        """Let hooks change the gradient in place: one that is read-only is copied."""
        grad, backend = self.work.grad, self.work.backend
        if grad is not None and backend.mutable and not backend.writable(grad):
            self.work.grad = backend.copy(grad)

    @property
    def due(self) -> bool:
        """Whether the step is still to be made: hooks may freeze the rule or drop the gradient."""
        return self.rule.enabled and self.work.grad is not None

    def call_hooks(self) -> None:
        """Call the hooks of the rule before the step, if that is due."""
        if self.rule._hooks.pre and self.due:
            self.rule._call_hooks_before(self.work)

    def call_hooks_after(self) -> None:
        """Call the hooks of the rule after the step, which has been made, and finish it."""
        try:
            self.rule._call_hooks_after(self.work)
        finally:
            self.finish()

    def finish(self) -> None:
        """Write the work copy, which has changed, and leave the gradient."""
        self.write()
        self.leave()

    def leave(self) -> None:
        """Drop the gradient that was made for a master, or the scale that one has no longer."""
        if self.work is not self.parameter:
            self.work.grad = None
        elif self.loss_scale is not None:
            self.parameter.loss_scale = None  # it has been divided out of what is there

    def write(self) -> None:
        """Let the parameter, which has changed, have the values of the work copy."""
        self.parameter.version += 1
        if isinstance(self.work, Master):
            self.work.round_to(self.parameter)

    def undo(self) -> None:
        """Give the parameter back the gradient that it had before the step."""
        if self.parameter.grad is not self.grad:
            self.parameter.grad = self.grad
            if self.loss_scale is not None:
                self.parameter.loss_scale = self.loss_scale


def _check_gradient(param: Parameter, grad: Any) -> None:
    array = param.array
    backend = backend_of(array, grad)
    name = param.name or "of a parameter"
    if tuple(grad.shape) != tuple(array.shape):
        raise UpdateError(
            f"update {name}: expected a gradient of shape {tuple(array.shape)}, "
            f"got {tuple(grad.shape)}. Nothing has been updated."
        )
    if grad.dtype != array.dtype:  # those that differ in the order of bytes have one name
        expected, got = map(backend.dtype_name, (array.dtype, grad.dtype))
        if got != expected:
            raise UpdateError(
                f"update {name}: expected a gradient of dtype {expected}, got {got}. "
                "Nothing has been updated."
            )
