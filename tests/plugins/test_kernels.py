"""Kernels: gathered per backend, and never a change of numbers that nobody asked for."""

import pytest

from core.errors import NameConflict, PluginError
from core.registry import PluginWarning
from core.registry.kernels import merge


def ours(f, xp, x):
    """The bundled kernel."""


def theirs(f, xp, x):
    """A third party's."""


def others(f, xp, x):
    """Another third party's."""


def compute(**table):
    return lambda backend: {"compute": table} if backend == "numpy" else {}


@pytest.fixture
def bundled(make):
    subject = make.module(
        functions={"leaky_relu": ours, "tanh": ours},
        backends={"numpy": ours},
        kernels=compute(LeakyReLU=ours),
    )
    return make.entry("plugrad", subject)


def tables(environment, backend="numpy"):
    return merge(environment.registry.snapshot(), backend)


def test_the_bundled_kernels(make, bundled):
    environment = make.environment([bundled])
    assert tables(environment) == {"compute": {"LeakyReLU": ours}, "gradient": {}, "update": {}}
    assert tables(environment, "cuda")["compute"] == {}
    assert environment.plugin("plugrad").kernels is not None


@pytest.mark.parametrize("operation", ["LeakyReLU", "Tanh"])
def test_a_kernel_for_somebody_else_s_operation_waits_for_a_preference(make, bundled, operation):
    third = make.entry("a-dist", make.module(kernels=compute(**{operation: theirs})))
    environment = make.environment([bundled, third])
    assert tables(environment)["compute"] == {"LeakyReLU": ours}
    environment.registry.prefer(f"kernels.{operation}", "a-dist")
    assert tables(environment)["compute"][operation] is theirs


def test_a_kernel_for_one_s_own_operation_is_used(make, bundled):
    subject = make.module(functions={"soft_plus": theirs}, kernels=compute(SoftPlus=theirs))
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    assert tables(environment)["compute"]["SoftPlus"] is theirs


def test_a_kernel_for_an_operation_that_replaces_a_bundled_one_waits(make, bundled):
    subject = make.module(functions={"tanh": theirs}, kernels=compute(Tanh=theirs))
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    assert "Tanh" not in tables(environment)["compute"]


def test_a_kernel_for_one_s_own_backend_is_used(make, bundled):
    subject = make.module(
        backends={"metal": theirs},
        kernels=lambda backend: {"gradient": {"Tanh": theirs}} if backend == "metal" else {},
    )
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    assert tables(environment, "metal")["gradient"] == {"Tanh": theirs}


def both_concerned(make, bundled, environ=None):
    """One has the backend, the other the operation, and both give the kernel."""

    def on_metal(kernel):
        return lambda backend: {"compute": {"GELU": kernel}} if backend == "metal" else {}

    backend = make.module(backends={"metal": theirs}, kernels=on_metal(theirs))
    operation = make.module(functions={"gelu": others}, kernels=on_metal(others))
    entries = [bundled, make.entry("a-dist", backend), make.entry("b-dist", operation)]
    return make.environment(entries, environ)


def test_where_two_are_concerned_neither_wins_and_the_formula_serves(make, bundled):
    environment = both_concerned(make, bundled)
    with pytest.warns(PluginWarning, match="kernels 'GELU' is claimed by 2 distributions"):
        assert tables(environment, "metal")["compute"] == {}
    environment.registry.prefer("kernels.GELU", "b-dist")
    assert tables(environment, "metal")["compute"] == {"GELU": others}


def test_where_two_are_concerned_strict_raises(make, bundled):
    environment = both_concerned(make, bundled, {"PLUGRAD_PLUGINS_STRICT": "1"})
    with pytest.raises(NameConflict, match="core.plugins.prefer"):
        tables(environment, "metal")


@pytest.mark.parametrize("key", ["kernels.LeakyReLU", "kernels.*", "*"])
def test_a_preference_concerns_only_backends_that_have_the_kernel(make, bundled, key):
    cuda_only = make.module(
        kernels=lambda backend: {"compute": {"LeakyReLU": theirs}} if backend == "cuda" else {}
    )
    waiting = make.entry("b-dist", make.module(kernels=compute(Tanh=others)))
    entries = [bundled, make.entry("a-dist", cuda_only), waiting]
    environment = make.environment(entries, {"PLUGRAD_PREFER": f"{key}=a-dist"})
    assert tables(environment)["compute"] == {"LeakyReLU": ours}
    assert tables(environment, "cuda")["compute"] == {"LeakyReLU": theirs}


def test_the_hook_may_leave_out_its_argument(make, bundled):
    from types import SimpleNamespace

    from core import hookimpl

    def register_kernels():
        return {"update": {"Adam": theirs}}

    subject = SimpleNamespace(register_kernels=hookimpl(register_kernels))
    environ = {"PLUGRAD_PREFER": "kernels.*=a-dist"}
    environment = make.environment([bundled, make.entry("a-dist", subject)], environ)
    assert tables(environment, "cuda")["update"] == {"Adam": theirs}
    assert tables(environment)["compute"] == {"LeakyReLU": ours}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"forward": {}}, "gives the section 'forward'; expected compute, gradient, update"),
        ({"compute": [theirs]}, "returned list; expected a mapping"),
        ({"compute": {"F": "no_such_module:kernel"}}, "No module named 'no_such_module'"),
        (None, "returned NoneType"),
    ],
)
def test_broken_kernels_are_one_warning(make, bundled, given, expected):
    broken = make.entry("a-dist", make.module(kernels=lambda backend: given))
    environment = make.environment([bundled, broken])
    with pytest.warns(PluginWarning, match="The kernels for numpy of a-dist 1.0 are not") as caught:
        assert tables(environment)["compute"] == {"LeakyReLU": ours}
    assert expected in str(caught[0].message)
    assert "kernels for numpy" in environment.plugin("a-dist").problems


def test_broken_kernels_raise_when_strict(make, bundled):
    broken = make.entry("a-dist", make.module(kernels=lambda backend: None))
    environ = {"PLUGRAD_PLUGINS_STRICT": "1"}
    with pytest.raises(PluginError, match="The kernels for numpy of a-dist 1.0 are not used"):
        tables(make.environment([bundled, broken], environ))


def test_a_backend_in_use_hears_of_a_preference(make, bundled, monkeypatch):
    from core import backend, registry

    third = make.entry("a-dist", make.module(kernels=compute(Tanh=theirs)))
    environment = make.environment([bundled, third])
    numpy = backend.get("numpy")
    monkeypatch.setattr(
        registry, "kernels", lambda name: merge(environment.registry.snapshot(), name)
    )
    environment.registry.listen(numpy.refresh_kernels)
    try:
        numpy.refresh_kernels()
        assert "Tanh" not in numpy.kernels
        environment.registry.prefer("kernels.Tanh", "a-dist")
        assert numpy.kernels["Tanh"] is theirs
    finally:
        monkeypatch.undo()
        numpy.refresh_kernels()
    assert registry.current._listeners.count(numpy.refresh_kernels) == 1
