"""What `core.function_hooks` offers; written by `plugrad stubs`, not by hand."""

from core.registry import Offer
from plugins.function_hooks.cuda_profile import CUDAProfileHook as CUDAProfileHook
from plugins.function_hooks.memory_profile import CupyMemoryProfileHook as CupyMemoryProfileHook
from plugins.function_hooks.print_hook import PrintHook as PrintHook
from plugins.function_hooks.profiler import ProfilerHook as ProfilerHook
from plugins.function_hooks.timer import TimerHook as TimerHook

def of(distribution: str) -> Offer: ...
