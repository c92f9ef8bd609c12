"""Functions of functions: recorded as programs, and differentiated.

Begin with `tracing`, which records what a function does to arrays; `program` is what comes of it,
made of the values and equations in `equation`. While a function is traced it computes with the
arrays of `array`. `vmap` runs a program for many examples. `derivatives` needs none: it asks the
graph.
"""

from core.tracing.capturing import Captured as Captured
from core.tracing.capturing import capture as capture
from core.tracing.equation import Equation as Equation
from core.tracing.equation import Value as Value
from core.tracing.formulas import Formulas as Formulas
from core.tracing.group import Extent as Extent
from core.tracing.group import Fuser as Fuser
from core.tracing.group import Group as Group
from core.tracing.group import reduced_axes as reduced_axes
from core.tracing.launching import Launched as Launched
from core.tracing.launching import Recorder as Recorder
from core.tracing.loops import NAMES as NAMES
from core.tracing.loops import LoopFuser as LoopFuser
from core.tracing.loops import Planned as Planned
from core.tracing.mapping import vmap as vmap
from core.tracing.plan import FIRST as FIRST
from core.tracing.plan import Literal as Literal
from core.tracing.plan import Plan as Plan
from core.tracing.plan import Slot as Slot
from core.tracing.plan import Step as Step
from core.tracing.program import Program as Program
from core.tracing.recorded import Recorded as Recorded
from core.tracing.tape import Applied as Applied
from core.tracing.tape import Draws as Draws
from core.tracing.tape import called_of_numpy as called_of_numpy
from core.tracing.tracing import trace as trace
from core.tracing.tracing import unabridged as unabridged

__all__ = [
    "FIRST",
    "NAMES",
    "Applied",
    "Captured",
    "Draws",
    "Equation",
    "Extent",
    "Formulas",
    "Fuser",
    "Group",
    "Launched",
    "Literal",
    "LoopFuser",
    "Plan",
    "Planned",
    "Program",
    "Recorded",
    "Recorder",
    "Slot",
    "Step",
    "Value",
    "called_of_numpy",
    "capture",
    "capturing",
    "derivatives",
    "reduced_axes",
    "trace",
    "unabridged",
    "vmap",
]
