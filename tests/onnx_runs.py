"""What an exported model gives in onnxruntime, beside what it gives here."""

import io

import numpy as np
import onnx
import onnxruntime

import core

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = OPTIONS.inter_op_num_threads = 1
OPTIONS.log_severity_level = 3


def exported(model, inputs, **settings):
    file = io.BytesIO()
    core.export.onnx(model, inputs, file, **settings)
    message = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(message, full_check=True)
    return message


def run(message, inputs):
    session = onnxruntime.InferenceSession(
        message.SerializeToString(), OPTIONS, providers=["CPUExecutionProvider"]
    )
    names = {each.name for each in session.get_inputs()}
    given = {f"x{i}": x for i, x in enumerate(inputs)}
    return session.run(None, {name: given[name] for name in given if name in names})


def compare(message, inputs, expected, rtol=1e-4, atol=1e-5):
    found = run(message, inputs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)
