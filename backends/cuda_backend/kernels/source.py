"""The source of kernels: their text, and the parameters by which each is called."""

from __future__ import annotations

from typing import NamedTuple

from backends.cuda_backend.kernels.words import PRELUDE

OPTIONS = ("--fmad=false",)
"""Products and sums are rounded one by one, as the formulas round them."""


class Parameter(NamedTuple):
    """What a kernel takes: its type in C and its name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


class Source(NamedTuple):
    """One kernel. What it needs beside the words that all have is its `preamble`."""

    name: str
    parameters: tuple[Parameter, ...]
    body: str
    preamble: str = ""

    def __str__(self) -> str:
        """All of its text."""
        return f"{PRELUDE}{self.preamble}{self.kernel()}"

    def kernel(self) -> str:
        """The text of the kernel itself."""
        listed = ", ".join(map(str, self.parameters))
        return f'\nextern "C" __global__ void {self.name}({listed}) {{\n{self.body}}}\n'
