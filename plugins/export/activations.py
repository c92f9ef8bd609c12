"""Activations for which ONNX has an operator."""

from __future__ import annotations

from typing import Any

from core.tracing import Applied
from plugins.export.graph import Graph


def plain(op: str) -> Any:
    """The translation of an operation that is one operator without settings."""

    def translation(g: Graph, call: Applied, *inputs: str) -> list[str]:
        return [g.add(op, *inputs)]

    return translation


relu = plain("Relu")
sigmoid = plain("Sigmoid")
erf = plain("Erf")


def prelu(g: Graph, call: Applied, x: str, W: str) -> list[str] | None:
    """PRelu, which broadcasts its slopes alone."""
    return [g.add("PRelu", x, W)] if call.inputs[0].shape == call.outputs[0].shape else None


def clipped_relu(g: Graph, call: Applied, x: str) -> list[str]:
    """Clip from 0 to z."""
    bounds = [g.constant(end, g.dtype(x)) for end in (0, call.function.z)]
    return [g.add("Clip", x, *bounds)]


def elu(g: Graph, call: Applied, x: str) -> list[str]:
    """Elu."""
    return [g.add("Elu", x, alpha=float(call.function.alpha))]


def gelu(g: Graph, call: Applied, x: str) -> list[str] | None:
    """Gelu, from opset 20 on."""
    return [g.add("Gelu", x)] if g.opset >= 20 else None


def hard_sigmoid(g: Graph, call: Applied, x: str) -> list[str]:
    """HardSigmoid."""
    return [g.add("HardSigmoid", x, alpha=0.2, beta=0.5)]


def leaky_relu(g: Graph, call: Applied, x: str) -> list[str]:
    """LeakyRelu."""
    return [g.add("LeakyRelu", x, alpha=float(call.function.slope))]


def silu(g: Graph, call: Applied, x: str) -> list[str]:
    """X times its Sigmoid."""
    return [g.add("Mul", x, g.add("Sigmoid", x))]


def softmax(g: Graph, call: Applied, x: str) -> list[str]:
    """Softmax."""
    return [g.add("Softmax", x, axis=call.function.axis)]


def log_softmax(g: Graph, call: Applied, x: str) -> list[str]:
    """LogSoftmax."""
    return [g.add("LogSoftmax", x, axis=call.function.axis)]


def softplus(g: Graph, call: Applied, x: str) -> list[str] | None:
    """Softplus, where beta is 1."""
    return [g.add("Softplus", x)] if call.function.beta == 1 else None
