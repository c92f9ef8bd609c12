"""Serializers, and functions that save and load, from every installed plugin."""

from core.registry import facade

__getattr__, __dir__, of = facade(__name__, "serializers")
