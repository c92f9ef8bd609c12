"""Every operation, written as ONNX and run by onnxruntime, gives what it gives here."""

import numpy as np
import pytest
from all_ops import CHECKED
from hypothesis import HealthCheck, Phase, given, settings
from onnx_runs import compare, exported, run

from core.errors import ExportError, TraceError
from core.testing import cases

EXAMPLES = 3

LINEAR_ALGEBRA = "Eigh InverseSquareRoot Lyapunov Pinv QR SVD"
REFUSED = dict.fromkeys(LINEAR_ALGEBRA.split(), "ONNX has no decompositions by iteration")
"""Operation -> why it is not exported."""

RANDOM = {"Dropout", "Gaussian", "RReLU", "SimplifiedDropconnect", "Zoneout"}


def _called(op, case):
    def call(*inputs):
        made = (
            op.call(*inputs, **case.settings)
            if hasattr(op, "call")
            else op(**case.settings).apply(inputs)
        )
        return [y.array for y in (made if isinstance(made, tuple) else (made,))]

    return call


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_operation(name):
    op = CHECKED[name]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate],
    )
    @given(cases(op, "plain"))
    def holds(case):
        arrays = tuple([np.array(a) for a in case.arrays("float32")])
        call = _called(op, case)
        try:
            message = exported(call, arrays, batch=None)
        except ExportError as error:
            assert name in REFUSED and "ONNX has no operator" in str(error), error
            return
        except TraceError:
            assert name == "ClassificationSummary" and not case.settings.get("label_num")
            return
        assert name not in REFUSED
        expected = call(*arrays)
        if name in RANDOM:  # others are drawn
            assert [y.shape for y in run(message, arrays)] == [y.shape for y in expected]
            return
        compare(message, arrays, expected)

    holds()
