"""Bridges to other libraries, from every installed plugin."""

# Written by `plugrad stubs` from the table in core/registry/kinds.py, not by hand.
from core.registry import facade

__getattr__, __dir__, of = facade(__name__)
