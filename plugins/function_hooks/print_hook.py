"""Print what goes into every function."""

from __future__ import annotations

from typing import Any, TextIO

from core import FunctionHook, FunctionNode, Variable
from core.errors.kinds import checked
from core.typing import AnyArray


class PrintHook(FunctionHook):
    r"""Print the inputs of every forward, and inputs and output gradients of every backward.

    Args:
        sep: What stands between words; a space where it is empty.
        end: What ends a line.
        file: Where to write; None for standard output at that time.
        flush: Whether to write at once.

    >>> import core, numpy as np
    >>> x = core.Variable(np.zeros(2, "f"), name="x")
    >>> with PrintHook():
    ...     y = -x
    function __neg__ forward
    input data
    <variable>
    - backend: numpy
    - data shape: (2,), dtype: float32
    - data statistics: mean=0.00000000, std=0.00000000
    - grad: None
    """

    name = "PrintHook"

    @checked
    def __init__(
        self,
        sep: str = "",
        end: str = "\n",
        file: TextIO | None = None,
        flush: bool = True,
    ) -> None:
        self._options: dict[str, Any] = {
            "sep": sep or " ",
            "end": end,
            "file": file,
            "flush": flush,
        }

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[AnyArray, ...]) -> None:
        """Print the input arrays."""
        self._print("function", function.label, "forward")
        self._show("input data", in_data)

    def backward_preprocess(
        self, function: FunctionNode, in_data: tuple[AnyArray, ...], out_grad: tuple[AnyArray, ...]
    ) -> None:
        """Print the retained input arrays and the gradients of the outputs."""
        self._print("function", function.label, "backward")
        self._show("input data", in_data)
        self._show("output gradient", out_grad)

    def _show(self, title: str, arrays: tuple[Any, ...]) -> None:
        self._print(title)
        for array in arrays:
            gone = array is None
            self._print("(removed)" if gone else Variable(array, requires_grad=False).debug_print())

    def _print(self, *words: str) -> None:
        print(*words, **self._options)
