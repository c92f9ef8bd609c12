"""Links made of links: `Chain` has named children, `ChainList` numbered ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence
from typing import Any

from core.errors import RegistrationError, nearest
from core.errors.set_by_init import set_by_init
from core.link.link import Link


def refuse_loop(parent: Link, child: Any) -> None:
    """Raise if `child` is not a link, or if `parent` would become part of itself."""
    if not isinstance(child, Link):
        raise TypeError(
            f"{type(parent).__name__}: expected a link as its child, got {type(child).__name__}."
        )
    if any(link is parent for link in child.links()):
        raise RegistrationError(
            f"{type(parent).__name__}: the {type(child).__name__} to register contains this very "
            "link, which would make it a part of itself."
        )


def _stands_in(value: Any) -> bool:
    """Whether the value may take the place of a child without being a link."""
    return value is None or (callable(value) and not isinstance(value, Link | type))


class Chain(Link):
    """A link whose children have names.

    Links and parameters set as attributes inside `with self.init_scope():` are registered; links
    can also be given as keywords. A link set outside is just an attribute, except in the place of a
    registered child, which it then replaces (as when a trained network gets a new last layer). A
    function or None may take the place of a child too, and has no parameters.

    Args:
        links: Name -> child.

    >>> import core
    >>> import core.links as L
    >>> class MLP(core.Chain):
    ...     def __init__(self, n_units, n_out):
    ...         super().__init__()
    ...         with self.init_scope():
    ...             self.l1 = L.Linear(3, n_units)
    ...             self.l2 = L.Linear(n_units, n_out)
    ...     def forward(self, x):
    ...         return self.l2(abs(self.l1(x)))
    >>> MLP(100, 10)
    MLP: 1,410 parameters
    ├─ l1: Linear(in_size=3, out_size=100)     400
    │  ├─ W  (100, 3) float32                  300
    │  └─ b  (100,)   float32                  100
    └─ l2: Linear(in_size=100, out_size=10)  1,010
       ├─ W  (10, 100) float32               1,000
       └─ b  (10,)     float32                  10
    """

    _tables = (*Link._tables, "_children")
    _children: dict[str, None] = set_by_init()

    def __init__(self, **links: Link) -> None:
        super().__init__()
        self._children = {}
        for name, link in links.items():
            self.add_link(name, link)

    def __getitem__(self, name: str) -> Any:
        """Return the child called `name`, or another attribute of the chain."""
        if name not in self.__dict__:
            raise RegistrationError(
                f"{type(self).__name__}[{name!r}]: no child has this name; there are "
                f"{', '.join(self._children) or 'none'}.{nearest(str(name), self._children)}"
            )
        return self.__dict__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        is_child = name in self.__dict__.get("_children", ()) and not self.within_init_scope
        if is_child and not _stands_in(value):
            refuse_loop(self, value)
        super().__setattr__(name, value)
        if isinstance(value, Link) and name in self.__dict__.get("_children", ()):
            value.name = name

    def __delattr__(self, name: str) -> None:
        self._children.pop(name, None)
        super().__delattr__(name)

    def _register(self, name: str, value: Any) -> None:
        if not isinstance(value, Link):
            super()._register(name, value)
            return
        refuse_loop(self, value)
        self._refuse_taken(name)
        for other in self._children:
            if self.__dict__[other] is value:
                raise RegistrationError(
                    f"{type(self).__name__}.{name}: this {type(value).__name__} is registered as "
                    f"{other!r} already. Call that one twice to share it, or register a copy()."
                )
        self._children[name] = None

    def _registered(self) -> dict[str, Any]:
        return {**super()._registered(), "link": self.__dict__.get("_children", ())}

    def add_link(self, name: str, link: Link) -> None:
        """Register `link` as the child called `name`."""
        refuse_loop(self, link)
        self._refuse_attribute(name)
        with self.init_scope():
            setattr(self, name, link)

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        own = self.__dict__
        return [(n, child) for n in self._children if isinstance(child := own[n], Link)]

    def _child_links(self) -> list[Link]:
        own = self.__dict__
        return [child for n in self._children if isinstance(child := own[n], Link)]

    def _share_children(self, made: dict[int, Any]) -> None:
        for name, child in self._named_children():
            clone = self.__dict__[name] = child._shared(made)
            clone.name = name


class ChainList(Link, MutableSequence[Any]):
    """A link whose children have numbers: a list of links, with all methods of lists.

    Args:
        links: The children, in order.

    >>> import core
    >>> import core.links as L
    >>> layers = core.ChainList(L.Linear(3, 5), L.Linear(5, 2))
    >>> len(layers), layers[-1].W.shape
    (2, (2, 5))
    """

    _tables = (*Link._tables, "_children")
    _children: list[Link] = set_by_init()

    def __init__(self, *links: Link) -> None:
        super().__init__()
        self._children = []
        for link in links:
            self.add_link(link)

    def _register(self, name: str, value: Any) -> None:
        if isinstance(value, Link):
            raise RegistrationError(
                f"{type(self).__name__}.{name}: the children of a ChainList have numbers, not "
                "names. Add the link with add_link(), or derive the class from core.Chain."
            )
        super()._register(name, value)

    def __getitem__(self, index: Any) -> Any:
        """Return the child at `index`, or a list of children for a slice."""
        return self._children[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        children = list(self._children)
        children[index] = value
        self._install(children)

    def __delitem__(self, index: Any) -> None:
        del self._children[index]
        self._number()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._children)

    def __len__(self) -> int:
        return len(self._children)

    def add_link(self, link: Link) -> None:
        """Append `link` as the last child."""
        self._install([*self._children, link])

    def append(self, value: Link) -> None:
        """Append a link as the last child."""
        self.add_link(value)

    def extend(self, values: Iterable[Link]) -> None:
        """Append several links."""
        self._install([*self._children, *values])

    def insert(self, index: int, link: Link) -> None:
        """Insert `link` before the child at `index`."""
        children = list(self._children)
        children.insert(index, link)
        self._install(children)

    def reverse(self) -> None:
        """Reverse the order of the children."""
        self._install(self._children[::-1])

    def _install(self, children: list[Link]) -> None:
        """Make these links the children, if all of them can be."""
        places: dict[int, int] = {}
        for i, child in enumerate(children):
            refuse_loop(self, child)
            first = places.setdefault(id(child), i)
            if first < i:
                raise RegistrationError(
                    f"{type(self).__name__}: this {type(child).__name__} is its child number "
                    f"{first} already. Call that one twice to share it, or add a copy()."
                )
        self._children = children
        self._number()

    def _number(self) -> None:
        for i, child in enumerate(self._children):
            child.name = str(i)

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        return [(str(i), child) for i, child in enumerate(self._children)]

    def _child_links(self) -> list[Link]:
        return list(self._children)

    def _share_children(self, made: dict[int, Any]) -> None:
        self._children = [child._shared(made) for child in self._children]
        self._number()
