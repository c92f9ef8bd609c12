"""Shapes of arrays, as links."""

provides = {"flatten": "Flatten"}
