"""Batch, layer and group normalization."""
