"""Run the test cases that come with onnx, and write the tables of onnx.md."""

import io
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx import SequenceProto, TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

import core
import core.links as L
from core.errors import CheckpointError

PAGE = Path(__file__).parent / "onnx.md"
BEGIN, END = "<!-- cases: written by onnx_cases.py -->\n", "<!-- end of cases -->"
MODELS = ("<!-- models: written by onnx_cases.py -->\n", "<!-- end of models -->")
DRAWN = ("training_dropout", "bernoulli")
"""Parts of names of cases whose results another generator has drawn."""

NARROW = {"float16": 2**-10, "bfloat16": 2**-7}
"""Dtypes whose rounding is larger than the tolerance of cases, and how large it is."""


def _array(x):
    return numpy_helper.to_array(x) if isinstance(x, TensorProto) else x


def _compare(found, expected, case):
    if expected is None:
        np.testing.assert_equal(found, None, case.name)
    elif isinstance(expected, (list, tuple)):
        np.testing.assert_equal(len(found), len(expected), case.name)
        for one, other in zip(found, expected, strict=True):
            _compare(one, other, case)
    else:
        got = np.asarray(getattr(found, "array", found))
        other = np.asarray(_array(expected))
        if other.dtype.kind in "OUS":
            np.testing.assert_equal(got.tolist(), other.astype("O").tolist(), case.name)
            return
        np.testing.assert_equal((got.shape, got.dtype), (other.shape, other.dtype), case.name)
        rtol = max(case.rtol, 4 * NARROW.get(other.dtype.name, 0))
        if other.dtype.kind not in "biufc" or other.dtype.name.startswith("float8"):
            got, other = got.astype("d"), other.astype("d")
        atol = max(case.atol, 1e-7)
        np.testing.assert_allclose(got, other, rtol=rtol, atol=atol, err_msg=case.name)


def _same_kind(found, expected, case):
    """Numbers of another generator have the shape and the dtype of these alone."""
    got, other = np.asarray(found.array), np.asarray(_array(expected))
    np.testing.assert_equal((got.shape, got.dtype), (other.shape, other.dtype), case.name)


def outcome(case):
    """'passed', 'refused' or 'drawn'; raises where the result is another."""
    drawn = any(part in case.name for part in DRAWN) and "zero_ratio" not in case.name
    for inputs, expected in case.data_sets or _files(case):
        try:
            data = case.model.SerializeToString() if case.model else _file(case).read_bytes()
            model = L.ONNXModel(io.BytesIO(data))
            with core.no_backprop_mode(), core.using_config("train", drawn):
                found = model(*map(_array, inputs))
        except CheckpointError:
            return "refused"
        found = found if isinstance(found, tuple) else (found,)
        for one, other in zip(found, expected, strict=True):
            (_same_kind if drawn else _compare)(one, other, case)
    return "drawn" if drawn else "passed"


def _file(case):
    return (
        Path(onnx.__file__).parents[1] / case.url
        if case.url
        else Path(case.model_dir, "model.onnx")
    )


def _files(case):
    """The pairs of inputs and outputs that lie beside a model; its first outputs where it is large.

    These are made, as onnx makes them, of inputs that grow evenly from 0 to 1.
    """
    graph = onnx.load(_file(case)).graph
    arrays = {each.name for each in graph.initializer}
    inputs = [each for each in graph.input if each.name not in arrays]
    if case.url:
        shape = [each.dim_value for each in inputs[0].type.tensor_type.shape.dim]
        x = np.linspace(0, 1, int(np.prod(shape)), endpoint=False, dtype="f").reshape(shape)
        path = _file(case)
        y = (path.parent / f"{path.stem}_output_0.pb").read_bytes()
        return [([x], [TensorProto.FromString(y)])]
    folder = Path(case.model_dir, "test_data_set_0")

    def read(values, what):
        for i, value in enumerate(values):
            data = (folder / f"{what}_{i}.pb").read_bytes()
            if value.type.HasField("sequence_type"):
                yield numpy_helper.to_list(SequenceProto.FromString(data))
            else:
                yield TensorProto.FromString(data)

    return [([*read(inputs, "input")], [*read(graph.output, "output")])]


def outcomes():
    """How many have which outcome, by the domain and the version of the operator."""
    found = defaultdict(Counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_model_tests(kind="node"):
            (*_, opset) = sorted([(o.domain, o.version) for o in case.model.opset_import])
            found[opset][outcome(case)] += 1
    return dict(sorted(found.items()))


KINDS = {
    "simple": "small models",
    "pytorch-operator": "layers that PyTorch wrote",
    "pytorch-converted": "models that PyTorch wrote",
    "real": "large models (AlexNet, DenseNet-121, Inception v1, v2, ResNet-50, ..., VGG-19, ZFNet)",
}
"""Kinds of cases that are whole models; those of the last have weights that are made in them."""


def models(kind, wanted=""):
    """How many models have which outcome, by their opset."""
    found = defaultdict(Counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_model_tests(kind=kind):
            if wanted in case.name:
                (opset,) = (o.version for o in onnx.load(_file(case)).opset_import if not o.domain)
                found[opset][outcome(case)] += 1
    return dict(sorted(found.items()))


def table(found):
    """The lines of the table."""
    total = sum(found.values(), Counter())
    lines = [
        f"Cases of onnx {onnx.__version__}, by the opset that brought the operator as it is:",
        "",
        "| opset | cases | pass | refused by name | drawn otherwise |",
        "|---|---|---|---|---|",
    ]
    named = [(f"{domain or 'ai.onnx'} {version}", row) for (domain, version), row in found.items()]
    for name, row in [*named, ("all", total)]:
        cells = [row.total(), *[row[each] for each in ("passed", "refused", "drawn")]]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return "".join(f"{line}\n" for line in lines)


def table_of_models(found):
    """The lines of the table of models, by kind."""
    lines = ["| models | opset | cases | pass |", "|---|---|---|---|"]
    for kind, rows in found.items():
        for opset, row in rows.items():
            lines.append(f"| {KINDS[kind]} | {opset} | {row.total()} | {row['passed']} |")
    return "".join(f"{line}\n" for line in lines)


def page(text, lines, begin=BEGIN, end=END):
    """The page with the table as it should be."""
    before, _, rest = text.partition(begin)
    return f"{before}{begin}{lines}{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    text = page(PAGE.read_text(encoding="utf-8"), table(outcomes()))
    whole = table_of_models({kind: models(kind) for kind in KINDS})
    PAGE.write_text(page(text, whole, *MODELS), encoding="utf-8")
