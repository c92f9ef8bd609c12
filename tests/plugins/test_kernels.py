"""Kernels: gathered per backend, and never a change of numbers that nobody asked for."""

import pytest

from core.errors import NameConflict, PluginError
from core.registry import PluginWarning
from core.registry.kernel_claims import merge
from core.registry.kernel_table import kernel_key


def ours(f, xp, x):
    """The bundled kernel."""


def theirs(f, xp, x):
    """A third party's."""


def others(f, xp, x):
    """Another third party's."""


LEAKY, TANH = "plugrad.ops:LeakyReLU", "plugrad.ops:Tanh"


def compute(table):
    return lambda backend: {"compute": table} if backend == "numpy" else {}


@pytest.fixture
def bundled(make):
    subject = make.module(
        functions={"leaky_relu": ours, "tanh": ours},
        backends={"numpy": ours},
        kernels=compute({LEAKY: ours}),
    )
    return make.entry("plugrad", subject)


def tables(environment, backend="numpy"):
    return merge(environment.registry.snapshot(), backend)


def test_the_bundled_kernels(make, bundled):
    environment = make.environment([bundled])
    assert tables(environment) == {
        "compute": {LEAKY: ours},
        "gradient": {},
        "update": {},
        "update_all": {},
    }
    assert tables(environment, "cuda")["compute"] == {}
    assert environment.plugin("plugrad").kernels is not None


@pytest.mark.parametrize("operation", ["LeakyReLU", "Tanh"])
def test_a_kernel_for_somebody_else_s_operation_waits_for_a_preference(make, bundled, operation):
    third = make.entry("a-dist", make.module(kernels=compute({f"plugrad.ops:{operation}": theirs})))
    environment = make.environment([bundled, third])
    assert tables(environment)["compute"] == {LEAKY: ours}
    environment.registry.prefer(f"kernels.{operation}", "a-dist")
    assert tables(environment)["compute"][f"plugrad.ops:{operation}"] is theirs


def test_a_kernel_for_an_operation_in_one_s_own_package_is_used(make, bundled):
    """Also for one whose name is a bundled one: the class is another."""
    mine = {"a_dist.ops:SoftPlus": theirs, "a_dist:Tanh": theirs}
    environment = make.environment(
        [bundled, make.entry("a-dist", make.module(kernels=compute(mine)))]
    )
    assert tables(environment)["compute"] == {LEAKY: ours, **mine}


def test_a_package_of_two_distributions_is_nobody_s_own(make, bundled):
    mine = make.entry("a-dist", make.module(kernels=compute({"shared.ops:Op": theirs})))
    other = make.entry("b-dist", make.module(functions={"mish": others}))
    mine.value, other.value = "shared.a", "shared.b"
    environment = make.environment([bundled, mine, other])
    assert tables(environment)["compute"] == {LEAKY: ours}


def test_a_kernel_is_given_for_the_class_itself(make, bundled):
    class Outer:
        class Tanh:
            pass

    third = make.entry("a-dist", make.module(kernels=compute({Outer.Tanh: theirs})))
    environment = make.environment([bundled, third])
    environment.registry.prefer("kernels.Tanh", "a-dist")
    assert tables(environment)["compute"] == {LEAKY: ours, kernel_key(Outer.Tanh): theirs}


def test_a_kernel_for_one_s_own_backend_is_used(make, bundled):
    subject = make.module(
        backends={"metal": theirs},
        kernels=lambda backend: {"gradient": {TANH: theirs}} if backend == "metal" else {},
    )
    environment = make.environment([bundled, make.entry("a-dist", subject)])
    assert tables(environment, "metal")["gradient"] == {TANH: theirs}


def both_concerned(make, bundled, environ=None):
    """One has the backend, the other the operation, and both give the kernel."""

    def on_metal(kernel):
        return lambda backend: (
            {"compute": {"b_dist.ops:GELU": kernel}} if backend == "metal" else {}
        )

    backend = make.module(backends={"metal": theirs}, kernels=on_metal(theirs))
    operation = make.module(functions={"gelu": others}, kernels=on_metal(others))
    entries = [bundled, make.entry("a-dist", backend), make.entry("b-dist", operation)]
    return make.environment(entries, environ)


def test_where_two_are_concerned_neither_wins_and_the_formula_serves(make, bundled):
    environment = both_concerned(make, bundled)
    with pytest.warns(PluginWarning, match="kernels 'GELU' is claimed by 2 distributions"):
        assert tables(environment, "metal")["compute"] == {}
    environment.registry.prefer("kernels.GELU", "b-dist")
    assert tables(environment, "metal")["compute"] == {"b_dist.ops:GELU": others}


def test_where_two_are_concerned_strict_raises(make, bundled):
    environment = both_concerned(make, bundled, {"PLUGRAD_PLUGINS_STRICT": "1"})
    with pytest.raises(NameConflict, match="core.plugins.prefer"):
        tables(environment, "metal")


@pytest.mark.parametrize("key", ["kernels.LeakyReLU", "kernels.*", "*"])
def test_a_preference_concerns_only_backends_that_have_the_kernel(make, bundled, key):
    cuda_only = make.module(
        kernels=lambda backend: {"compute": {LEAKY: theirs}} if backend == "cuda" else {}
    )
    waiting = make.entry("b-dist", make.module(kernels=compute({TANH: others})))
    entries = [bundled, make.entry("a-dist", cuda_only), waiting]
    environment = make.environment(entries, {"PLUGRAD_PREFER": f"{key}=a-dist"})
    assert tables(environment)["compute"] == {LEAKY: ours}
    assert tables(environment, "cuda")["compute"] == {LEAKY: theirs}


def test_the_hook_may_leave_out_its_argument(make, bundled):
    from types import SimpleNamespace

    from core import hookimpl

    def register_kernels():
        return {"update": {"plugrad.rules:AdamRule": theirs}}

    subject = SimpleNamespace(register_kernels=hookimpl(register_kernels))
    environ = {"PLUGRAD_PREFER": "kernels.*=a-dist"}
    environment = make.environment([bundled, make.entry("a-dist", subject)], environ)
    assert tables(environment, "cuda")["update"] == {"plugrad.rules:AdamRule": theirs}
    assert tables(environment)["compute"] == {LEAKY: ours}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"forward": {}},
            "gives the section 'forward'; expected compute, gradient, update, update_all",
        ),
        ({"compute": [theirs]}, "gives list for a section; expected a mapping"),
        ({"compute": {"a:F": "no_such_module:kernel"}}, "No module named 'no_such_module'"),
        (None, "returned NoneType"),
        (
            {"compute": {"ReLU": theirs}},
            "given for 'ReLU'; expected a class or 'package.module:Class'",
        ),
        ({"update": {"a.b:F": None}}, "gives None for 'a.b:F'; expected a kernel"),
        ({"update": {"a.b:F": "kernel"}}, "gives 'kernel' for 'a.b:F'; expected a kernel"),
    ],
)
def test_broken_kernels_are_one_warning(make, bundled, given, expected):
    broken = make.entry("a-dist", make.module(kernels=lambda backend: given))
    environment = make.environment([bundled, broken])
    with pytest.warns(PluginWarning, match="The kernels for numpy of a-dist 1.0 are not") as caught:
        assert tables(environment)["compute"] == {LEAKY: ours}
    assert expected in str(caught[0].message)
    assert "kernels for numpy" in environment.plugin("a-dist").problems


def test_broken_kernels_raise_when_strict(make, bundled):
    broken = make.entry("a-dist", make.module(kernels=lambda backend: None))
    environ = {"PLUGRAD_PLUGINS_STRICT": "1"}
    with pytest.raises(PluginError, match="The kernels for numpy of a-dist 1.0 are not used"):
        tables(make.environment([bundled, broken], environ))


def test_a_backend_in_use_hears_of_a_preference(make, bundled, monkeypatch):
    from core import registry
    from core.arrays import backend

    third = make.entry("a-dist", make.module(kernels=compute({TANH: theirs})))
    environment = make.environment([bundled, third])
    numpy = backend.get("numpy")
    monkeypatch.setattr(
        registry, "kernels", lambda name: merge(environment.registry.snapshot(), name)
    )
    environment.registry.listen(numpy.refresh_kernels)
    try:
        numpy.refresh_kernels()
        assert TANH not in numpy.kernels
        environment.registry.prefer("kernels.Tanh", "a-dist")
        assert numpy.kernels[TANH] is theirs
    finally:
        monkeypatch.undo()
        numpy.refresh_kernels()
    assert registry.installed._listeners.count(numpy.refresh_kernels) == 1
