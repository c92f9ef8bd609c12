"""Operations inside rules: of arrays computed, of Variables recorded."""

from __future__ import annotations

from typing import Any

from core.arrays.spec import spec_of
from core.graph.variable import Variable
from core.ops import dispatch
from core.ops.operands import scalar_as_array
from core.ops.outputs import as_result


class Evaluated:
    """What a function node computes of arrays."""

    __slots__ = ()

    backend: Any  # of the arrays, for classes that look at it

    def evaluate(self: Any, *args: Any) -> Any:
        """Compute inside a rule: from arrays arrays, from Variables recorded Variables.

        Gradient rules use other operations this way, and so stay differentiable. One output is
        given itself, several as a tuple.
        """
        if any([isinstance(x, Variable) for x in args]):
            outputs = self.apply(args)
            lone = self._single or self.declared is None and len(outputs) == 1
            return outputs[0] if lone else outputs
        args = tuple([scalar_as_array(x) for x in args])
        if self.declared is None:
            results = self._forward(args)
            return results[0] if len(results) == 1 else results
        result = self._compute(args)
        like: Any = spec_of(args[0])
        if type(result) is tuple:
            return tuple([y if y is None else as_result(self, y, like) for y in result])
        return as_result(self, result, like)

    def _compute(self: Any, arrays: tuple[Any, ...]) -> Any:
        """What `compute`, or what a backend has in its place, makes of arrays."""
        specs: Any = tuple([spec_of(x) for x in arrays])
        if self._plan_by_settings and self.declared.fields:  # as the specialised calls
            key: Any = (*specs, *[getattr(self, name) for name in self.declared.fields])
        else:
            key = specs[0] if all([spec is specs[0] for spec in specs]) else specs
        try:
            plan = self._plans[key]
        except (KeyError, TypeError):  # TypeError: an unhashable setting
            plan = None
        self.backend = specs[0].backend
        compute, xp, _ = plan or dispatch.plan_for(self, key, specs)
        return (compute or type(self).compute)(self, xp, *arrays)
