"""Optimizers, from every installed plugin."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "optimizers")
