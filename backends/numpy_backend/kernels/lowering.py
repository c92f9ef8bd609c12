"""Loops that numba vectorises for the widest registers there are, and optimises once.

Where it chooses itself LLVM takes vectors of half a register for Intel's processors, since the
first ones with registers of 512 bits ran slower while they used these. Today's do not, and the
products between loops use whole registers anyway.

Numba runs LLVM's passes on each function as it is written and on all it calls once they are put
together. The second time finds all that the first does, which took a fifth of compiling.

What is left of numba is its compiler: Python calls loops by wrappers of our own, and they are
linked by `kernels.kept`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba
from numba.core import lowering
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from backends.numpy_backend.kernels.calling import add_wrappers, packs
from backends.numpy_backend.kernels.emitter import registers
from backends.numpy_backend.kernels.kept import Code
from backends.numpy_backend.kernels.memory import add_memory, keep_memory


class _Lower(lowering.Lower):  # type: ignore[misc]
    """What writes a function in LLVM's words, and of what width its vectors are."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        bits = registers(self.context.codegen().magic_tuple()[2]).bits
        # llvmlite knows no attributes with values, but writes each as it stands.
        set.add(self.function.attributes, f'"prefer-vector-width"="{bits}"')
        if not self.flags.no_cpython_wrapper:  # its bits are the same for all that call it
            self.function.attributes.add("noinline")

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        name = self.fndesc.llvm_cpython_wrapper_name
        add_wrappers(self.context, self.library, self.fndesc, name, release_gil)
        if self.flags.nrt:
            add_memory(self.context, self.library)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A function in LLVM's words with those that it calls, which are optimised together alone."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self.codegen._data_layout

    def _optimize_final_module(self) -> None:
        keep_memory(self._final_module)
        super()._optimize_final_module()

    def code(self, call: str) -> Code:
        """What was compiled: the object, and the names by which it is found and that it needs."""
        functions = list(self._final_module.functions)
        outside = [f.name for f in functions if f.is_declaration and f.name[:5] != "llvm."]
        inside = {f.name for f in functions if not f.is_declaration}
        pack = packs(call) if packs(call) in inside else None
        return Code(call, pack, outside, self._get_compiled_object())


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):  # type: ignore[misc]
    _name = "plugrad_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower

    def run_pass(self, state: Any) -> bool:
        # Loops whose sums have any order would else be vectorised where what is written lies far
        # enough from what is read, and run one by one, with other bits, where it lies close by.
        state.flags.noalias = "reassoc" in state.flags.fastmath.flags
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler of functions without objects of Python."""

    def define_pipelines(self) -> list[Any]:
        """The usual steps, one of them in other words."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (_Lowering if step is NativeLowering else step, name) for step, name in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


def compiled_code(function: FunctionType, kinds: list[Any], **options: Any) -> tuple[Code, bool]:
    """What numba makes of a loop for arguments of these types; and whether others may use it.

    They may unless it has addresses of this process.
    """
    dispatcher = numba.njit(
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        no_cfunc_wrapper=True,
        pipeline_class=Compiler,
        **options,
    )(function)
    with _without_collections():
        dispatcher.compile(numba.types.void(*kinds))
    [found] = dispatcher.overloads.values()
    code = found.library.code(found.fndesc.llvm_cpython_wrapper_name)
    return code, not found.library.has_dynamic_globals


@contextmanager
def _without_collections() -> Iterator[None]:
    """No search for cycles of garbage meanwhile, which takes an eighth of compiling.

    Whoever compiles holds a lock for which forks wait: no child is left without it.
    """
    searched = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searched:
            gc.enable()
