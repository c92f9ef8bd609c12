"""The chain of small operations by which frameworks are measured: its cases, for all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from protocol import REPETITIONS, Case


def cases(
    chain: Callable[[], Any],
    differentiate: Callable[[Any], None],
    gradients: Callable[[Any], Any],
    no_gradients: Callable[[], Any],
) -> dict[str, Case]:
    """Return what can be measured; a case drops each graph before it builds the next."""

    def forward(repeat: int) -> None:
        for _ in range(repeat):
            chain()

    def forward_backward(repeat: int) -> None:
        for _ in range(repeat):
            h = chain()
            differentiate(h)
            del h

    def without_gradients(repeat: int) -> None:
        with no_gradients():
            forward(repeat)

    def recording(repeat: int) -> None:
        for _ in range(repeat):
            h = chain()
            found = gradients(h)
            del h, found

    return {
        "forward": forward,
        "forward_backward": forward_backward,
        "no_gradients": without_gradients,
        "recording": recording,
    }


def of_chainers(library: Any, F: Any) -> dict[str, Case]:
    """Return the cases of Chainer, or of what has its interface: written as any user would."""
    x = library.Variable(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32))
    w = library.Variable(np.array([0.9, 1.0, 1.1, 1.2], dtype=np.float32))
    b = library.Variable(np.array([0.0, 0.1, -0.1, 0.2], dtype=np.float32))
    seed = np.ones(4, dtype=np.float32)
    start = library.Variable(seed)

    def chain() -> Any:
        h = x
        for _ in range(REPETITIONS):
            h = F.tanh(h * w + b)
        return h * w

    def differentiate(h: Any) -> None:
        h.grad = seed
        h.backward()
        x.cleargrad()
        w.cleargrad()
        b.cleargrad()

    def gradients(h: Any) -> Any:
        return library.grad([h], [x, w, b], [start], enable_double_backprop=True)

    return cases(chain, differentiate, gradients, library.no_backprop_mode)
