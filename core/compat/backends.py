"""`from core.backends import cuda`: `core.cuda`, where training scripts look for it too."""

from core.compat import cuda as cuda
from core.registry.public import listing

__path__: list[str] = []  # so that `import core.backends.cuda` works

__dir__ = listing(__name__, ["cuda"])
