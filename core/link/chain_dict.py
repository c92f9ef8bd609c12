"""A link whose children have keys: a dict of links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from core.errors import RegistrationError, nearest
from core.errors.set_by_init import set_by_init
from core.link.chain import refuse_loop
from core.link.link import Link


class ChainDict(Link, MutableMapping[str, Link]):
    """A link whose children have keys: a dict of links, with all methods of dicts.

    A key is a part of a path (`/left/W`), so that it is a text without slashes; it need not be
    a name that Python would take for an attribute.

    Args:
        links: The children by key: a mapping, or pairs of key and link.
        named: Further children by keyword.

    Raises:
        TypeError: A key is not a string, or a child is not a link.
        RegistrationError: A key is empty, has a slash, or is the name of a parameter; a link
            is a child already; or it contains this one.

    >>> import core
    >>> import core.links as L
    >>> heads = core.ChainDict({"digit": L.Linear(8, 10), "parity": L.Linear(8, 2)})
    >>> heads["digit"].W.shape, list(heads)
    ((10, 8), ['digit', 'parity'])
    >>> [path for path, _ in heads.namedparams()]
    ['/digit/W', '/digit/b', '/parity/W', '/parity/b']
    """

    _tables = (*Link._tables, "_children")
    _children: dict[str, Link] = set_by_init()

    def __init__(
        self, links: Mapping[str, Link] | Iterable[tuple[str, Link]] = (), **named: Link
    ) -> None:
        super().__init__()
        self._children = {}
        self.update(links, **named)

    def __getitem__(self, key: str) -> Any:
        """Return the child with this key; raises KeyError if there is none."""
        if key not in self._children:
            raise KeyError(
                f"{type(self).__name__}: no child under {key!r}; there are "
                f"{', '.join(self._children) or 'none'}.{nearest(str(key), self._children)}"
            )
        return self._children[key]

    def __setitem__(self, key: str, link: Link) -> None:
        self._check_key(key)
        refuse_loop(self, link)
        for other, child in self._children.items():
            if child is link and other != key:
                raise RegistrationError(
                    f"{type(self).__name__}: this {type(link).__name__} is its child {other!r} "
                    "already. Call that one twice to share it, or add a copy()."
                )
        self._children[key] = link
        link.name = key

    def __delitem__(self, key: str) -> None:
        self[key]  # raises for an unknown key
        del self._children[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._children)

    def __len__(self) -> int:
        return len(self._children)

    # A link is equal to itself alone, whatever its children are.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def add_link(self, key: str, link: Link) -> None:
        """Add `link` under a new key."""
        if key in self._children:
            raise RegistrationError(
                f"{type(self).__name__}: there is a child under {key!r} already. Take another "
                f"key, or replace it by an assignment to [{key!r}]."
            )
        self[key] = link

    def _check_key(self, key: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"{type(self).__name__}: expected a string as key, got {key!r} "
                f"({type(key).__name__})."
            )
        if not key or "/" in key:
            raise RegistrationError(
                f"{type(self).__name__}: expected a key without slashes, which separate the parts "
                f"of paths, and not an empty one; got {key!r}."
            )
        kinds = self._registered().items()
        kind = next((k for k, names in kinds if k != "link" and key in names), None)
        if kind is not None:
            raise RegistrationError(
                f"{type(self).__name__}: a {kind} is registered as {key!r} already. Take another "
                "key."
            )

    def _register(self, name: str, value: Any) -> None:
        if isinstance(value, Link):
            raise RegistrationError(
                f"{type(self).__name__}.{name}: the children of a ChainDict have keys. Add the "
                f"link by [{name!r}] = ..., or derive the class from core.Chain."
            )
        super()._register(name, value)

    def _registered(self) -> dict[str, Any]:
        return {**super()._registered(), "link": self.__dict__.get("_children", ())}

    def _named_children(self) -> Iterable[tuple[str, Link]]:
        return self._children.items()

    def _child_links(self) -> list[Link]:
        return list(self._children.values())

    def _share_children(self, made: dict[int, Any]) -> None:
        self._children = {key: child._shared(made) for key, child in self._children.items()}
        for key, child in self._children.items():
            child.name = key
