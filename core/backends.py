"""`from core.backends import cuda`: `core.cuda`, where training scripts look for it too."""

from __future__ import annotations

import sys

from core import cuda as cuda
from core.public import listing

__dir__ = listing(__name__, ["cuda"])

# So that `import core.backends.cuda` and `from core.backends.cuda import to_cpu` find it as well.
sys.modules[f"{__name__}.cuda"] = cuda
