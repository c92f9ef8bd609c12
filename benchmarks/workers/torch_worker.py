"""PyTorch's worker: the same chain, eager, on the CPU with one thread."""

import torch
from protocol import REPETITIONS, Case, serve


def cases() -> dict[str, Case]:
    """Return what can be measured; a case drops each graph before it builds the next."""
    x = torch.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    w = torch.tensor([0.9, 1.0, 1.1, 1.2], requires_grad=True)
    b = torch.tensor([0.0, 0.1, -0.1, 0.2], requires_grad=True)
    seed = torch.ones(4)

    def chain() -> torch.Tensor:
        h = x
        for _ in range(REPETITIONS):
            h = torch.tanh(h * w + b)
        return h * w

    def forward(repeat: int) -> None:
        for _ in range(repeat):
            chain()

    def forward_backward(repeat: int) -> None:
        for _ in range(repeat):
            h = chain()
            h.backward(seed)
            x.grad = w.grad = b.grad = None
            del h

    def no_gradients(repeat: int) -> None:
        with torch.no_grad():
            for _ in range(repeat):
                chain()

    def recording(repeat: int) -> None:
        for _ in range(repeat):
            h = chain()
            gradients = torch.autograd.grad([h], [x, w, b], [seed], create_graph=True)
            del h, gradients

    return {
        "forward": forward,
        "forward_backward": forward_backward,
        "no_gradients": no_gradients,
        "recording": recording,
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    serve(cases(), {"torch": torch.__version__})
