"""Hooks of optimizers (decay, clipping, ...), from every installed plugin."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "optimizer_hooks")
