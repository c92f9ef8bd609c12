"""Randomness in networks."""

provides = {"dropout": "Dropout dropout"}
