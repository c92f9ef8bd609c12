"""PyTorch's worker: the same chain, eager, on the CPU with one thread."""

import chain
import torch
from protocol import REPETITIONS, Case, serve


def cases() -> dict[str, Case]:
    """Return what can be measured."""
    x = torch.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    w = torch.tensor([0.9, 1.0, 1.1, 1.2], requires_grad=True)
    b = torch.tensor([0.0, 0.1, -0.1, 0.2], requires_grad=True)
    seed = torch.ones(4)

    def forward() -> torch.Tensor:
        h = x
        for _ in range(REPETITIONS):
            h = torch.tanh(h * w + b)
        return h * w

    def differentiate(h: torch.Tensor) -> None:
        h.backward(seed)
        x.grad = w.grad = b.grad = None

    def gradients(h: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad([h], [x, w, b], [seed], create_graph=True)

    return chain.cases(forward, differentiate, gradients, torch.no_grad)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    serve(cases(), {"torch": torch.__version__})
