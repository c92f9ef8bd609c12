"""Calls recorded as programs: arrays without elements, and what becomes of them.

Begin with `tracing`, which records what a function does to arrays. While it is traced, it computes
with the arrays of `array`, of the backend in `backend`, and each call goes on the `tape`. `places`
has the arrays that it finds outside its arguments.
"""

from core.tracing import tape as tape
from core.tracing.array import TracedArray as TracedArray
from core.tracing.array import as_values as as_values
from core.tracing.array import traced as traced
from core.tracing.backend import tracing_backend as tracing_backend
from core.tracing.differentiated import depends_on as depends_on
from core.tracing.differentiated import is_nested as is_nested
from core.tracing.differentiated import taken_by as taken_by
from core.tracing.differentiated import what_is_around as what_is_around
from core.tracing.formulas import Formulas as Formulas
from core.tracing.places import Places as Places
from core.tracing.places import value_of as value_of
from core.tracing.reachable import attribute as attribute
from core.tracing.reachable import roots as roots
from core.tracing.tape import Applied as Applied
from core.tracing.tape import Draws as Draws
from core.tracing.tape import Tape as Tape
from core.tracing.tape import called_of_numpy as called_of_numpy
from core.tracing.tape import under_way as under_way
from core.tracing.tracing import home as home
from core.tracing.tracing import recorded as recorded
from core.tracing.tracing import trace as trace
from core.tracing.tracing import unabridged as unabridged
from core.tracing.views import is_basic as is_basic

__all__ = [
    "Applied",
    "Draws",
    "Formulas",
    "Places",
    "Tape",
    "TracedArray",
    "as_values",
    "attribute",
    "called_of_numpy",
    "depends_on",
    "home",
    "is_basic",
    "is_nested",
    "recorded",
    "roots",
    "taken_by",
    "tape",
    "trace",
    "traced",
    "tracing_backend",
    "unabridged",
    "under_way",
    "value_of",
    "what_is_around",
]
