"""Noise in training, as links."""

provides = {"dropout": "Dropout"}
