"""What floating dtypes hold, those of 16 bits that array libraries borrow among them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

BFLOAT16 = SimpleNamespace(bits=16, eps=2.0**-7, smallest_normal=2.0**-126)


def limits(xp: Any, dtype: Any) -> Any:
    """What `xp.finfo` says of a dtype; NumPy's knows nothing of bfloat16.

    >>> import numpy as np
    >>> limits(np, np.dtype("float16")).bits
    16
    """
    return BFLOAT16 if "bfloat16" in str(dtype) else xp.finfo(dtype)
