"""Pooling over windows, shares of an axis, and regions."""
