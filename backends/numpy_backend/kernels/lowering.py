"""Loops that numba vectorises for the widest registers there are, and optimises once.

Where it chooses itself LLVM takes vectors of half a register for Intel's processors, since the
first ones with registers of 512 bits ran slower while they used these. Today's do not, and the
products between loops use whole registers anyway.

Numba runs LLVM's passes on each function as it is written and on all it calls once they are put
together. The second time finds all that the first does, which took a fifth of compiling.
"""

from __future__ import annotations

from typing import Any

from numba.core import lowering
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from backends.numpy_backend.kernels.emitter import registers


class _Lower(lowering.Lower):  # type: ignore[misc]
    """What writes a function in LLVM's words, and of what width its vectors are."""

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        bits = registers(self.context.codegen().magic_tuple()[2]).bits
        # llvmlite knows no attributes with values, but writes each as it stands.
        set.add(self.function.attributes, f'"prefer-vector-width"="{bits}"')


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """A function in LLVM's words with those that it calls, which are optimised together alone."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self.codegen._data_layout


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
