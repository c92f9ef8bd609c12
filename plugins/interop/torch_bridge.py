"""Links as modules of PyTorch's."""

from __future__ import annotations

from typing import Any

from core import Link, Variable, as_variable, force_backprop_mode, grad, using_config
from core.errors.kinds import checked
from plugins.extras import need


@checked
def as_torch(link: Link) -> Any:
    """Make a `torch.nn.Module` that computes what a link does.

    Its parameters share the memory of the link's, so an optimizer of PyTorch's trains the link.
    Tensors become arrays without a copy; gradients reach inputs and parameters, first derivatives
    only. `module.train()` and `module.eval()` decide the link's mode.

    Args:
        link: A link with sizes, on the CPU: what its first call would size has to be called once.

    Raises:
        TypeError: It is no link.
        ValueError: A parameter has no values yet.
        ImportError: PyTorch is not installed.
    """
    if not isinstance(link, Link):
        raise TypeError(f"as_torch: expected a link, got {link!r:.60}; from_torch is the way back.")
    torch = need("torch", "torch", "interop.as_torch")
    for path, parameter in link.namedparams():
        if not parameter.is_initialized:
            raise ValueError(
                f"as_torch: expected parameters with values, got {path} without. Call the link "
                "once before."
            )
    return _module_class(torch)(link)


def _module_class(torch: Any) -> Any:
    class Bridge(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, link: Any, train: bool, count: int, *tensors: Any) -> Any:
            inputs = [
                _variable(t, needs)
                for t, needs in zip(tensors[:count], ctx.needs_input_grad[3:], strict=False)
            ]
            with using_config("train", train), force_backprop_mode():
                made = link(*inputs)
            outputs = made if isinstance(made, (tuple, list)) else (made,)
            outputs = tuple(map(as_variable, outputs))
            ctx.made = outputs, inputs, [p for _, p in link.namedparams()]
            given = tuple([torch.from_dlpack(y.array).clone() for y in outputs])
            return given if isinstance(made, (tuple, list)) else given[0]

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, *gradients: Any) -> Any:
            outputs, inputs, parameters = ctx.made
            pairs = [
                (y, _variable(g.contiguous(), False))
                for y, g in zip(outputs, gradients, strict=True)
                if g is not None and y.requires_grad
            ]
            targets = [x for x in (*inputs, *parameters) if x.requires_grad]
            found = grad([y for y, _ in pairs], targets, [g for _, g in pairs]) if pairs else []
            by_target = {id(x): g for x, g in zip(targets, found, strict=False) if g is not None}
            made = [by_target.get(id(x)) for x in (*inputs, *parameters)]
            return (
                None,
                None,
                None,
                *[None if g is None else torch.from_dlpack(g.array).clone() for g in made],
            )

    class LinkModule(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, link: Any) -> None:
            super().__init__()
            self._link = link
            for path, parameter in link.namedparams():
                shared = torch.nn.Parameter(
                    torch.from_dlpack(parameter.array), requires_grad=parameter.requires_grad
                )
                self.register_parameter(path.strip("/").replace("/", "_") or "value", shared)

        def forward(self, *tensors: Any) -> Any:
            own = self.parameters()
            return Bridge.apply(self._link, self.training, len(tensors), *tensors, *own)

    return LinkModule


def _variable(tensor: Any, needs: bool) -> Variable:
    from core.arrays.backend import host

    array = host().xp.from_dlpack(tensor.detach())
    return Variable(array, requires_grad=bool(needs))
