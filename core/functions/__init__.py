"""Functions on variables, from every installed plugin: `import core.functions as F`."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "functions")
