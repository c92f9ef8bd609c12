"""Write what Chainer's initializers make of NumPy's global generator.

Run it with the Python of an environment that has Chainer 7.8.1 (and NumPy 1):

    python tests/oracles/record_initializers.py tests/data/oracle/initializers.json

Each case has the initializer, its arguments, a shape, and the elements after
`numpy.random.seed(0)`, or null where the shape is refused. tests/initializers/test_initializers.py
repeats them.
"""

import inspect
import json
import sys
import warnings

import numpy as np

SHAPES = [(2, 3), (3, 2), (2, 3, 2, 1), (4,), ()]
BY_FANS = ["LeCunNormal", "GlorotNormal", "HeNormal", "LeCunUniform", "GlorotUniform", "HeUniform"]
CASES = [  # without axes Orthogonal tosses a coin, each library its own
    ("Zero", {}, SHAPES),
    ("One", {}, SHAPES),
    ("Constant", {"fill_value": 2.5}, SHAPES),
    ("Identity", {}, [(2, 2), (2, 3), (2,), (2, 2, 2)]),
    ("Identity", {"scale": 3.0}, [(3, 3)]),
    ("Normal", {}, SHAPES),
    ("Normal", {"scale": 2.0}, SHAPES),
    ("Uniform", {}, SHAPES),
    ("Uniform", {"scale": 2.0}, SHAPES),
    *[(name, {}, SHAPES) for name in BY_FANS],
    *[(name, {"scale": 2.0}, SHAPES) for name in BY_FANS],
    ("HeNormal", {"fan_option": "fan_out"}, SHAPES),
    ("Orthogonal", {}, [*SHAPES[:-1], (2, 2)]),
    *[
        ("Orthogonal", {"scale": 2.0, "mode": mode}, [(2, 3), (3, 2), (2, 2), (2, 3, 2)])
        for mode in ("auto", "projection", "embedding", "basis")
    ],
    (
        "UpsamplingDeconvFilter",
        {},
        [(1, 1, 3), (1, 1, 4), (2, 2, 3, 3), (2, 1, 4, 4), (2, 3, 4, 4)],
    ),
    (
        "DownsamplingConvFilter",
        {},
        [(1, 1, 3), (1, 1, 4), (2, 2, 3, 3), (2, 1, 4, 4), (2, 3, 4, 4)],
    ),
]


def made(name, arguments, shape):
    """The elements, or None."""
    from chainer import initializers

    np.random.seed(0)
    try:
        array = initializers.generate_array(getattr(initializers, name)(**arguments), shape, np)
    except (ValueError, AssertionError):
        return None
    return [round(value, 7) for value in np.ravel(array).tolist()]


def signatures():
    """The defaults of each initializer's arguments, in their order."""
    from chainer import initializers

    return {
        name: [
            [one.name, one.default]
            for one in inspect.signature(getattr(initializers, name)).parameters.values()
            if one.name not in ("kwargs", "fill_value")
        ]
        for name in sorted({case[0] for case in CASES})
    }


def main(path):
    """Record all."""
    warnings.simplefilter("ignore")
    cases = [
        {"initializer": name, "arguments": arguments, "shape": shape, "values": made(*case, shape)}
        for name, arguments, shapes in CASES
        for case in [(name, arguments)]
        for shape in shapes
    ]
    lines = [json.dumps(case) for case in cases]
    with open(path, "w") as file:
        file.write('{"signatures": ' + json.dumps(signatures()))
        file.write(',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1])
