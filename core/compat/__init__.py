"""What scripts for Chainer look for: functions of the old style, `cuda`, small tools."""

__all__ = ["backends", "cuda", "function", "model", "utils"]
