"""A link that applies links and functions one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from core.errors import nearest
from core.errors.set_by_init import set_by_init
from core.link.chain import ChainList
from core.link.link import Link

Layer = Callable[..., Any]


class Sequential(ChainList):
    """Layers that are applied one after another: links, which it owns, and plain callables.

    The first layer gets all arguments of the call; where one gives a tuple, the next gets its
    elements as arguments. It is a list of its layers: `append`, `insert`, `extend`, `+`, indexing,
    slicing, `len` and iteration work as on lists. Paths count the links alone: those that stand
    behind a plain callable have another number there than as items.

    Args:
        layers: Links or other callables.

    >>> import core
    >>> import core.links as L, core.functions as F
    >>> model = core.Sequential(L.Linear(4, 3), F.relu, L.Linear(3, 2))
    >>> len(model), sum(1 for _ in model.children())
    (3, 2)
    >>> dict(model.namedlinks())["/1"] is model[2]
    True
    """

    _tables = (*ChainList._tables, "_layers")
    _layers: list[Layer] = set_by_init()

    def __init__(self, *layers: Layer) -> None:
        super().__init__()
        self._layers = []
        self._place(list(layers))

    def forward(self, *x: Any) -> Any:
        """Apply the layers in order."""
        y: Any = x
        for layer in self._layers:
            y = layer(*y) if isinstance(y, tuple) else layer(y)
        return y[0] if isinstance(y, tuple) and len(y) == 1 else y

    def _place(self, layers: list[Layer]) -> None:
        """Make these the layers, if all of them can be."""
        for layer in layers:
            if not callable(layer):
                unpack = isinstance(layer, (list, tuple))
                raise TypeError(
                    f"Sequential: expected links and callables, got {type(layer).__name__}."
                    + " Give them one by one: Sequential(*layers)." * unpack
                )
            if isinstance(layer, type) and issubclass(layer, Link):
                name = layer.__name__
                raise TypeError(
                    f"Sequential: expected links and callables, got the class {name}. Make one of "
                    f"it: {name}(...)."
                )
        # One link may stand at several places: it is one child, whose parameters are shared.
        self._install(self._numbered(layers, lambda layer: isinstance(layer, Link)))
        self._layers = layers

    @staticmethod
    def _numbered(layers: list[Any], is_link: Callable[[Any], bool]) -> list[Any]:
        """The links among layers, each once, in the order of the numbers that files have."""
        return list({id(layer): layer for layer in layers if is_link(layer)}.values())

    def __getitem__(self, index: Any) -> Any:
        """Return the layer at `index`, or a Sequential of the same layers for a slice."""
        found = self._layers[index]
        return Sequential(*found) if isinstance(index, slice) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        layers = list(self._layers)
        layers[index] = value
        self._place(layers)

    def __delitem__(self, index: Any) -> None:
        layers = list(self._layers)
        del layers[index]
        self._place(layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __contains__(self, layer: object) -> bool:
        return any(layer is other for other in self._layers)

    def __add__(self, other: Any) -> Sequential:
        """Return a Sequential of these layers, followed by those of `other`."""
        if not isinstance(other, Sequential):
            return NotImplemented
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Sequential:
        self.extend(other)
        return self

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._layers)

    def add_link(self, link: Layer) -> None:
        """Append a layer."""
        self._place([*self._layers, link])

    def append(self, value: Layer) -> None:
        """Append a layer."""
        self.add_link(value)

    def extend(self, values: Iterable[Layer]) -> None:
        """Append several layers."""
        self._place([*self._layers, *values])

    def insert(self, index: int, link: Layer) -> None:
        """Insert a layer before the one at `index`."""
        layers = list(self._layers)
        layers.insert(index, link)
        self._place(layers)

    def index(self, layer: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the first index of a layer."""
        for i in range(*slice(start, stop).indices(len(self))):
            if self._layers[i] is layer:
                return i
        raise ValueError("Sequential.index: the layer given is not among the layers.")

    def count(self, layer: Any) -> int:
        """Count how often a layer occurs."""
        return sum(layer is other for other in self._layers)

    def count_by_layer_type(self, type_name: str) -> int:
        """Count the layers whose class or function has this name."""
        return self._types()[type_name]

    def _types(self) -> Counter[str]:
        return Counter(_type_name(layer) for layer in self._layers)

    def pop(self, index: int = -1) -> Any:
        """Remove the layer at `index`, and return it."""
        layer = self._layers[index]
        del self[index]
        return layer

    def remove(self, layer: Any) -> None:
        """Remove the first occurrence of a layer."""
        del self[self.index(layer)]

    def remove_by_layer_type(self, type_name: str) -> None:
        """Remove all layers whose class or function has this name."""
        if type_name not in self._types():
            raise ValueError(
                f"Sequential.remove_by_layer_type: no layer is a {type_name!r}; there are "
                f"{', '.join(self._types())}.{nearest(type_name, self._types())}"
            )
        self._place([layer for layer in self._layers if _type_name(layer) != type_name])

    def clear(self) -> None:
        """Remove all layers."""
        self._place([])

    def reverse(self) -> None:
        """Reverse the order of the layers."""
        self._place(self._layers[::-1])

    def flatten(self) -> Sequential:
        """Return a Sequential in which inner Sequentials are replaced by their layers."""
        flat: list[Layer] = []
        for layer in self._layers:
            flat += layer.flatten()._layers if isinstance(layer, Sequential) else [layer]
        return Sequential(*flat)

    def repeat(self, n_repeat: int, mode: str = "init") -> Sequential:
        """Return a Sequential that repeats these layers `n_repeat` times.

        Each time the links are copies, by `mode` as for `copy`; other callables are the same.
        """
        self._check_mode("repeat", mode)
        rounds = (self.copy(mode) for _ in range(n_repeat))
        return Sequential(*(layer for one in rounds for layer in one))

    def serialize(self, serializer: Any) -> None:
        """Save or load the links under their numbers; where Chainer's are others, state which."""
        own, chainers = self._numbers()
        if chainers != sorted(chainers):
            serializer.statement("numbers", _listed(own), partial(_misfit, own))
            if own != chainers:
                serializer.caution(
                    "the links of a Sequential are numbered in order here; in Chainer their "
                    f"numbers are {_listed(chainers)}. Load what it has saved link by link, each "
                    "with the path of its number there."
                )
        super().serialize(serializer)

    def _numbers(self) -> tuple[list[int], list[int]]:
        """Which numbers the links have, in the order of the layers, and which in Chainer."""
        places = {id(x): i for i, x in reversed([*enumerate(self._layers)]) if isinstance(x, Link)}
        children = [*map(id, self._children)]
        own = [children.index(link) for link in sorted(places, key=places.__getitem__)]
        ahead, count = 1 + min(places.values(), default=0), len(places)
        return own, [*range(min(ahead, count)), *range(count - 1, ahead - 1, -1)]

    def _shown_parts(self) -> Iterator[tuple[str, Link | None]]:
        numbers = {id(link): number for number, link in self._named_children()}
        for layer in self._layers:
            if isinstance(layer, Link):  # whose name may be its number in a slice
                yield numbers[id(layer)], layer
            else:
                yield _type_name(layer), None

    def _share_children(self, made: dict[int, Any]) -> None:
        super()._share_children(made)
        self._layers = [made.get(id(layer), layer) for layer in self._layers]


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _misfit(own: list[int], stored: str) -> str:
    """What keeps links from being loaded that were saved under other numbers."""
    if stored == _listed(own):
        return ""
    return (
        f"its links were saved with the numbers {stored}, and have {_listed(own)} here, since one "
        "program follows Chainer's order and the other does not. Load link by link, each with the "
        "path of its number in the file"
    )


def _type_name(layer: Any) -> str:
    return layer.__name__ if hasattr(layer, "__name__") else type(layer).__name__
