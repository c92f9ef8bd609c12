"""What scripts for Chainer look for: old-style functions, their type checks, `cuda`, tools."""

__all__ = ["backends", "cuda", "function", "model", "type_check", "utils"]
