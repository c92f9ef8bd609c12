"""What plugrad runs on: each Python with the oldest and the newest NumPy, with numba and without.

    python -m pip install nox && nox         with all Pythons that are found; others are skipped
    nox -s "matrix(python='3.13', numpy='newest', fast=True)" -- tests/links     one, other tests

docs/install.md says what was tested last.
"""

import nox

OLDEST = {"3.11": "2.2", "3.12": "2.2", "3.13": "2.2", "3.14": "2.3", "3.15": "2.5"}  # with wheels
TOOLS = ["array-api-strict", "hypothesis", "pytest<10", "pytest-timeout", "pytest-xdist"]
TESTS = [  # what Python and NumPy have a say in
    "tests/engine/test_array_methods.py",
    "tests/engine/test_backward.py",
    "tests/engine/test_declaration.py",
    "tests/engine/test_numpy_functions.py",
    "tests/engine/test_variable.py",
    "tests/links/test_link.py",
    "tests/optimizers/test_optimizer.py",
    "tests/serializers/test_npz.py",
]


@nox.session
@nox.parametrize("fast", [True, False])
@nox.parametrize(
    "python,numpy", [(python, which) for python in OLDEST for which in (OLDEST[python], "newest")]
)
def matrix(session, numpy, fast):
    """Test with one Python and one NumPy, with numba or without it."""
    pinned = "numpy" if numpy == "newest" else f"numpy=={numpy}.*"
    wheels = ["--only-binary", "numpy,numba,llvmlite"]
    session.install(*wheels, "-e", ".[fast,plot]" if fast else ".[plot]", pinned, *TOOLS)
    session.run("python", "-m", "plugrad", "info")
    files = session.posargs or TESTS
    session.run("python", "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files)
