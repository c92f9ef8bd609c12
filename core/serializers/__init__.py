"""Serializers, and functions that save and load, from every installed plugin."""

from core.registry import face

__getattr__, __dir__, of = face(__name__, "serializers")
