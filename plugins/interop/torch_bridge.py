"""Links as modules of PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

from core import Link, Parameter, Variable, as_variable, force_backprop_mode, grad, using_config
from core.arrays.backend import host
from core.errors.kinds import checked
from plugins.extras import need
from plugins.tensors import array_of, shared_tensor, tensor_of


@checked
def as_torch(link: Link) -> Any:
    """Make a `torch.nn.Module` that computes what a link does.

    Its parameters share the memory of the link's, so an optimizer of PyTorch's trains the link.
    Tensors become arrays without a copy; gradients of any order reach inputs and parameters.
    `module.train()` and `module.eval()` decide the link's mode. Parameters are called by their
    paths, with `_` for `/`, and another `_` behind where a name is taken. Values that are no
    parameters, as running statistics, are the link's alone: save these with the link.

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


Call: TypeAlias = Callable[[Sequence[Any], Sequence[bool]], tuple[list[Variable], list[Variable]]]
"""Variables of results, and of what they were made of, from tensors, and which need gradients."""


def _operation(torch: Any) -> Any:
    """The operation of PyTorch's graphs that a `Call` becomes, whose backward is another."""

    class Bridge(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, call: Call, *tensors: Any) -> Any:
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*tensors)  # which tells of those that change before backward
            ctx.made = call(tensors, ctx.needs_input_grad[1:])
            return tuple([_copied(torch, y.array) for y in ctx.made[0]])

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            tensors, (outputs, inputs) = ctx.saved_tensors, ctx.made
            again = torch.is_grad_enabled()
            used = [
                (y, g)
                for y, g in zip(outputs, gradients, strict=True)
                if g is not None and y.requires_grad
            ]
            reached: list[Any] = []

            def call(given: Sequence[Any], needs: Sequence[bool]) -> Any:
                """Gradients, as a function of the inputs and of the gradients of the outputs."""
                own = [_variable(torch, g, again) for g in given[len(inputs) :]]
                found = grad([y for y, _ in used], inputs, own, enable_double_backprop=again)
                reached[:] = [x for x, g in zip(inputs, found, strict=True) if g is not None]
                return [g for g in found if g is not None], [*inputs, *own]

            if not used:
                return None, *[None] * len(inputs)
            with force_backprop_mode():
                found = Bridge.apply(call, *tensors, *[g for _, g in used])
            by_target = {id(x): g for x, g in zip(reached, found, strict=True)}
            return None, *[by_target.get(id(x)) for x in inputs]

    return Bridge


class _Shared(NamedTuple):
    """A parameter whose memory is a module's as well: its path, its name there, and the memory."""

    path: str
    parameter: Parameter
    name: str
    array: Any
    address: int


def _module_class(torch: Any) -> Any:
    operation = _operation(torch)

    class LinkModule(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, link: Any) -> None:
            super().__init__()
            self._link = link
            self._shared = [self._share(*named) for named in link.namedparams()]

        def _share(self, path: str, parameter: Parameter) -> _Shared:
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
            return _Shared(path, parameter, name, parameter.array, shared.data_ptr())

        def __deepcopy__(self, memo: Any) -> Any:
            make, (link, *state) = _reduced(self)
            return make(deepcopy(link, memo), *state)

        __reduce__ = _reduced

        def forward(self, *tensors: Any) -> Any:
            for tensor in tensors:
                if not isinstance(tensor, torch.Tensor) or tensor.device.type != "cpu":
                    raise TypeError(f"as_torch: expected tensors on the CPU, got {_told(tensor)}.")
            own = [getattr(self, each.name) for each in self._shared]
            _refuse_replaced(self._shared, own)
            several = False

            def call(given: Sequence[Any], needs: Sequence[bool]) -> Any:
                nonlocal several
                pairs = zip(given[: len(tensors)], needs, strict=False)
                inputs = [_variable(torch, t, n) for t, n in pairs]
                with using_config("train", self.training), force_backprop_mode():
                    made = self._link(*inputs)
                several = isinstance(made, (tuple, list))
                outputs = [*map(as_variable, made if several else (made,))]
                return outputs, [*inputs, *[each.parameter for each in self._shared]]

            found = operation.apply(call, *tensors, *own)
            return found if several else found[0]

    return LinkModule


def _reduced(module: Any) -> Any:
    """What is pickled or copied of a module, whose class nobody else can make."""
    tensors = [getattr(module, each.name) for each in module._shared]
    _refuse_replaced(module._shared, tensors)
    return _made_again, (module._link, module.training, [t.requires_grad for t in tensors])


def _made_again(link: Link, training: bool, needs: list[bool]) -> Any:
    """The module of a link that is a copy, or came from a file or another process."""
    module = as_torch(link).train(training)
    for each, needs_grad in zip(module._shared, needs, strict=True):
        getattr(module, each.name).requires_grad_(needs_grad)
    return module


def _refuse_replaced(shared: list[_Shared], tensors: list[Any]) -> None:
    """Raise where a parameter and its tensor no longer have the memory that they had."""
    for (path, parameter, name, array, address), tensor in zip(shared, tensors, strict=True):
        if parameter.array is not array or tensor.data_ptr() != address:
            raise ValueError(
                f"as_torch: {path} and the module's {name} no longer have the same memory; "
                "one was replaced, as by module.to(). Change the link, and make another "
                "module of it."
            )


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
