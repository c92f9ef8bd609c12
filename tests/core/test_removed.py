"""Arguments that no longer exist: signatures without them, refusals with them, and no cost."""

import inspect
import linecache
import sys
import traceback

import numpy as np
import pytest

import core
import core.functions as F
from core import registry
from core.errors import RemovedArgument
from core.errors.kinds import checked
from core.errors.removed import removed
from core.registry.kinds import FACADES

CURES = {"old": "Leave it out."}


@removed("old", cures=CURES)
def required(x):
    return [x]


@removed(cures=CURES, renamed={"scale": "factor"})
def with_settings(x, factor=2, *, bias=0):
    """What it does."""
    return x * factor + bias


class Base:
    def __init__(self, size):
        self.size = size


class Derived(Base):
    @removed(cures=CURES)
    def __init__(self, size, more=1):
        super().__init__(size + more)

    @removed(cures=CURES)
    def grow(self, by=1):
        return type(self)(self.size + by)


@pytest.mark.parametrize(
    ("call", "title"),
    [
        (lambda: required(1, old=True), "required"),
        (lambda: required(1, True), "required"),
        (lambda: with_settings(1, old=True), "with_settings"),
        (lambda: Derived(1, old=True), "Derived"),
        (lambda: Derived(1).grow(old=True), "Derived.grow"),
        (lambda: type("Further", (Derived,), {})(1, old=True), "Further"),
    ],
)
def test_a_removed_argument_is_refused(call, title):
    with pytest.raises(RemovedArgument) as caught:
        call()
    assert str(caught.value) == f"{title}: the argument 'old' no longer exists. Leave it out."


def test_the_rest_is_as_it_was():
    assert required(3) == [3]
    assert with_settings(3) == 6 and with_settings(3, 4, bias=1) == 13
    assert Derived(1).size == 2 and Derived(1).grow(2).size == 5
    assert with_settings.__doc__ == "What it does."
    assert str(inspect.signature(required)) == "(x)"
    assert str(inspect.signature(with_settings)) == "(x, factor=2, *, bias=0)"
    assert str(inspect.signature(Derived)) == "(size, more=1)"


def test_a_renamed_argument_is_taken_by_either_name_but_not_by_both():
    assert with_settings(3, scale=5) == with_settings(3, factor=5) == 15
    with pytest.raises(TypeError, match="with_settings: unexpected keyword argument 'scale'"):
        with_settings(3, factor=4, scale=5)


def test_a_slip_gets_the_nearest_name():
    with pytest.raises(TypeError, match="'bais'. Did you mean 'bias'"):
        with_settings(3, bais=1)


def test_a_call_costs_no_other_frame():
    frames = []

    @removed(cures=CURES)
    def probe(x=1):
        frames.append(sys._getframe().f_back.f_code.co_name)

    probe()  # the first one, which writes the refusal
    probe()
    assert frames[1] == "test_a_call_costs_no_other_frame"


def test_tracebacks_show_the_lines_of_the_source():
    with pytest.raises(TypeError) as caught:
        with_settings(object())
    shown = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert shown.line == "return x * factor + bias" and shown.name == "with_settings"


def test_without_its_source_a_function_refuses_in_the_words_of_python():
    scope = {"removed": removed, "CURES": CURES}
    exec("@removed('old', cures=CURES)\ndef made(x): return x", scope)
    assert scope["made"](2) == 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'old'"):
        scope["made"](2, old=1)


def test_a_function_whose_file_was_edited_stays_what_it_was(tmp_path, monkeypatch):
    path = tmp_path / "edited.py"
    path.write_text(
        "from core.errors.removed import removed\n@removed()\ndef f(x=1): return x + 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from edited import f

    path.write_text(path.read_text().replace("x + 1", "x + 20000"))
    linecache.checkcache(str(path))
    assert f(1) == f(1) == 2


@pytest.mark.parametrize("checks", [checked, lambda function: function])
def test_a_renamed_argument_of_a_constructor(checks):
    class Layer(core.Link):
        @checks
        @removed(renamed={"n_layer": "n_layers"})
        def __init__(self, size, n_layers: int = 1):
            super().__init__()
            self.size = size, n_layers

    for _ in range(2):
        assert Layer(3, n_layer=2).size == Layer(3, n_layers=2).size == (3, 2)
        with pytest.raises(TypeError, match="'n_lay'. Did you mean 'n_layers'"):
            Layer(3, n_lay=2)
        with pytest.raises(TypeError, match="unexpected keyword argument 'n_layer'"):
            Layer(3, n_layers=2, n_layer=2)


# Arguments under any name that mean something.
OPEN = {"DictDataset", "Pad", "pad"}


@pytest.mark.parametrize("kind", FACADES)
def test_no_signature_has_arguments_of_old(kind):
    catalogue = registry.catalogue(kind)
    bundled = [n for n in catalogue.names() if catalogue.claim(n).plugin.bundled]
    assert bundled
    for name in bundled:
        value = catalogue.get(name)
        if not callable(value) or isinstance(value, type) and issubclass(value, core.FunctionNode):
            continue
        parameters = inspect.signature(value).parameters.values()
        open_ended = [p for p in parameters if p.kind is p.VAR_KEYWORD]
        assert not open_ended or name in OPEN, f"{name}{inspect.signature(value)}"
        assert not {"use_cudnn", "removed"} & {p.name for p in parameters}, name


def test_the_signature_of_a_variable_is_what_it_takes():
    parameters = inspect.signature(core.Variable).parameters
    assert list(parameters) == ["data", "name", "grad", "requires_grad"]
    x = core.Variable(data=np.ones(2, "f"), name="x", grad=None, requires_grad=False)
    assert F.relu(x).creator is None
