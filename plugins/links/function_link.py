"""Functions as links: layers without parameters, for use where a link is expected."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from core import Link
from core.errors import nearest
from core.errors.kinds import Kind, kind_of, taking


@dataclass_transform(eq_default=False)
class FunctionLink(Link):
    """Base of links that call one function with fixed settings.

    A subclass declares the settings as annotated fields, which become the arguments of its
    constructor in their order, and calls the function in `forward`.

    >>> import core.functions as F, numpy as np
    >>> class Power(FunctionLink):
    ...     exponent: float = 2.0
    ...     def forward(self, x):
    ...         return F.square(x) ** (self.exponent / 2)
    >>> Power(4.0)(np.array([3.0])).array
    array([81.])
    >>> Power(exponent=4.0)
    Power(exponent=4.0): 0 parameters
    """

    _signature: ClassVar[inspect.Signature] = inspect.Signature()
    _kinds: ClassVar[dict[str, Kind]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        known, kinds = dict(cls._signature.parameters), dict(cls._kinds)
        for name, kind in inspect.get_annotations(cls).items():
            if "ClassVar" not in str(kind):
                default = vars(cls).get(name, inspect.Parameter.empty)
                known[name] = inspect.Parameter(
                    name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default
                )
                kinds[name] = kind_of(kind, cls.__module__)
        cls._kinds = kinds
        cls._signature = cls.__signature__ = inspect.Signature(list(known.values()))  # type: ignore[attr-defined]

    if TYPE_CHECKING:  # the fields of a subclass are its arguments, as those of a dataclass

        def __init__(self) -> None: ...

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            try:
                given = self._signature.bind(*args, **kwargs)
            except TypeError as error:
                known = list(self._signature.parameters)
                hints = (nearest(name, known, "arguments") for name in kwargs if name not in known)
                raise TypeError(
                    f"links.{type(self).__name__}: {error}.{next(hints, '')} It takes "
                    f"{', '.join(known) or 'no arguments'}."
                ) from None
            given.apply_defaults()
            for name, value in given.arguments.items():
                setattr(self, name, taking(self._kinds[name], type(self).__name__, name)(value))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any, Any]]:
        """The settings, with their defaults."""
        for name, parameter in self._signature.parameters.items():
            yield name, getattr(self, name), parameter.default
