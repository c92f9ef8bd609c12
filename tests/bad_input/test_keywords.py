"""A keyword that something does not take is answered with the one that is meant."""

import inspect

import numpy as np
import pytest

import core
import core.functions as F
import core.links as L
from core.errors import RemovedArgument
from core.errors.kinds import kind_of

X = np.ones((3, 4), "f")


def defaults(function):
    """Arguments that may be left out."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is not p.empty]


FUNCTIONS = [name for name in dir(F) if name[0] != "_" and name != "of" and name.islower()]
WITH_SETTINGS = [name for name in FUNCTIONS if defaults(getattr(F, name))]


def anything_like(function, annotation):
    """A value of the kind; what it means is not looked at before the keywords are."""
    kind = kind_of(annotation, inspect.unwrap(function).__module__)
    return next(value for value in (X, 1, (1, 1), len) if kind.takes(value))


@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_a_slip_is_answered_by_every_function_with_settings(name):
    function = getattr(F, name)
    taken = inspect.signature(function).parameters.values()
    required = [p for p in taken if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    given = [anything_like(function, p.annotation) for p in required]
    meant = defaults(function)[-1]
    with pytest.raises(TypeError, match=rf"^{name}: .*{meant}x'\. Did you mean '{meant}'\?"):
        function(*given, **{meant + "x": 1})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.sum(X, dim=1), "^sum: unexpected keyword argument 'dim'. Did you mean 'axis'"),
        (lambda: F.sum(X, axis=1, keepdim=True), "'keepdim'. Did you mean 'keepdims'"),
        (lambda: F.softmax(X, dim=1), "'dim'. Did you mean 'axis'"),
        (lambda: F.concat([X, X], dim=0), "'dim'. Did you mean 'axis'"),
        (lambda: F.stack([X, X], dim=0), "'dim'. Did you mean 'axis'"),
        (lambda: F.dropout(X, p=0.5), "'p'. Did you mean 'ratio'"),
        (lambda: F.leaky_relu(X, negative_slope=0.1), "'negative_slope'. Did you mean 'slope'"),
        (lambda: F.relu(X, inplace=True), "^relu: .*'inplace'. Leave it out: functions change no"),
        (lambda: F.tanh(X, inplace=True), "^tanh: .*'inplace'. Leave it out"),
        (lambda: F.elu(X, inplace=True), "^elu: .*'inplace'. Leave it out"),
        (lambda: L.Linear(in_features=3, out_features=2), "^Linear: .*'in_features'.*'in_size'"),
        (lambda: L.Bias(shap=(3,)), "^Bias: .*'shap'. Did you mean 'shape'"),
        (lambda: L.Convolution3D(1, 2, 3, padding=1), "'padding'. Did you mean 'pad'"),
        (lambda: L.EmbedID(3, 2, ignore_index=0), "'ignore_index'. Did you mean 'ignore_label'"),
    ],
)
def test_names_of_other_libraries(call, message):
    with pytest.raises(TypeError, match=message):
        call()


LINKS = [name for name in dir(L) if isinstance(getattr(L, name), type) and name[0] != "_"]
LINKS_WITH_SETTINGS = [name for name in LINKS if defaults(getattr(L, name))]


@pytest.mark.parametrize("name", LINKS_WITH_SETTINGS)
def test_a_slip_is_answered_by_every_link(name):
    """Before anything else is looked at, what is missing included."""
    link = getattr(L, name)
    meant = defaults(link)[-1]
    with pytest.raises(TypeError, match=rf"^(links\.)?{name}: .*Did you mean '{meant}'\?"):
        link(**{meant + "x": 1})


class Own(core.Chain):
    def __init__(self, size, depth=1):
        super().__init__()
        self.size = size, depth


class Open(Own):
    def __init__(self, *args, **options):
        super().__init__(*args)
        self.options = options


def test_links_of_ones_own_are_answered_too():
    with pytest.raises(TypeError, match=r"^Own: .*'dept'\. Did you mean 'depth'\?"):
        Own(1, dept=2)
    with pytest.raises(RemovedArgument, match="^Own: the argument 'train' no longer exists"):
        Own(1, train=False)
    assert Own(1, depth=2).size == Own(size=1, depth=2).size == (1, 2)
    assert Open(1, anything=2).options == {"anything": 2}
    assert str(inspect.signature(Own)) == "(size, depth=1)"


OFTEN_CALLED = {"call_hooks", "links", "params", "update_loss_scale"}
"""By every step: Python answers for them."""
METHODS = [
    (owner, name)
    for owner in (core.Variable, core.Link, core.optimizers.SGD)
    for name, method in inspect.getmembers(owner, inspect.isfunction)
    if name[0] != "_" and name not in OFTEN_CALLED and defaults(method)
    if name != "update"  # takes any
]


@pytest.mark.parametrize(("owner", "name"), METHODS)
def test_a_slip_is_answered_by_every_method_with_settings(owner, name):
    method = getattr(owner, name)
    taken = list(inspect.signature(method).parameters.values())[1:]
    required = [p for p in taken if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    meant = defaults(method)[-1]
    with pytest.raises(TypeError, match=rf"^{owner.__name__}\.{name}: .*mean '{meant}'\?"):
        method(owner(), *["x" for _ in required], **{meant + "x": 1})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: core.Variable(X).sum(dim=1), "^Variable.sum: .*'dim'. Did you mean 'axis'"),
        (lambda: core.Variable(X).mean(keepdim=True), "'keepdim'. Did you mean 'keepdims'"),
        (lambda: core.Variable(X).backward(foo=1), "It takes retain_grad, enable_double_back"),
        (lambda: core.grad([], [], create_graph=True), "^grad: unexpected .*'create_graph'"),
        (lambda: core.backward([], retain_graph=True), "^backward: .*Leave it out: a graph stays"),
        (lambda: core.Parameter(shap=(2,)), "^Parameter: .*'shap'. Did you mean 'shape'"),
        (lambda: L.Linear(2, 2).zerograds(foo=1), "^Linear.zerograds: .*It takes no arguments"),
        (lambda: L.Linear(2, 2).forward(X, foo=1), "Linear.forward"),
    ],
)
def test_keywords_of_methods(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_link_that_is_called_tells_what_it_takes():
    with pytest.raises(TypeError) as caught:
        L.ELU()(X, foo=1)
    assert caught.value.__notes__[0].endswith(". It takes x.")
    with pytest.raises(TypeError) as caught:
        L.Linear(4, 2)(X, n_batch_axe=1)
    assert caught.value.__notes__[0].endswith(". Did you mean 'n_batch_axes'?")


class Applied(core.Chain):
    def __init__(self, function, **settings):
        super().__init__()
        self.function, self.settings = function, settings

    def forward(self, x):
        return self.function(x, **self.settings)


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        ({"foo": 1}, "exp: unexpected keyword argument 'foo'. It takes x."),
        ({"inplace": True}, "Leave it out: functions change no array, and give new ones."),
        (
            {"use_cudnn": True},
            "'use_cudnn' no longer exists. Leave it out: core.config has use_cudnn and "
            "cudnn_deterministic.",
        ),
    ],
)
def test_functions_without_settings_leave_the_answer_to_the_link_that_calls_them(settings, end):
    with pytest.raises(TypeError) as caught:
        Applied(F.exp, **settings)(X)
    assert caught.value.__notes__[0].endswith(end)


def test_a_callee_that_nobody_knows_is_left_to_python():
    with pytest.raises(TypeError) as caught:
        Applied(lambda x: x, foo=1)(X)
    assert "foo" not in caught.value.__notes__[0].partition(", at")[0]
    assert "unexpected" not in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y: y.backward("yes"), "^backward: expected retain_grad to be True or False"),
        (lambda y: y.backward(loss_scale="1"), "^backward: expected loss_scale to be a number"),
        (lambda y: core.backward([y], free_graph="yes"), "^backward: expected free_graph to be"),
        (lambda y: core.grad([y], [y], set_grad="no"), "^grad: expected set_grad to be True or"),
        (lambda y: list(L.Linear(2, 2).params("no")), "^params: expected include_uninit to be"),
        (lambda y: list(L.Linear(2, 2).namedparams("no")), "^namedparams: expected include_un"),
        (lambda y: L.Linear(2, 2).copyparams(L.Linear(2, 2), "no"), "^copyparams: expected copy_"),
        (lambda y: L.Linear(2, 2).copy(3), "^copy: expected mode to be a string, got int 3"),
        (lambda y: core.Parameter(1.0, (2,), 3), "^Parameter: expected name to be a string"),
    ],
)
def test_flags_are_truth_values(call, message):
    x = core.Variable(X)
    y = F.sum(x)
    with pytest.raises(TypeError, match=message):
        call(y)
    assert x.grad is None and y.grad is None


def test_what_a_method_is_made_into_tells_what_it_was():
    """The first call completes it; before and after, help and editors see what was written."""
    assert [*inspect.signature(core.Link.copy).parameters] == ["self", "mode"]
    L.Linear(2, 2).copy()
    assert [*inspect.signature(core.Link.copy).parameters] == ["self", "mode"]
    assert core.Link.copy.__qualname__ == "Link.copy" and core.Link.copy.__doc__.startswith("Copy")
