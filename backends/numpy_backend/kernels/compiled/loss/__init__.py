"""Softmax, and losses of classes and of sequences."""
