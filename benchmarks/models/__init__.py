"""The measured models, each written once for a framework, as its users would write it.

A module has `arrays(w)`, the initial values by the name of each parameter; `batch(w)`, the inputs
of a step; `work(w)`, the products of a step in FLOP or what it has to move in bytes; and a function
for each framework that can run it: `chainer` (given the module, for plugrad is written the same),
`torch`, `jax`, and `numpy`, by hand.
"""

import numpy as np

Arrays = dict[str, np.ndarray]


def random() -> np.random.RandomState:
    """The same numbers in every framework and with every version of NumPy."""
    return np.random.RandomState(0)


def weights(shape: tuple[int, ...], r: np.random.RandomState) -> np.ndarray:
    """Values of the size that keeps activations as large as inputs, for outputs first."""
    deviation = np.sqrt(2 / np.prod(shape[1:]))
    return (r.randn(*shape) * deviation).astype("f")


def layer(name: str, shape: tuple[int, ...], r: np.random.RandomState) -> Arrays:
    """A weight and a bias of zeros."""
    return {f"{name}/W": weights(shape, r), f"{name}/b": np.zeros(shape[0], "f")}


def images(w, *shape: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise in the form of images, and the class of each."""
    r = random()
    x = r.randn(w.batch, *shape).astype("f")
    return x, r.randint(0, classes, w.batch).astype("i4")


def normalization(name: str, size: int) -> Arrays:
    """What changes nothing at first."""
    return {f"{name}/gamma": np.ones(size, "f"), f"{name}/beta": np.zeros(size, "f")}
