"""Operations, links and optimizers on the tensors of PyTorch, by a backend that is a plugin.

The distribution is examples/plugin_torch. CI shows each operation a few cases; all that a profile
asks for are drawn by

    export HYPOTHESIS_PROFILE=ci PLUGRAD_WHOLE_SWEEP=1
    python -m pytest tests/backends/test_torch_backend.py
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from all_ops import CHECKED, KINDS, REFERENCES

import core
from core.registry.lazy import resolve
from core.testing import check_backend, check_link, check_op, check_optimizer

TESTS = Path(__file__).parents[1]
EXAMPLE = str(TESTS.parent / "examples" / "plugin_torch")
WHOLE = bool(os.environ.get("PLUGRAD_WHOLE_SWEEP"))
EXAMPLES = None if WHOLE else 2

torch = pytest.importorskip("torch", reason="the tensors of PyTorch are not installed")
pytest.importorskip("array_api_compat", reason="plugrad_torch needs array-api-compat")


@pytest.fixture(scope="module", autouse=True)
def backend():
    """The backend as its plugin offers it, with its kernels, for the tests of this file."""
    sys.path.insert(0, EXAMPLE)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    import plugrad_torch

    offered = plugrad_torch.register_backends()["torch"]
    found = core.backend.register(resolve(offered)())
    tables = plugrad_torch.register_kernels("torch")
    for table, section in (
        (found.kernels, "compute"),
        (found.gradient_kernels, "gradient"),
        (found.update_all_kernels, "update_all"),
    ):
        table.update({name: resolve(kernel) for name, kernel in tables[section].items()})
    yield found
    core.backend.unregister(found)
    torch.set_num_threads(threads)
    sys.path.remove(EXAMPLE)


def test_the_contract():
    check_backend("torch")


@pytest.mark.parametrize("op", CHECKED.values(), ids=CHECKED)
def test_op(op):
    name = op.__name__
    check_op(op, REFERENCES.get(name), ["torch"], kind=KINDS.get(name), examples=EXAMPLES)


def module(path):
    """A file of tests, for the cases that it has."""
    spec = spec_from_file_location(f"cases_on_torch_{path.stem}", path)
    made = sys.modules[spec.name] = module_from_spec(spec)  # where pickles look for its classes
    spec.loader.exec_module(made)
    return made


LINKS = module(TESTS / "links" / "test_every_link.py").TABLES
OPTIMIZERS = module(TESTS / "optimizers" / "test_bundled_optimizers.py").OPTIMIZERS


@pytest.mark.parametrize("file", LINKS)
def test_links(file):
    cases = module(TESTS / "links" / f"{file}.py")
    for table in LINKS[file]:
        for given in getattr(cases, table).values():
            check_link(*given, backends=["torch"])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(name):
    make, arguments, loop, settings = OPTIMIZERS[name]
    check_optimizer(
        lambda: make(**arguments),
        lambda theta, gradients: list(loop(theta, gradients, **settings)),
        ["torch"],
    )


def test_lamb():
    check_optimizer(lambda: core.optimizers.LAMB(alpha=0.1), None, ["torch"])
