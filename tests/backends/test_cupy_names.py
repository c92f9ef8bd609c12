"""What plugrad calls of CuPy, held against CuPy itself: names and signatures, without a GPU."""

import ast
import importlib
import inspect
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.cupy,
    pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed"),
]

# Texts that stand for CuPy itself, for its module `cuda`, and for its arrays.
CUPY = ["cupy", "self.cupy", "self._cupy", "self._library", "library", "self._module", "_cupy()"]
CUDA = ["cuda"]
OBJECTS = {"stream": "Stream", "graph": "Graph"}  # of backends, by what they are of cupy.cuda
ARRAYS = ["array", "x", "param", "grad", "like"]

OURS = [
    *sorted((ROOT / "backends/cuda_backend").rglob("*.py")),
    ROOT / "core/compat/cuda.py",
    ROOT / "plugins/communicators/mpi.py",
    ROOT / "plugins/communicators/creation.py",
    ROOT / "plugins/communicators/nccl.py",
]


def chain(node):
    """The text of what an attribute is taken of, and the names, as far as they are plain."""
    names = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return ast.unparse(node), names


def split(node):
    """Root and names, where the root may be `self.cupy` or the like."""
    root, names = chain(node)
    for count in range(len(names), -1, -1):
        text = ".".join([root, *names[:count]])
        if text in CUPY or text in CUDA or text in ARRAYS or text in OBJECTS:
            return text, names[count:]
    return root, names


def imported(node):
    """The module that an expression `import_module("cupyx...")` gives, or None."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
        (name,) = node.args
        if isinstance(name, ast.Constant) and name.value.startswith("cupy"):
            return importlib.import_module(name.value)
    return None


def outermost(tree):
    """The attributes that are no part of others, each with the call that is made of it."""
    called = {n.func: n for n in ast.walk(tree) if isinstance(n, ast.Call)}
    inner = {n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner:
            yield node, called.get(node)


@cache
def signature(function):
    """That of a function, read from what Cython writes into its documentation where need be."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        pass
    first = (function.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    found = re.match(r"(?:[\w.]+\.)?\w+\((.*)\)", first)
    if found is None:
        return None
    parameters, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in re.sub(r"\([^()]*\)", "()", found[1]).split(","):
        part = part.strip()
        if part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif part.startswith("**"):
            parameters.append(inspect.Parameter(part[2:], inspect.Parameter.VAR_KEYWORD))
        elif part.startswith("*"):
            parameters.append(inspect.Parameter(part[1:], inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        elif part and part not in ("self", "/"):
            name, _, default = part.partition("=")
            name = name.split(":")[0].split()[-1]
            value = default or inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, kind, default=value))
    parameters = [p for p in parameters if p.name != "self"]
    return inspect.Signature(parameters)


def wrong_call(function, call):
    """What does not fit of a call, or None."""
    import cupy

    if isinstance(function, cupy.ufunc):
        known = {"out", "where", "axes", "axis", "keepdims", "casting", "order", "dtype", "subok"}
        unknown = {k.arg for k in call.keywords if k.arg} - known
        return f"a ufunc takes no {unknown}" if unknown else None
    found = signature(function)
    spread = any(isinstance(a, ast.Starred) for a in call.args)
    if found is None or spread or any(k.arg is None for k in call.keywords):
        return None
    try:
        found.bind(*call.args, **{k.arg: None for k in call.keywords})
    except TypeError as error:
        return f"{error}: {found}"
    return None


def uses(path):
    """What a file names of CuPy: the line, what it is, and the call of it, if it is called."""
    import cupy

    tree = ast.parse(path.read_text())
    for node, call in outermost(tree):
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        module = imported(base)
        text, names = split(node)
        if module is not None:
            names, found = chain(node)[1], module
        elif text in CUPY:
            found = cupy
        elif text in CUDA and hasattr(cupy.cuda, names[0] if names else ""):
            found = cupy.cuda
        elif path.name in ("graphs.py", "backend.py") and text in OBJECTS and names:
            found = getattr(cupy.cuda, OBJECTS[text])
        else:
            continue
        where = f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for i, name in enumerate(names):
            last = i == len(names) - 1
            try:
                is_there = hasattr(found, name)
            except ImportError:  # what CuPy loads then, as cuBLAS, is not installed
                yield where, None
                break
            if not is_there:
                yield where, f"{found!r} has no {name!r}"
                break
            found = getattr(found, name)
            if last and call is not None:
                said = wrong_call(found, call)
                if said is not None and text in OBJECTS:  # where `self` is among the parameters
                    said = wrong_call(found, ast.Call(node, [node, *call.args], call.keywords))
                yield where, said
            elif last:
                yield where, None


@pytest.mark.parametrize("path", OURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_of_cupy_is_there_and_is_called_as_it_wants_to_be(path):
    found = list(uses(path))
    assert not [f"{where}: {said}" for where, said in found if said]


def test_enough_is_looked_at():
    assert sum([len(list(uses(path))) for path in OURS]) > 60


def test_what_is_asked_of_arrays_is_there():
    import cupy

    asked, missing = 0, []
    for name in ("backend", "uploader", "fusion", "updates", "random"):
        path = ROOT / f"backends/cuda_backend/{name}.py"
        for node, _ in outermost(ast.parse(path.read_text())):
            text, names = split(node)
            if text in ARRAYS and names:
                asked += 1
                if not hasattr(cupy.ndarray, names[0]):
                    missing.append(f"{path.name}:{node.lineno}: {text}.{names[0]}")
    assert asked > 20
    assert not missing


def test_what_detects_waiting_warns_as_the_tests_on_gpus_expect():
    import cupyx

    with pytest.warns(UserWarning, match="allow_synchronize"), cupyx.allow_synchronize(False):
        assert issubclass(cupyx.DeviceSynchronized, RuntimeError)


def test_which_dtypes_the_error_function_has():
    import cupyx.scipy.special

    assert cupyx.scipy.special.erf.types == ["e->d", "f->f", "d->d"]


def test_a_wrong_name_and_a_wrong_call_are_seen():
    from backends.cuda_backend.backend import CudaBackend

    xp = CudaBackend().xp
    for text in ("f(x, axsi=1)", "f()"):
        assert wrong_call(inspect.unwrap(xp.sum), ast.parse(text, mode="eval").body)
    assert wrong_call(xp.exp, ast.parse("f(x, axsi=1)", mode="eval").body)
    assert not wrong_call(xp.exp, ast.parse("f(x, out=y)", mode="eval").body)
    assert wrong_call(xp.RawKernel, ast.parse("f(x, y, option=1)", mode="eval").body)


def namespace_calls():
    """All calls of the namespace in what operations, links and optimizers compute."""
    for path in sorted((ROOT / "plugins").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            root, names = chain(node.func)
            if "xp" in (found := [root, *names])[:-1]:  # as of `weight.xp` too
                names = found[found.index("xp") + 1 :]
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}", names, node


def test_what_formulas_call_is_in_the_namespace():
    from backends.cuda_backend.backend import CudaBackend

    xp, wrong, count = CudaBackend().xp, [], 0
    for where, names, call in namespace_calls():
        found = xp
        for name in names:
            found = getattr(found, name, None)
            if found is None:
                break
        count += 1
        said = "is not there" if found is None else wrong_call(inspect.unwrap(found), call)
        if said and "device" not in said:  # which the backend's namespace takes itself
            wrong.append(f"{where}: {said}")
    assert count > 800
    assert not wrong, "\n".join(wrong)


def test_what_says_how_exact_products_are_is_there():
    from cupy._core import _routines_linalg as of

    said = (ROOT / "backends/cuda_backend/products.py").read_text()
    tree, asked = ast.parse(said), set()
    for node, call in outermost(tree):
        if ast.unparse(node.value) == "of":
            asked.add(node.attr)
            assert call is None or wrong_call(getattr(of, node.attr), call) is None
    assert {"get_compute_type", "set_compute_type", "COMPUTE_TYPE_TF32"} == asked
    assert all([hasattr(of, name) for name in asked])
