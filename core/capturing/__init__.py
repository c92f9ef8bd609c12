"""Steps that are recorded when they are first made, and replayed from then on.

Begin with `capturing`. `reached` finds what a step can read from outside, `live` what it reads and
leaves behind, and `recording` says when a recording holds, and replays it.
"""

from core.capturing.capturing import Captured as Captured
from core.capturing.capturing import capture as capture

__all__ = [
    "Captured",
    "capture",
    "capturing",
]
