"""Variable nodes: what stays of a variable in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import ref

from core.errors import GraphError
from core.spec import Spec, spec_of

if TYPE_CHECKING:
    from core.function_node import FunctionNode
    from core.variable import Variable


class _Gone:
    """What a weak reference without a target was made from."""


NOBODY: Any = ref(_Gone())


class VariableNode:
    """A variable's place in the graph; it outlives the variable and keeps the array if asked to.

    Functions keep nodes, not variables, so that an array which no gradient rule needs is freed with
    its variable. `data` is the array if some function retained it.
    """

    __slots__ = ("__weakref__", "_creator", "_variable", "data", "extra", "spec")
    # extra: None, or a dict of the rare rest: 'name', 'constant', 'own_grad', 'loss_scale'

    _creator: FunctionNode | None
    _variable: Any
    data: Any
    extra: dict[str, Any] | None
    spec: Spec | None
    revive: ClassVar[Callable[[VariableNode], Variable]]  # core.variable sets it

    def __init__(
        self,
        variable: Variable | None,
        name: str | None = None,
        *,
        data: Any = None,
        requires_grad: bool = True,
    ) -> None:
        self._creator = None
        self._variable = NOBODY if variable is None else ref(variable)
        self.data = data
        self.extra = None if requires_grad else {"constant": True}
        self.spec = spec_of(data) if variable is None else variable._spec
        if name is not None:
            self.name = name

    def _remember(self, key: str, value: Any) -> None:
        self.extra = {**(self.extra or {}), key: value}

    @property
    def requires_grad(self) -> bool:
        """Whether backpropagation computes a gradient for it."""
        return self.extra is None or not self.extra.get("constant", False)

    @property
    def name(self) -> str | None:
        """The name of the variable, if it has one."""
        return None if self.extra is None else self.extra.get("name")

    @name.setter
    def name(self, name: str | None) -> None:
        self._remember("name", name)

    @property
    def own_grad(self) -> bool:
        """Whether somebody set, or asked to retain, the gradient of the variable itself."""
        return self.extra is not None and self.extra.get("own_grad", False)

    @own_grad.setter
    def own_grad(self, own: bool) -> None:
        if own or self.extra is not None:
            self._remember("own_grad", own)

    @property
    def creator_node(self) -> FunctionNode | None:
        """The function node that made the variable, or None for a leaf."""
        function = self._creator
        # A function with one output is only ever met through it: its weak way back is made here.
        if function is not None and function._outputs is None:
            function._outputs = (ref(self),)
        return function

    @creator_node.setter
    def creator_node(self, function: FunctionNode | None) -> None:
        self._creator = function

    def set_creator_node(self, creator_node: FunctionNode | None) -> None:
        """Make `creator_node` the function that made this variable."""
        self.creator_node = creator_node

    @property
    def creator(self) -> Any:
        """What the user calls the creator: the old-style Function where one was used."""
        function = self.creator_node
        return function if function is None else function.creator

    @creator.setter
    def creator(self, creator: Any) -> None:
        self.set_creator(creator)

    def set_creator(self, creator: Any) -> None:
        """Make `creator`, a function node or an old-style Function, the one that made this."""
        self.creator_node = getattr(creator, "node", creator)

    def unchain(self) -> None:
        """Forget how the variable was made."""
        self._creator = None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the array, None as long as it has none."""
        return None if self.spec is None else self.spec.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the array, None as long as there is none."""
        return None if self.spec is None else self.spec.dtype

    @property
    def rank(self) -> int:
        """Length of the longest path from a leaf."""
        return 0 if self._creator is None else self._creator.rank + 1

    @property
    def label(self) -> str:
        """Shape and dtype in words, as graphs show them."""
        if self.spec is None:
            return "(uninitialized)"
        shape = "" if self.spec.shape == () else f"({', '.join(map(str, self.spec.shape))}), "
        return shape + self.spec.name

    def get_variable_or_none(self) -> Variable | None:
        """The variable, if it is still alive."""
        return self._variable()  # type: ignore[no-any-return]

    def get_variable(self) -> Variable:
        """The variable; where it is gone, one that takes its place, with the retained array."""
        variable: Variable | None = self._variable()
        if variable is None:
            variable = self.revive()
            self._variable = ref(variable)
        return variable

    @property
    def grad(self) -> Any:
        """The gradient array of the variable, if both are there."""
        variable = self._variable()
        return None if variable is None else variable.grad

    @property
    def grad_var(self) -> Variable | None:
        """The gradient of the variable as a Variable."""
        variable = self._variable()
        return None if variable is None else variable.grad_var

    def retain_data(self) -> None:
        """Keep the array with the node, beyond the life of the variable."""
        variable = self._variable()
        if variable is None:
            raise GraphError(
                "VariableNode.retain_data: the variable is gone, and its array with it. "
                "Retain while the variable is alive."
            )
        self.data = variable.array
