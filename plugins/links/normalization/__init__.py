"""Shifting and scaling to a standard distribution, with parameters."""

provides = {"batch_normalization": "BatchNormalization"}
