"""Names of other libraries, and names that existed before, answered with what to write here."""

from __future__ import annotations

import re

from core.errors.names_of_others import TABLE as TABLE

_MODE = "Use `with core.using_config('train', False):`."
_NO_CUDNN = "Leave it out: core.config has use_cudnn and cudnn_deterministic."

REMOVED: dict[str, tuple[tuple[str, ...], str]] = {
    "train": ((), _MODE),
    "test": ((), _MODE),
    "use_cudnn": ((), _NO_CUDNN),
    "deterministic": ((), _NO_CUDNN),
    "volatile": ((), "Use `with core.no_backprop_mode():`."),
    "wscale": (
        ("initialW", "conv_init"),
        "Give {}=initializers.HeNormal(scale / math.sqrt(2)), or LeCunNormal(scale).",
    ),
    "bias": (("initial_bias",), "Give {}, or nobias=True for none."),
}
"""Arguments that existed before -> the arguments one of which functions have that had it, () for
all functions, and the sentence that says what to write instead, {} being that argument."""

_THEANO = (
    "Theano ended in 2017 and does not run on today's NumPy. Write the function as a "
    "core.FunctionNode, or import its model from ONNX by core.links.ONNXModel."
)

GONE = {"links": {"TheanoFunction": _THEANO}, "functions": {"theano_function": _THEANO}}
"""Names that existed before, by where they were -> why they are gone, and what to write instead."""

NEEDLESS = {
    "allow_unused": " Leave it out: an input that nothing depends on gets None.",
    "inplace": " Leave it out: functions change no array, and give new ones.",
    "retain_graph": " Leave it out: a graph stays as long as a result leads to it.",
}
"""Arguments of other libraries for which there is no other here -> end of the sentence."""


def folded(name: str) -> str:
    """A name without what tells apart spellings of one word: case and underscores.

    >>> folded("BatchNorm2d") == folded("batch_norm_2d")
    True
    """
    return name.replace("_", "").casefold()


def spellings(name: str) -> list[str]:
    """A name as tables may have it, folded: as it is, not lazy, without a number of axes.

    >>> spellings("LazyBatchNorm2d")
    ['lazybatchnorm2d', 'batchnorm2d', 'lazybatchnorm', 'batchnorm']
    """
    word = folded(name)
    return [
        each.removeprefix(start)
        for each in (word, re.sub(r"[123]d$", "", word))
        for start in ("", "lazy")
    ]


_FOLDED = {
    kind: {folded(name): ours for name, ours in names.items()} for kind, names in TABLE.items()
}


def ours(name: str, kind: str, known: dict[str, str]) -> str:
    """What to write for another library's name, or ''; a name of ours is one of `known`, folded."""
    found = _FOLDED.get(kind, {}).get(folded(name), ())
    for target in (found,) if isinstance(found, str) else found:
        answer, _, beside = target.partition(" if ")
        own = answer.partition("=")[0]
        if own.isidentifier() and not {folded(each) for each in (own, beside) if each} <= {*known}:
            continue
        return answer
    return ""


def quoted(target: str) -> str:
    """A name in quotes, an expression as it is."""
    return repr(target) if target.isidentifier() else target
