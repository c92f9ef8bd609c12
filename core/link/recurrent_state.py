"""What links carry from one call to the next, such as the state of a recurrent layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from core.arrays.backend import Device, to_backend
from core.errors import CheckpointError
from core.errors.place import warn
from core.graph.history import history_of
from core.graph.variable import Variable
from core.link.parameter import Parameter
from core.link.serializer import AbstractSerializer, Deserializer


class RecurrentState:
    """A mixin: Variables that live from call to call, in the attributes that `carried` names.

    A subclass adds its names to those of its bases. They move with the link; copies and pickles
    hold them without the graph they came from.
    """

    carried: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("carried", ())
        if isinstance(own, str):
            raise TypeError(
                f"{cls.__name__}.carried: expected a tuple of names of attributes, got {own!r}. "
                f"Write ({own!r},)."
            )
        bases = [name for base in cls.__mro__[1:] for name in getattr(base, "carried", ())]
        cls.carried = tuple(dict.fromkeys([*bases, *own]))

    def _carried_values(self) -> Iterator[tuple[str, Variable]]:
        """Names and values of what is carried at the moment."""
        for name in self.carried:
            value = getattr(self, name, None)
            if value is not None:
                yield name, value

    def _move_carried(self, device: Device) -> None:
        for name, value in self._carried_values():
            if value.device != device:
                setattr(self, name, _without_graph(value, device))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        for name, value in self._carried_values():
            if isinstance(value, Variable) and value.creator_node is not None:
                state[name] = _without_graph(value, value.device)
        return state


def serialize_carried(link: Any, serializer: AbstractSerializer) -> None:
    """Save or load what a link and those below carry between calls.

    Snapshots of a training hold it, files of a model do not. Saved are the elements, without the
    graph that they came from, with a warning where one leads to parameters: what goes back beyond
    the last update is not resumed to the bit. Raises CheckpointError where something else than a
    Variable or None is carried.

    >>> import core.links as L, numpy as np
    >>> from core.serializers import DictionarySerializer, NpzDeserializer
    >>> layer, saved = L.LSTM(3, 2), DictionarySerializer()
    >>> h = layer(np.ones((5, 3), "f"))
    >>> h.unchain_backward()
    >>> serialize_carried(layer, saved)
    >>> sorted(saved.target)
    ['c', 'h']
    >>> layer.reset_state()
    >>> serialize_carried(layer, NpzDeserializer(saved.target))
    >>> layer.h.shape
    (5, 2)
    """
    for path, each in link.namedlinks():
        for name in each.carried:
            key = f"{path}/{name}".lstrip("/")
            if isinstance(serializer, Deserializer):
                loaded = serializer(key, None)  # of whatever shape, as batches differ
                value = None if loaded is None else Variable(each.device.send(loaded))
                setattr(each, name, value)
            else:
                serializer(key, _elements(each, name))


@contextmanager
def keeping_carried(links: Iterable[Any]) -> Iterator[None]:
    """A context after which links carry what they did before it.

    >>> import core.links as L, numpy as np
    >>> layer = L.LSTM(3, 2)
    >>> with keeping_carried([layer]):
    ...     h = layer(np.ones((5, 3), "f"))
    >>> layer.h is None
    True
    """
    before = [(each, n, getattr(each, n, None)) for each in links for n in each.carried]
    try:
        yield
    finally:
        for each, name, value in before:
            setattr(each, name, value)


def _elements(link: Any, name: str) -> Any:
    value = getattr(link, name, None)
    if value is None:
        return None
    if isinstance(value, Variable):
        if _has_past(value):
            warn(
                f"{type(link).__name__}.{name} is saved without the graph that it came from: a "
                "resumed run will not go back beyond this point, as this one does. Let the graph "
                "end with the update, by loss.unchain_backward() after loss.backward(); or where "
                "each call is a whole sequence, forget the state at its end, by reset_state()."
            )
        return value.array
    raise CheckpointError(
        f"{type(link).__name__}.{name}: expected a Variable or None, as 'carried' names it, got "
        f"{type(value).__name__}. Wrap an array in a Variable; register a number with "
        f"add_persistent({name!r}, ...) instead."
    )


def _has_past(value: Variable) -> bool:
    """Whether gradients would flow from here to a parameter: through steps before this one."""
    return any(
        isinstance(node.get_variable_or_none(), Parameter)
        for function in history_of([value.creator_node])
        for node in function.inputs
    )


def _without_graph(value: Variable, device: Device) -> Variable:
    """The elements of a variable on `device`."""
    return Variable(to_backend(value.array, device), requires_grad=value.requires_grad)
