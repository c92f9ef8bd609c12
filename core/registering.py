"""Registration: how attributes of a link become parameters and persistent values of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import RegistrationError, nearest
from core.initializer import as_initializer
from core.parameter import Parameter


class Registering:
    """An object that keeps account of those of its attributes that are parameters or persistent.

    Parameters are registered by being set inside `with self.init_scope():`. What else a subclass
    registers there it notes in `_register`, and tells in `_registered`.
    """

    _within_init_scope: bool = False
    _params: dict[str, None]
    _persistent: dict[str, None]

    def __init__(self) -> None:
        self._params = {}
        self._persistent = {}

    @property
    def within_init_scope(self) -> bool:
        """Whether attributes that are set now are registered."""
        return self._within_init_scope

    @contextmanager
    def init_scope(self) -> Iterator[None]:
        """A block in which parameters (in a Chain links too) that are set are registered."""
        if "_params" not in self.__dict__:
            raise RegistrationError(
                f"{type(self).__name__}: call super().__init__() before init_scope()."
            )
        before = self._within_init_scope
        self._within_init_scope = True
        try:
            yield
        finally:
            self._within_init_scope = before

    def __setattr__(self, name: str, value: Any) -> None:
        if self._within_init_scope:
            self._register(name, value)
        elif name in self.__dict__.get("_params", ()) and not isinstance(value, Parameter):
            raise RegistrationError(
                f"{type(self).__name__}.{name} is a parameter, which {type(value).__name__} cannot "
                f"replace. Set {name}.array to change its values, or `del` the attribute first."
            )
        super().__setattr__(name, value)
        if isinstance(value, Parameter) and name in self._params:
            value.name = name

    def __delattr__(self, name: str) -> None:
        self._params.pop(name, None)
        self._persistent.pop(name, None)
        super().__delattr__(name)

    def _register(self, name: str, value: Any) -> None:
        """Note that the attribute which is being set in an init scope belongs to the link."""
        if isinstance(value, Parameter):
            self._refuse_taken(name)
            self._params[name] = None

    def _refuse_taken(self, name: str) -> None:
        """Raise where something is registered under `name`, or the class needs it for itself."""
        kind = next((kind for kind, names in self._registered().items() if name in names), None)
        if kind is not None:
            raise RegistrationError(
                f"{type(self).__name__}.{name}: a {kind} is registered under this name already. "
                f"Take another name, or `del` the attribute first."
            )
        if getattr(type(self), name, None) is not None:
            raise RegistrationError(
                f"{type(self).__name__}.{name} is an attribute of the class itself, which a "
                "registered one would hide. Take another name."
            )

    def _registered(self) -> dict[str, Any]:
        return {"parameter": self._params, "persistent value": self._persistent}

    def _refuse_attribute(self, name: str) -> None:
        self._refuse_taken(name)
        if name in self.__dict__:
            raise RegistrationError(
                f"{type(self).__name__}.{name} exists already as an unregistered attribute. "
                "Take another name, or `del` it first."
            )

    def add_param(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> None:
        """Register a new parameter.

        Args:
            name: Its name, an attribute from now on.
            shape: Its shape; None leaves it uninitialized.
            dtype: Its dtype where the initializer does not say; None is `core.config.dtype`.
            initializer: What fills it; None fills with NaN.
        """
        self._refuse_attribute(name)
        parameter = Parameter(as_initializer(initializer, dtype=dtype), shape)
        with self.init_scope():
            setattr(self, name, parameter)

    def add_persistent(self, name: str, value: Any) -> None:
        """Set an attribute that is saved and moved with the link without being a parameter."""
        self._refuse_attribute(name)
        setattr(self, name, value)
        self.register_persistent(name)

    def register_persistent(self, name: str) -> None:
        """Make the existing attribute `name` one that is saved and moved with the link."""
        if name not in self.__dict__:
            raise RegistrationError(
                f"{type(self).__name__}.register_persistent: there is no attribute {name!r}. "
                f"Set it first, or use add_persistent.{nearest(name, self.__dict__)}"
            )
        self._params.pop(name, None)
        self._persistent[name] = None
