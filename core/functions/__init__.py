"""Functions on variables, from every installed plugin: `import core.functions as F`."""

from core.registry import face

__getattr__, __dir__, of = face(__name__, "functions")
