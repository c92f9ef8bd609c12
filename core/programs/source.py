"""Programs as modules of Python that need NumPy alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.arrays.backend import host
from core.errors import TraceError
from core.programs.equation import Call, Value
from core.programs.place import Place
from core.programs.recorded import Recorded, in_memory_order
from core.programs.structure import Leaf, rebuilt
from core.programs.text import Writer, numpys

_HEAD = '''\
"""{name}, as plugrad's core.trace has recorded it."""

import base64

import numpy as np
'''

_IN_PLACE = """\
def {name}(array, other):
    array = array.copy(order="K")
    array {sign}= other
    return array
"""

_CHANGES = {
    "set_item": """\
def set_item(array, index, value):
    array = array.copy(order="K")
    array[index] = value
    return array
""",
    "copyto": """\
def copyto(array, value):
    array = array.copy(order="K")
    np.copyto(array, value, casting="unsafe")
    return array
""",
    "scatter_add": """\
def scatter_add(array, index, values):
    array = array.copy(order="K")
    parts = index if isinstance(index, tuple) else (index,)
    if all(part is None or part is ... or isinstance(part, (int, slice)) for part in parts):
        array[index] += values
    else:
        np.add.at(array, index, values)
    return array
""",
    "check_within": """\
def check_within(numbers, size, told):
    wrong = np.argwhere((numbers < 0) | (numbers >= size))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        raise IndexError(f"{told}: expected numbers in [0, {size}), got {numbers[at]} at {at}.")
""",
    "windows": '''\
def windows(x, ksize, stride=1, pad=0, dilate=1, cover_all=False, pad_value=0.0):
    """All windows of x (n, c, *spatial) as a view (n, c, *ksize, *out)."""
    shape = x.shape[2:]
    ksize, stride, pad, dilate = per_axis(len(shape), ksize, stride, pad, dilate)
    more = [s - 1 if cover_all else 0 for s in stride]
    out = [
        (n + 2 * p - (k - 1) * d - 1 + m) // s + 1
        for n, k, s, p, d, m in zip(shape, ksize, stride, pad, dilate, more)
    ]
    reach = [(k - 1) * d + (o - 1) * s + 1 for k, d, o, s in zip(ksize, dilate, out, stride)]
    after = [max(p, r - n - p) for p, r, n in zip(pad, reach, shape)]
    if any(pad) or any(after):
        sizes = [p + n + a for p, n, a in zip(pad, shape, after)]
        padded = np.full((*x.shape[:2], *sizes), pad_value, x.dtype)
        padded[(..., *[slice(p, p + n) for p, n in zip(pad, shape)])] = x
        x = padded
    steps = x.strides[2:]
    inside = [step * d for step, d in zip(steps, dilate)]
    along = [step * s for step, s in zip(steps, stride)]
    shape, strides = (*x.shape[:2], *ksize, *out), (*x.strides[:2], *inside, *along)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)
''',
    "fold": '''\
def fold(windows, size, stride=1, pad=0, dilate=1):
    """Windows (n, c, *ksize, *out) summed into (n, c, *size)."""
    ndim = len(size)
    ksize, out = windows.shape[2 : 2 + ndim], windows.shape[2 + ndim :]
    stride, pad, dilate = per_axis(ndim, stride, pad, dilate)
    reach = [(k - 1) * d + (o - 1) * s + 1 for k, d, o, s in zip(ksize, dilate, out, stride)]
    whole = [p + n + max(p, r - n - p) for p, n, r in zip(pad, size, reach)]
    image = np.zeros((*windows.shape[:2], *whole), windows.dtype)
    for place in np.ndindex(*ksize):
        at = [
            slice(i * d, i * d + (o - 1) * s + 1, s)
            for i, d, o, s in zip(place, dilate, out, stride)
        ]
        image[(slice(None), slice(None), *at)] += windows[(slice(None), slice(None), *place)]
    return image[(slice(None), slice(None), *[slice(p, p + n) for p, n in zip(pad, size)])]
''',
    "per_axis": """\
def per_axis(ndim, *values):
    return [(v,) * ndim if np.ndim(v) == 0 else tuple(v) for v in values]
""",
    "constant": """\
def constant(text, dtype, shape, axes):
    array = np.frombuffer(base64.b64decode(text), dtype)
    return array.reshape(shape).transpose(axes)
""",
    "random": '''\
class random:
    """Draws as plugrad makes them: from NumPy's global generator, or after `seed(n)` in blocks."""

    keys = None

    @staticmethod
    def seed(n, draws=0):
        random.keys = ((n & (1 << 64) - 1) | (i << 64) for i in range(draws, 1 << 64))

    @staticmethod
    def generator():
        if random.keys is None:
            return None
        return np.random.Generator(np.random.Philox(key=next(random.keys)))

    @staticmethod
    def unit(shape, dtype):
        generator = random.generator()
        if generator is None:
            return np.asarray(np.random.random_sample(shape))
        single = np.dtype(dtype).itemsize <= 4
        return np.asarray(generator.random(shape, dtype=np.float32 if single else np.float64))

    @staticmethod
    def normal(shape=(), dtype="float32"):
        draw = (random.generator() or np.random).standard_normal
        return np.asarray(draw(shape)).astype(dtype, copy=False)

    @staticmethod
    def uniform(shape=(), dtype="float32", low=0.0, high=1.0):
        dtype, unit = np.dtype(dtype), random.unit(shape, dtype)
        drawn = (unit if (low, high) == (0.0, 1.0) else unit * (high - low) + low).astype(dtype)
        return np.asarray(np.minimum(drawn, np.nextafter(dtype.type(high), dtype.type(low))))

    @staticmethod
    def bernoulli(p, shape=()):
        return np.asarray(random.unit(shape, "float32") >= 1.0 - p)

    @staticmethod
    def permutation(n):
        return np.asarray((random.generator() or np.random).permutation(n))

    @staticmethod
    def integers(low, high, shape=()):
        generator = random.generator()
        draw = np.random.randint if generator is None else generator.integers
        return np.asarray(draw(low, high, shape))
''',
}

_SIGNS = {
    "iadd": "+",
    "isub": "-",
    "imul": "*",
    "itruediv": "/",
    "ifloordiv": "//",
    "imod": "%",
    "ipow": "**",
    "imatmul": "@",
    "iand": "&",
    "ior": "|",
    "ixor": "^",
    "ilshift": "<<",
    "irshift": ">>",
    "add_in_place": "+",
}


def source(program: Recorded) -> str:
    """The text of a module; see `Program.source`."""
    for equation in program.flat():
        if equation.call.kind == "kernel":
            raise TraceError(
                f"{program.name}.source: {equation.call.name} is a kernel of {program.backend}, "
                "which NumPy alone does not have. Trace without kernels."
            )
    names = program.names()
    writer = Writer(names.__getitem__, _literal)
    body = [f"    {line}".rstrip() for line in _body(program, names, writer)]
    constants = [
        f"{names[value]} = {_constant(array)}\n" for value, array in program.constants.items()
    ]
    needed = _needed(program)
    if any(["constant(" in line for line in constants]):
        needed.append("constant")
    helpers = [_helper(name) for name in needed]
    given = [f"a{i}" for i in range(len(program.form))] + ["places"] * bool(program.places)
    head = _HEAD.format(name=program.name)
    if "constant" not in needed:
        head = head.replace("import base64\n\n", "")
    definition = f"def program({', '.join(given)}):\n" + "\n".join(body) + "\n"
    return "\n\n".join(filter(None, [head, *helpers, "".join(constants), definition]))


def _body(program: Recorded, names: dict[Value, str], writer: Writer) -> Iterator[str]:
    yield '"""Arguments and results are those of the function that was traced.'
    if program.places:
        yield ""
        yield f"`places` maps {', '.join([place.name for place in program.places])} to arrays."
    if program.changes:
        yield ""
        yield "Gives the result, and what is changed, by name."
    yield '"""'
    for i, form in enumerate(program.form):
        for leaf, path in _leaves(form, f"a{i}"):
            yield f"{names[program.inputs[leaf.number]]} = {path}"
    for place in program.places:
        yield f"{names[place.value]} = places[{place.name!r}]"
    before = None
    for equation in program.flat():
        if equation.origin != before and str(equation.origin):
            yield f"# {equation.origin}"
        before = equation.origin
        left = ", ".join([names[value] for value in equation.outputs])
        comma = "," if equation.several and len(equation.outputs) == 1 else ""
        right = writer.expression(equation)
        yield f"{left}{comma} = {right}" if left else right
    arrays = [f"np.asarray({names[value]})" for value in program.outputs]
    result = _structure(program.result, arrays)
    if program.changes:
        changed = {
            target.name if isinstance(target, Place) else f"argument array {target}": names[value]
            for target, value in program.changes
        }
        result += ", {" + ", ".join([f"{k!r}: {v}" for k, v in changed.items()]) + "}"
    yield f"return {result}"


def _leaves(form: Any, path: str) -> Iterator[tuple[Leaf, str]]:
    if isinstance(form, Leaf):
        yield form, path
    elif isinstance(form, dict):
        for key, part in form.items():
            yield from _leaves(part, f"{path}[{key!r}]")
    elif isinstance(form, (tuple, list)):
        for i, part in enumerate(form):
            yield from _leaves(part, f"{path}[{i}]")


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _structure(form: Any, arrays: list[str]) -> str:
    """The text of a structure; a tuple with names becomes a plain one."""

    def plain(part: Any) -> Any:
        if isinstance(part, tuple) and not isinstance(part, Leaf):
            return tuple(map(plain, part))
        if isinstance(part, list):
            return list(map(plain, part))
        if isinstance(part, dict):
            return {key: plain(each) for key, each in part.items()}
        return part

    return repr(rebuilt(plain(form), lambda leaf: _Text(arrays[leaf.number])))


def _needed(program: Recorded) -> list[str]:
    """The helpers that the equations call, those first that others call."""
    found: dict[str, None] = {}
    for equation in program.flat():
        call = equation.call
        if call.name in ("windows", "fold"):
            found["per_axis"] = None
        if call.kind == "random":
            found["random"] = None
        elif call.kind in ("change", "backend"):
            found[_refused_or(call)] = None
    return list(found)


def _refused_or(call: Call) -> str:
    if call.name not in _CHANGES and call.name not in _SIGNS:
        raise TraceError(f"source: {call.name} is not to be had in NumPy alone.")
    return call.name


def _helper(name: str) -> str:
    if name in _SIGNS:
        return _IN_PLACE.format(name=name, sign=_SIGNS[name])
    return _CHANGES[name]


def _literal(x: Any) -> str:
    text = numpys(x)
    if text is None:
        raise TraceError(f"source: {x!r} has no text that needs NumPy alone.")
    return text


def _constant(array: Any) -> str:
    xp = host().xp
    if isinstance(array, xp.generic):
        return numpys(array) or _packed(xp.asarray(array)) + "[()]"
    return _packed(array)


def _packed(array: Any) -> str:
    import base64

    if numpys(array.dtype) is None:
        raise TraceError(f"source: NumPy has no {array.dtype} of its own.")
    if array.ndim == 0:
        scalar = numpys(array[()])
        if scalar is not None:
            return f"np.asarray({scalar})"
    lying, axes = in_memory_order(array)
    text = base64.b64encode(lying.tobytes()).decode()
    return f'constant("{text}", {array.dtype.name!r}, {lying.shape}, {axes})'
