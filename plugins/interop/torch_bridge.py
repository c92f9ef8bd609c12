"""Links as modules of PyTorch's."""

from __future__ import annotations

from typing import Any

from core import Link, Variable, as_variable, force_backprop_mode, grad, using_config
from core.arrays.backend import host
from core.errors.kinds import checked
from plugins.extras import need
from plugins.tensors import array_of, shared_tensor, tensor_of


@checked
def as_torch(link: Link) -> Any:
    """Make a `torch.nn.Module` that computes what a link does.

    Its parameters share the memory of the link's, so an optimizer of PyTorch's trains the link.
    Tensors become arrays without a copy; gradients reach inputs and parameters, first derivatives
    only. `module.train()` and `module.eval()` decide the link's mode. Parameters are called by
    their paths, with `_` for `/`, and another `_` behind where a name is taken.

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
                _variable(torch, t, needs)
                for t, needs in zip(tensors[:count], ctx.needs_input_grad[3:], strict=False)
            ]
            with using_config("train", train), force_backprop_mode():
                made = link(*inputs)
            outputs = made if isinstance(made, (tuple, list)) else (made,)
            outputs = tuple(map(as_variable, outputs))
            ctx.made = outputs, inputs, [p for _, p in link.namedparams()]
            given = tuple([_copied(torch, y.array) for y in outputs])
            return given if isinstance(made, (tuple, list)) else given[0]

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, *gradients: Any) -> Any:
            outputs, inputs, parameters = ctx.made
            pairs = [
                (y, _variable(torch, g, False))
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
                *[None if g is None else _copied(torch, g.array) for g in made],
            )

    class LinkModule(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, link: Any) -> None:
            super().__init__()
            self._link = link
            for path, parameter in link.namedparams():
                try:
                    tensor = shared_tensor(torch, parameter.backend, parameter.array)
                except BufferError as error:
                    raise ValueError(
                        f"as_torch: the memory of {path} cannot be shared: {error}. "
                        "parameter.array = parameter.array.copy() gives it other memory."
                    ) from error
                shared = torch.nn.Parameter(tensor, requires_grad=parameter.requires_grad)
                name = path.strip("/").replace("/", "_")
                while hasattr(self, name):  # as of a/b and a_b
                    name += "_"
                self.register_parameter(name, shared)

        def forward(self, *tensors: Any) -> Any:
            for tensor in tensors:
                if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu":
                    raise TypeError(f"as_torch: expected tensors on the CPU, got {_told(tensor)}.")
            own = self.parameters()
            return Bridge.apply(self._link, self.training, len(tensors), *tensors, *own)

    return LinkModule


def _told(x: Any) -> str:
    """What was given instead of a tensor, and what to do."""
    if hasattr(x, "device") and not hasattr(x, "__array_namespace__"):
        return f"one on {x.device}: tensor.cpu() copies it"
    cure = "torch.from_dlpack makes one of an array, and of a Variable that needs no gradient"
    return f"{type(x).__name__}: {cure}"


def _variable(torch: Any, tensor: Any, needs: bool) -> Variable:
    return Variable(array_of(torch, host(), tensor), requires_grad=bool(needs))


def _copied(torch: Any, array: Any) -> Any:
    """A tensor that others may change."""
    return tensor_of(torch, host(), array).clone()
