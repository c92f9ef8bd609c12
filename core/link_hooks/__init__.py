"""Hooks around links (weight normalizations, timers), from every installed plugin."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "link_hooks")
