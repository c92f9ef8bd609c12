"""What the core raises: errors that tell the operation, what was expected, what came, the cure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import place


class CoreError(Exception):
    """Every error that the framework itself raises derives from this one."""


class BackendError(CoreError, TypeError):
    """An array that no backend knows, or arrays of several backends or devices in one operation.

    One that was raised inside a link says in which, and at which line of the user's.
    """

    def __str__(self) -> str:
        return "\n".join(filter(None, [super().__str__(), place.sentence(self)]))


class BackendUnavailable(CoreError, RuntimeError):
    """A backend that is installed but cannot run here; the message says why and what can."""


class DeclarationError(CoreError, TypeError):
    """A declared class that contradicts itself; raised while the class is being created."""


class GraphError(CoreError, RuntimeError):
    """A computational graph used in a way it does not allow."""


class NotDifferentiable(GraphError):
    """A derivative was asked for that the operation does not have."""


class UnknownName(CoreError, AttributeError):
    """A name that nothing provides; the message offers the nearest one.

    To find that takes a millisecond, and `hasattr` reads no message: one that is given as a
    function is made when it is first read.
    """

    def __init__(self, *args: object) -> None:
        # Python adds a suggestion of its own to an AttributeError that does not say its name.
        super().__init__(*args)
        self.name = "(see the message)"

    def _say(self) -> None:
        self.args = tuple([arg() if callable(arg) else arg for arg in self.args])

    def __str__(self) -> str:
        self._say()
        return super().__str__()

    def __repr__(self) -> str:
        self._say()
        return super().__repr__()

    def __reduce__(self) -> Any:
        self._say()
        return super().__reduce__()


class NameConflict(CoreError, AttributeError):
    """Two third-party plugins claim one name, and neither has been preferred."""


class PluginError(CoreError, RuntimeError):
    """A plugin that could not be loaded, or that broke the plugin contract."""


class RemovedArgument(CoreError, ValueError, TypeError):
    """An argument that the system once had; the message says what to write today."""


class CheckpointError(CoreError, ValueError):
    """A file of saved state that is damaged, of another kind, or does not fit its target."""


class CheckpointDamaged(CheckpointError):
    """A file of saved state whose content is not what was written, or no such file at all."""


class CommunicatorError(CoreError, RuntimeError):
    """Processes of a job that do not fit together, do not answer, or are named wrongly."""


class DatasetMissing(CoreError, FileNotFoundError):
    """A file of a dataset that is not there; the message says where it is looked for."""


class DatasetDamaged(CoreError, ValueError):
    """A file of a dataset whose content is not what its format says."""


class DownloadError(CoreError, OSError):
    """A download that failed or gave the wrong file; nothing of it has been kept."""


_MOST = 12  # inputs that an error tells one by one


class InvalidType(CoreError, TypeError, ValueError):
    """Inputs whose shapes or dtypes an operation does not take.

    `expect` and `actual` are the two halves of the failed condition. `operation` names the
    operation; whoever knows it sets it, and the text grows its first part. `inputs` are the specs
    of all inputs by name, else the arguments of the function that raised; `accepts` tells whether
    the operation would take such specs, so that a cure can be found, unless `cure` is one. `msg`
    replaces it all.

    Once raised inside an operation it also tells the link and the line of the user's program.

    >>> error = InvalidType("x.ndim == 2", "1 != 2", operation="Linear")
    >>> print(error)
    <BLANKLINE>
    Invalid operation is performed in: Linear (Forward)
    <BLANKLINE>
    Expect: x.ndim == 2
    Actual: 1 != 2
    """

    def __init__(
        self,
        expect: str,
        actual: str,
        msg: str | None = None,
        *,
        operation: str = "",
        inputs: Mapping[str, Any] | None = None,
        accepts: Callable[[dict[str, Any]], bool] | None = None,
        cure: str = "",
    ) -> None:
        super().__init__(expect, actual, msg)
        self.expect = expect
        self.actual = actual
        self.msg = msg
        self.operation = operation
        self.inputs = inputs
        self.accepts = accepts
        self.cure = cure

    def __str__(self) -> str:
        if self.msg is not None:
            return self.msg
        text = f"Expect: {self.expect}\nActual: {self.actual}"
        if not self.operation:
            return text
        head = f"\nInvalid operation is performed in: {self.operation} (Forward)\n\n"
        return head + text + self._details()

    def _details(self) -> str:
        from core.errors.cures import cure

        inputs = self.inputs or place.arguments(self, self.operation)
        each = [f"{name} {spec.shape} {spec.name}" for name, spec in inputs.items()]
        shown = ", ".join(each[:_MOST] + [f"and {len(each) - _MOST} more"] * (len(each) > _MOST))
        link, line = place.of(self)
        found = cure(inputs, self.accepts, bool(link)) if self.accepts and inputs else ""
        advice = self.cure or found
        told = {"Inputs": shown, "Link": link, "Line": line, "Cure": advice}
        lines = [f"{what}: {text}" for what, text in told.items() if text]
        return "\n\n" + "\n".join(lines) if lines else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Frames and specs stay in their process; the text that they gave goes along.
        told = {"expect": self.expect, "actual": self.actual, "operation": self.operation}
        return type(self), (self.expect, self.actual, str(self)), told


class InvalidSetting(CoreError, TypeError, ValueError):
    """A setting of an operation, function or link that is of another kind than it declares."""


class OutOfRange(CoreError, IndexError, ValueError):
    """A number that should name a class, a row or an item, and names none."""


class HookError(CoreError, KeyError, ValueError):
    """A hook added under a name that is taken, or removed under one that is not there."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class TraceError(CoreError, TypeError):
    """What cannot be traced, as a look at a value; the message names operation, link and line."""


class UntracedAttribute(TraceError, AttributeError):
    """An attribute of arrays that cannot be traced: to `hasattr` it is not there."""


class ExportError(CoreError, TypeError):
    """What another format cannot hold; the message names operation, link and line."""


class RegistrationError(CoreError, AttributeError):
    """A parameter or link that cannot be registered under the name given."""


class MissingInit(CoreError, RuntimeError):
    """An object used although the `__init__` of its base class was not called."""


class UpdateError(CoreError, RuntimeError, ValueError):
    """An optimizer that cannot make its step; no parameter has been changed."""
