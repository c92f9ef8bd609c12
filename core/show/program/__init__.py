"""Programs: what a function does to arrays, recorded once, to be read, run and written out.

Begin with `tracing`, which records; `program` is what comes of it, made of the values and equations
in `equation`. While a function is traced it computes with the arrays of `array`.
"""

from core.show.program.program import Program as Program
from core.show.program.tracing import trace as trace

__all__ = ["Program", "trace"]
