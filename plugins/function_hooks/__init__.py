"""Hooks around functions that come with the framework."""

from __future__ import annotations

from core import hookimpl

provides = {
    "print_hook": "PrintHook",
    "timer": "TimerHook",
    "profiler": "ProfilerHook",
    "cuda_profile": "CUDAProfileHook",
    "memory_profile": "CupyMemoryProfileHook",
}


@hookimpl
def register_function_hooks() -> dict[str, str]:
    """The hooks, loaded when asked for."""
    from core.registry import lazily

    return lazily(__name__, provides)
