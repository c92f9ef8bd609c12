"""Every bundled op class, its reference, and how near it has to come."""

import importlib
import pkgutil
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

import plugins.functions
from core import FunctionNode
from core.testing.strategies import cases


def _classes(package):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, FunctionNode):
                defined_here = value.__module__ == module.__name__
                if defined_here and not name.startswith("_"):
                    yield value


def _references():
    found = {}
    for path in sorted((Path(__file__).parent / "references").glob("*.py")):
        module = importlib.import_module(f"references.{path.stem}")
        found.update(getattr(module, "REFERENCES", {}))
    return found


OPS = {op.__name__: op for op in _classes(plugins.functions)}
REFERENCES = _references()

# Ops that only appear inside the gradients of others, with settings that no domain can draw (the
# places of maxima, the size of an image): the gradient check of the op named here is the check of
# their forward, and its double gradient that of their gradient.
PROVEN_BY = {
    "Fold": "Windows",
    "AddAlongAxis": "TakeAlongAxis",
    "AddTaken": "Take",
    "AddedBorders": "Continued",
    "AveragePoolingGradient": "AveragePooling2D",
    "Col2Im": "Im2Col",
    "ConvolutionFilterGradient": "Convolution",
    "EmbedIDGradient": "EmbedIDFunction",
    "MaxPoolingGradient": "MaxPooling2D",
    "MaxPoolingPick": "MaxPooling2D",
    "PlaceItem": "SelectItem",
    "ScatterAdd": "GetItem",
}

# Ops made of functions that users hand over, so no domain could say what they compute.
OF_FUNCTIONS = {"Forget": "tests/functions/test_forget.py"}

# Rows of core.testing.tolerances for ops that are less exact than their signature suggests.
KINDS = {
    "BatchNormalization": "solution",
    "FixedBatchNormalization": "reduction",
    "InverseSquareRoot": "solution",
    "Lyapunov": "solution",
}

CHECKED = {n: op for n, op in OPS.items() if n not in PROVEN_BY and n not in OF_FUNCTIONS}


def drawn(name, count):
    """Some cases of an operation, always the same."""
    found = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(CHECKED[name], "plain"))
    def draw(case):
        found.append(case)

    draw()
    return found
