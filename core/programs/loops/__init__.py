"""Several equations computed in one loop of a backend: which, and what the loop is to compute.

Begin with `fusion`, which groups the equations of a program. What a backend writes loops from is a
`Plan`.
"""

from core.programs.loops.fusion import fused as fused
from core.programs.loops.loops import NAMES as NAMES
from core.programs.loops.loops import LoopFuser as LoopFuser
from core.programs.loops.loops import Planned as Planned
from core.programs.loops.plan import FIRST as FIRST
from core.programs.loops.plan import Literal as Literal
from core.programs.loops.plan import Plan as Plan
from core.programs.loops.plan import Slot as Slot
from core.programs.loops.plan import Step as Step

__all__ = [
    "FIRST",
    "Literal",
    "LoopFuser",
    "NAMES",
    "Plan",
    "Planned",
    "Slot",
    "Step",
    "fused",
]
