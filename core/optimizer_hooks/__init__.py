"""Hooks of optimizers (decay, clipping, ...), from every installed plugin."""

from core.registry import face

__getattr__, __dir__, of = face(__name__, "optimizer_hooks")
