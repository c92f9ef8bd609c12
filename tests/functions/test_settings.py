"""Settings of a wrong kind: every function says which one, what it expected and what came."""

import inspect
import pickle
import re

import numpy as np
import pytest
from all_ops import OPS
from functions import test_namespace
from functions.test_every_function import FIRST, filled
from hypothesis import given
from hypothesis import strategies as st
from oracles.cases import draw

import core
import core.functions as F
import core.links as L
from core.errors import InvalidSetting, InvalidType
from core.errors.kinds import MISSING, kind_of
from core.ops.namespace import namespace as xp

WRONG = {
    "a string": "nonsense",
    "a float": 1.5,
    "an int": 7,
    "a truth value": True,
    "None": None,
    "a list of strings": ["a"],
    "a pair of floats": (0.5, 1.5),
    "an object": object(),
    "a dict": {},
    "a set": {1, 0},
    "an array": np.ones((2, 2)),
    "bytes": b"1",
    "a complex number": 1j,
    "a Variable": core.Variable(np.ones((), "f")),
    "a Variable of integers": core.Variable(np.ones((), "i"), requires_grad=False),
}

RIGHT = (None, 1, 0.5, "a", (1, 1), ((1, 1), (1, 1)), True, print)

INPUTS = re.findall(
    r"\w+",
    """
    W X a anchor args b beta boxes bs c_prev c_prev1 c_prev2 condition cost cx divisor dst e1 e2
    embeddings gamma grid h hx indexes indices inputs key labels ln_var log_pi mean n negative
    offset operands p positive pred projection q query roi_indices rois samples segments self t
    theta true value var ws x x0 x1 x2 xs y ys z
    dtype keywords pooling pooling_class slices typ
    """,
)
"""Parameters that are arrays or Variables, and the last six, which have rules of their own."""

WITH_RULES = INPUTS[-6:]


def parameters(function):
    """Each parameter with its kind; without those that are removed."""
    found = inspect.signature(function).parameters.values()
    for p in found:
        if p.name != "use_cudnn":
            module = inspect.unwrap(function).__module__
            yield p, kind_of(p.annotation, module, p.default)


def settings():
    for name, case in FIRST.items():
        if case.call is None:
            function = getattr(F, case.name)
            for p, kind in parameters(function):
                if not kind.anything:
                    yield pytest.param(name, p.name, kind, id=f"{case.name}-{p.name}")


def call(case, **changes):
    args, settings, leaves, _, _ = draw(case, "float32")
    variables = [core.Variable(leaf) for leaf in leaves]
    function = getattr(F, case.name)
    bound = inspect.signature(function).bind(
        *filled(args, variables), **filled(settings, variables)
    )
    bound.arguments.update(changes)
    return function(*bound.args, **bound.kwargs)


@pytest.mark.parametrize(("case", "setting", "kind"), [*settings()])
def test_a_wrong_kind_is_refused_by_name(case, setting, kind):
    for what, value in WRONG.items():
        if kind.takes(value):
            continue
        with pytest.raises(InvalidSetting) as caught:
            call(FIRST[case], **{setting: value})
        who, expected = re.match(r"(\w+): expected (.+), got ", str(caught.value)).groups()
        assert hasattr(F, who) and expected.startswith(f"{setting} to be "), (what, caught.value)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.declared and op.declared.fields])
def test_ops_refuse_wrong_kinds_as_well(op):
    kinds = op.declared.kinds
    right = {n: next(filter(kinds[n].takes, RIGHT)) for n in op.declared.fields}
    for name, kind in kinds.items():
        for value in WRONG.values():
            if not kind.takes(value):
                message = rf"^{op.__name__}: expected {name} to be .+, got "
                with pytest.raises(InvalidSetting, match=message):
                    op(**right | {name: value})


def namespace_settings():
    for name, calls in (test_namespace.CALLS | test_namespace.WITHOUT_GRADIENT).items():
        for p, kind in parameters(getattr(xp, name)):
            if not kind.anything:
                yield pytest.param(name, calls[0], p.name, kind, id=f"{name}-{p.name}")


@pytest.mark.parametrize(("name", "given", "setting", "kind"), [*namespace_settings()])
def test_the_standards_functions_refuse_them_too(name, given, setting, kind):
    function = getattr(xp, name)
    arguments, options = test_namespace.split(given)
    for value in WRONG.values():
        if not kind.takes(value):
            bound = inspect.signature(function).bind(*arguments, **options)
            bound.arguments[setting] = value
            with pytest.raises(InvalidSetting, match=rf"^\w+: expected {setting} to be .+, got "):
                function(*bound.args, **bound.kwargs)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.linalg.cholesky(x, upper="x"),
        lambda x: xp.linalg.matrix_power(x, 2.0),
        lambda x: xp.linalg.vector_norm(x, axis="x"),
        lambda x: xp.linalg.vector_norm(x, ord="x"),
        lambda x: xp.linalg.matrix_norm(x, keepdims=[1]),
        lambda x: xp.linalg.qr(x, mode=1),
        lambda x: xp.linalg.svd(x, full_matrices="x"),
        lambda x: xp.linalg.cross(x, x, axis=0.0),
        lambda x: xp.linalg.diagonal(x, offset="x"),
        lambda x: xp.linalg.trace(x, offset=1.5),
        lambda x: xp.linalg.pinv(x, rtol="x"),
        lambda x: x.sum(axis="x"),
        lambda x: x.any(axis="x"),
        lambda x: x.swapaxes(0, 1.0),
        lambda x: x.reshape("ab"),
        lambda x: x.reshape(1.5, 2),
        lambda x: x.transpose(0.0, 1),
        lambda x: x.mean(keepdims="x"),
    ],
)
def test_linear_algebra_and_methods_refuse_them_too(call):
    with pytest.raises(InvalidSetting, match=r"^\w+: expected \w+ to be .+, got "):
        call(core.Variable(np.eye(3)))


def link_settings():
    for name in core.registry.catalogue("links").names():
        kinds = {p.name: kind for p, kind in parameters(getattr(L, name).__init__)}
        if any(not kind.anything for kind in kinds.values()):
            yield pytest.param(name, kinds, id=name)


@pytest.mark.parametrize(("link", "kinds"), [*link_settings()])
def test_links_refuse_wrong_kinds_as_well(link, kinds):
    right = {n: next(filter(kind.takes, RIGHT)) for n, kind in kinds.items() if n != "self"}
    for name in right:
        for value in WRONG.values():
            if not kinds[name].takes(value) and not kinds[name].anything:
                message = rf"^{link}: expected {name} to be .+, got "
                with pytest.raises(InvalidSetting, match=message):
                    getattr(L, link)(**right | {name: value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: F.pad(x, 1, "constant", constant_values="x"), "pad: .*constant_values to be a"),
        (lambda x: F.pad(x, 1, "constant", constant_values=x), "pad: .*values to be .* a Variable"),
        (lambda x: F.pad(x, 1, "linear_ramp", end_values="x"), "pad: .*end_values to be a number"),
        (lambda x: F.pad(x, 1, "maximum", stat_length=1.5), "pad: .*stat_length to be a whole"),
        (lambda x: F.pad(x, 1, "edge", end_values=1), "pad: mode 'edge' takes no argument"),
        (lambda x: F.cast(x, None), "cast: expected typ to be a dtype .* None"),
        (lambda x: F.cast(x, x), "cast: expected typ to be a dtype .* a Variable"),
        (lambda x: F.forget("relu", x), "forget: expected func to be a function, got str"),
        (
            lambda x: F.negative_sampling(x, np.zeros(3, "i"), x, "uniform", 2),
            "negative_sampling: expected sampler to be a function, got str",
        ),
        (lambda x: L.Classifier(L.Linear(2), lossfun="mse"), "Classifier: .*lossfun to be a func"),
        (
            lambda x: F.softmax_cross_entropy(x, np.zeros(3, "i"), class_weight="x"),
            "softmax_cross_entropy: expected class_weight to be an array or None, got str",
        ),
        (lambda x: F.einsum(5, x), r"einsum: expected operands\[0\] to be a string .*, got int 5"),
        (lambda x: F.einsum("ii", "x"), "einsum: expected each operand to be an array, got str"),
        (lambda x: F.einsum(x, 5), "einsum: expected labels to be a tuple .*, got int 5"),
        (lambda x: F.linear(x, x, "x"), "linear: expected b to be an array or None, got str"),
    ],
)
def test_settings_with_rules_of_their_own(call, message):
    with pytest.raises(TypeError, match=message):
        call(core.Variable(np.eye(3)))


def test_settings_are_declared():
    """What says nothing of its kind is an input."""
    for name in core.registry.catalogue("functions").names():
        function = getattr(F, name)
        if not inspect.isclass(function):
            for p, kind in parameters(function):
                assert not kind.anything or p.name in INPUTS, (name, p)
                optional = p.default is None and p.name not in WITH_RULES
                assert not (kind.anything and optional), (name, p)


def test_errors_tell_the_line_of_who_called():
    """And tracebacks the file of the function, though its settings are looked at first."""
    with pytest.raises(InvalidType, match=rf"Line: {re.escape(__file__)}") as caught:
        F.dropout(np.ones(3, int), ratio=0.5)
    files = {str(entry.path) for entry in caught.traceback}
    assert "<string>" not in files and inspect.getsourcefile(F.dropout) in files
    assert pickle.loads(pickle.dumps(F.dropout)) is F.dropout


E = np.eye(3)
DTYPES = {
    **dict.fromkeys(("astype", "cumulative_prod", "cumulative_sum", "empty_like"), (E,)),
    **dict.fromkeys(("ones_like", "prod", "sum", "zeros_like", "asarray"), (E,)),
    **dict.fromkeys(("arange", "empty", "eye", "ones", "zeros"), (3,)),
    "full": (3, 1),
    "full_like": (E, 1),
    "linspace": (0, 1, 3),
}


def takers_of_dtypes():
    yield "cast", "typ", lambda dtype: F.cast(E, dtype)
    yield "one_hot", "dtype", lambda dtype: F.one_hot(np.arange(2), 3, dtype=dtype)
    for name in ("astype", "cumsum", "sum"):
        yield name, "dtype", lambda dtype, m=name: getattr(core.Variable(E), m)(dtype=dtype)
    for name in dir(xp):
        function = getattr(xp, name)
        takes = callable(function) and not isinstance(function, type) and name != "isdtype"
        if takes and "dtype" in inspect.signature(function).parameters:
            yield name, "dtype", lambda dtype, f=function, n=name: f(*DTYPES[n], dtype=dtype)


@pytest.mark.parametrize(("name", "argument", "call"), [*takers_of_dtypes()])
def test_a_dtype_that_does_not_exist_is_refused_by_name(name, argument, call):
    text = f"^{name}: expected {argument} to be a dtype; .*'flaot32'. Did you mean 'float32'"
    with pytest.raises(TypeError, match=text):
        call("flaot32")
    with pytest.raises(TypeError, match=f"^{name}: expected {argument} to be a dtype; .* 5"):
        call(5)


NESTED = (
    "tuple[tuple[int, int], ...]",
    "tuple[tuple[float, float], ...] | None",
    "int | list[int | list[int]]",
    "tuple[tuple[tuple[int, ...], ...], ...]",
)
ONES = st.sampled_from([1, True, 0.5, "a", None, np.int64(2), 1j])


@given(
    st.sampled_from(NESTED),
    st.recursive(ONES, lambda v: st.one_of(st.tuples(v), st.tuples(v, v), st.lists(v, max_size=2))),
)
def test_what_passes_the_quick_test_is_taken_as_it_is(annotation, value):
    kind, scope = kind_of(annotation), {"v": value}
    passes = eval(kind.test("v", scope), scope)
    taken = kind.take(value)
    assert not passes or repr(taken) == repr(value)
    if taken is not MISSING:
        assert eval(kind.test("v", scope), scope | {"v": taken})
