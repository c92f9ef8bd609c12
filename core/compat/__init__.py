"""What scripts for Chainer look for: functions of the old style, `cuda`, small tools."""

__all__ = ["cuda", "function", "model", "utils"]
