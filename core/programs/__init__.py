"""What was computed, as programs: equations between arrays, run, read, counted and rewritten.

Begin with `equation`, which has what programs are made of, and `program`. `execution` makes a
function of Python of one, `passes` makes it smaller, and `loops` has several of its equations
computed at once. How a program comes about is told in `core.tracing`.
"""

from core.programs import names as names
from core.programs.equation import Call as Call
from core.programs.equation import Equation as Equation
from core.programs.equation import Origin as Origin
from core.programs.equation import Value as Value
from core.programs.equation import draws as draws
from core.programs.equation import mapped as mapped
from core.programs.equation import on_host as on_host
from core.programs.equation import value_like as value_like
from core.programs.equation import values_in as values_in
from core.programs.execution import compiled as compiled
from core.programs.fuser import Fuser as Fuser
from core.programs.fuser import Sizer as Sizer
from core.programs.group import Extent as Extent
from core.programs.group import Group as Group
from core.programs.group import reduced_axes as reduced_axes
from core.programs.inference import NoShape as NoShape
from core.programs.inference import Shaped as Shaped
from core.programs.inference import infer as infer
from core.programs.inference import is_ufunc as is_ufunc
from core.programs.inference import place_of_out as place_of_out
from core.programs.launching import Launched as Launched
from core.programs.launching import Recorder as Recorder
from core.programs.lifetimes import Lifetimes as Lifetimes
from core.programs.lifetimes import keeps as keeps
from core.programs.lifetimes import peak as peak
from core.programs.loops import FIRST as FIRST
from core.programs.loops import NAMES as NAMES
from core.programs.loops import Literal as Literal
from core.programs.loops import LoopFuser as LoopFuser
from core.programs.loops import Plan as Plan
from core.programs.loops import Planned as Planned
from core.programs.loops import Slot as Slot
from core.programs.loops import Step as Step
from core.programs.loops import fused as fused
from core.programs.passes import optimized as optimized
from core.programs.passes import with_early_checks as with_early_checks
from core.programs.passes import without_dead as without_dead
from core.programs.place import Place as Place
from core.programs.profile import Profile as Profile
from core.programs.profile import profiled as profiled
from core.programs.program import Program as Program
from core.programs.recorded import Recorded as Recorded
from core.programs.rematerializing import rematerialized as rematerialized
from core.programs.sequences import in_sequences as in_sequences
from core.programs.sharing import Apart as Apart
from core.programs.sharing import apart_in_order as apart_in_order
from core.programs.staging import staged as staged
from core.programs.steps import Steps as Steps
from core.programs.steps import names_in as names_in
from core.programs.structure import PLAIN as PLAIN
from core.programs.structure import Leaf as Leaf
from core.programs.structure import builder as builder
from core.programs.structure import described as described
from core.programs.structure import flattened as flattened
from core.programs.structure import leaves as leaves
from core.programs.structure import rebuilt as rebuilt
from core.programs.structure import separated as separated
from core.programs.text import spec_text as spec_text

__all__ = [
    "Apart",
    "Call",
    "Equation",
    "Extent",
    "FIRST",
    "Fuser",
    "Group",
    "Launched",
    "Leaf",
    "Lifetimes",
    "Literal",
    "LoopFuser",
    "NAMES",
    "NoShape",
    "Origin",
    "PLAIN",
    "Place",
    "Plan",
    "Planned",
    "Profile",
    "Program",
    "Recorded",
    "Recorder",
    "Shaped",
    "Sizer",
    "Slot",
    "Step",
    "Steps",
    "Value",
    "apart_in_order",
    "builder",
    "compiled",
    "described",
    "draws",
    "flattened",
    "fused",
    "in_sequences",
    "infer",
    "is_ufunc",
    "keeps",
    "leaves",
    "mapped",
    "names",
    "names_in",
    "on_host",
    "optimized",
    "peak",
    "place_of_out",
    "profiled",
    "rebuilt",
    "reduced_axes",
    "rematerialized",
    "separated",
    "spec_text",
    "staged",
    "value_like",
    "values_in",
    "with_early_checks",
    "without_dead",
]
