"""Hooks that change gradients on their way to the update."""
