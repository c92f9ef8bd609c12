"""Links, functions with parameters, from every installed plugin: `import core.links as L`."""

from core.registry import face

__getattr__, __dir__, of = face(__name__, "links")
