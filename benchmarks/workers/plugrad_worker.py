"""plugrad's worker: the chain written as any user would write it."""

from importlib.metadata import version

import numpy as np
from protocol import REPETITIONS, Case, serve

import core
import core.functions as F


def cases() -> dict[str, Case]:
    """Return what can be measured; a case drops each graph before it builds the next."""
    x = core.Variable(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32))
    w = core.Variable(np.array([0.9, 1.0, 1.1, 1.2], dtype=np.float32))
    b = core.Variable(np.array([0.0, 0.1, -0.1, 0.2], dtype=np.float32))
    seed = np.ones(4, dtype=np.float32)

    def chain() -> core.Variable:
        h = x
        for _ in range(REPETITIONS):
            h = F.tanh(h * w + b)
        return h * w

    def forward(repeat: int) -> None:
        for _ in range(repeat):
            chain()

    def forward_backward(repeat: int) -> None:
        for _ in range(repeat):
            h = chain()
            h.grad = seed
            h.backward()
            x.cleargrad()
            w.cleargrad()
            b.cleargrad()
            del h

    def no_gradients(repeat: int) -> None:
        with core.no_backprop_mode():
            for _ in range(repeat):
                chain()

    def recording(repeat: int) -> None:
        start = core.Variable(seed)
        for _ in range(repeat):
            h = chain()
            gradients = core.grad([h], [x, w, b], [start], enable_double_backprop=True)
            del h, gradients

    return {
        "forward": forward,
        "forward_backward": forward_backward,
        "no_gradients": no_gradients,
        "recording": recording,
    }


if __name__ == "__main__":
    serve(cases(), {"plugrad": version("plugrad"), "numpy": np.__version__})
