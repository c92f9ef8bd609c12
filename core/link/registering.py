"""Registration of attributes as parameters and persistent values of a link."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from core.errors import RegistrationError, nearest
from core.errors.keywords import answering
from core.errors.place import warn
from core.errors.set_by_init import set_by_init
from core.graph.fitting import is_array
from core.graph.variable import Variable
from core.link.initializer import as_initializer
from core.link.parameter import Parameter


@answering()
class Registering:
    """An object that records which of its attributes are parameters or persistent.

    Parameters are registered by being set inside `with self.init_scope():`. What else a subclass
    registers there it notes in `_register`, and tells in `_registered`. A name stays registered
    while None is in the place of its parameter, which then is left out of everything.
    """

    _tables: ClassVar[tuple[str, ...]] = ("_params", "_persistent")  # of what is registered
    _reserved: ClassVar[tuple[str, ...]] = ("_set_in_scope",)  # set by the class itself, or None
    _set_in_scope: set[str] | None = None  # the names that the present block has registered
    _params: dict[str, None] = set_by_init()
    _persistent: dict[str, None] = set_by_init()

    def __init__(self) -> None:
        self._params = {}
        self._persistent = {}

    def __copy__(self) -> Self:
        """A shallow copy: the very same parameters and values, registered in tables of its own."""
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        for name in clone.__dict__.keys() & set(self._tables):
            clone.__dict__[name] = self.__dict__[name].copy()
        return clone

    @property
    def within_init_scope(self) -> bool:
        """Whether attributes that are set now are registered."""
        return self._set_in_scope is not None

    @contextmanager
    def init_scope(self) -> Iterator[None]:
        """Register the parameters, and in a Chain the links, that are set in this block."""
        self._params  # noqa: B018 - says so where super().__init__() was forgotten
        before = self._set_in_scope
        self._set_in_scope = set()
        try:
            yield
        finally:
            self._set_in_scope = before

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; a registered parameter accepts a parameter, new values, or None."""
        if self._set_in_scope is not None:
            self._register(name, value)
        is_parameter = isinstance(value, Parameter)
        if name in self.__dict__.get("_params", ()) and not is_parameter and value is not None:
            self._fill(name, value)
            return
        super().__setattr__(name, value)
        if is_parameter:
            if name in self._params:
                value.name = name
            else:
                self._left_out(name, value)

    def _left_out(self, name: str, parameter: Parameter) -> None:
        """Called where a parameter is set that is not registered."""

    def _fill(self, name: str, value: Any) -> None:
        """Give the parameter `name` an array."""
        parameter = self.__dict__[name]
        if parameter is None or not is_array(value):
            raise RegistrationError(
                f"{type(self).__name__}.{name} is a parameter, which {type(value).__name__} cannot "
                "replace: expected a Parameter, an array of its values, or None to go without. "
                "`del` the attribute first to use it for something else."
            )
        parameter.array = value
        parameter.version += 1

    def _own_params(self) -> Iterator[tuple[str, Parameter]]:
        """Names and parameters of the link itself."""
        for name in self._params:
            parameter = self.__dict__[name]
            if parameter is not None:
                yield name, parameter

    def __delattr__(self, name: str) -> None:
        self._params.pop(name, None)
        self._persistent.pop(name, None)
        super().__delattr__(name)

    def _register(self, name: str, value: Any) -> None:
        """Note that the attribute which is being set in an init scope belongs to the link."""
        if isinstance(value, Parameter):
            in_scope = set() if self._set_in_scope is None else self._set_in_scope
            if name in in_scope or name not in self._params:  # a later block may set another
                self._refuse_taken(name)
            self._params[name] = None
            in_scope.add(name)
        elif isinstance(value, Variable) and value.requires_grad:
            warn(
                f"{type(self).__name__}.{name}: a Variable is no parameter, so it is neither "
                "trained nor saved nor moved. Make it core.Parameter(array); or set it outside of "
                "init_scope, if it is not to be trained."
            )

    def _refuse_taken(self, name: str) -> None:
        """Raise where something is registered under `name`, or the class needs it for itself."""
        if name == "" or "/" in str(name):
            raise RegistrationError(
                f"{type(self).__name__}: expected a name without slashes, which separate the parts "
                f"of paths, and not an empty one; got {name!r}."
            )
        kind = next((kind for kind, names in self._registered().items() if name in names), None)
        if kind is not None:
            raise RegistrationError(
                f"{type(self).__name__}.{name}: a {kind} is registered under this name already. "
                f"Take another name, or `del` the attribute first."
            )
        hidden = getattr(type(self), name, None)
        default = hidden is None or isinstance(hidden, (int, float, str))
        if name in self._reserved or not default:
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
            shape: Its shape; None leaves it uninitialized, or is that of an array as `initializer`.
            dtype: Its dtype where the initializer does not say; None is `core.config.dtype`.
            initializer: What fills it; None fills with NaN.
        """
        self._refuse_attribute(name)
        if shape is not None or not is_array(initializer):
            initializer = as_initializer(initializer, dtype=dtype)
        parameter = Parameter(initializer, shape)
        with self.init_scope():
            setattr(self, name, parameter)

    def add_persistent(self, name: str, value: Any) -> None:
        """Set an attribute that is saved and moved with the link but is not a parameter."""
        self._refuse_attribute(name)
        setattr(self, name, value)
        self.register_persistent(name)

    def register_persistent(self, name: str) -> None:
        """Make the existing attribute `name` persistent: saved and moved with the link."""
        if name not in self.__dict__:
            raise RegistrationError(
                f"{type(self).__name__}.register_persistent: there is no attribute {name!r}. "
                f"Set it first, or use add_persistent.{nearest(name, self.__dict__)}"
            )
        self._params.pop(name, None)
        self._persistent[name] = None
