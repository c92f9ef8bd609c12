"""Links, functions with parameters, from every installed plugin: `import core.links as L`."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "links")
