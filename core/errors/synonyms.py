"""Names of other libraries, and names that existed before, answered with what to write here."""

from __future__ import annotations

import re
from typing import Any

from core.errors.exceptions import UnknownName
from core.errors.known_attributes import names_attribute
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


SET = {
    "Link": {
        "trainable": "Call disable_update() or enable_update().",
        "training": "Use `with core.using_config('train', False):`.",
    }
}
"""Names of other libraries that are set there, by class -> what to do here."""


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


class NameOfOthers:
    """A method that another library has on such objects: an error that says what to write.

    Of several names that is the first which the object has, and the last in any case.
    """

    def __init__(self, name: str, *ours: str) -> None:
        self.name = name
        self.ours = ours

    def __get__(self, owner: Any, cls: type) -> Any:
        for base in cls.__mro__:  # a class beside the link may well have it
            other = base.__dict__.get(self.name, self)
            if type(other) is not type(self):
                return other.__get__(owner, cls) if hasattr(other, "__get__") else other
        *first, last = self.ours
        ours = next((each for each in first if hasattr(owner, each)), last)
        raise UnknownName(f"{cls.__name__} has no {self.name!r}. Did you mean {quoted(ours)}?")


class SettingOfOthers(NameOfOthers):
    """An attribute that another library has on such objects, which to set would change nothing.

    A class that annotates it, or names it in a method, has one of its own.
    """

    def __init__(self, name: str, ours: str, cure: str) -> None:
        super().__init__(name, ours)
        self.cure = cure

    def __get__(self, owner: Any, cls: type) -> Any:
        own = {} if owner is None else owner.__dict__
        return own[self.name] if self.name in own else super().__get__(owner, cls)

    def __set__(self, owner: Any, value: Any) -> None:
        cls = type(owner)
        base = next(each for each in cls.__mro__ if each.__dict__.get(self.name) is self)
        if self.name not in owner.__dict__ and not names_attribute(cls, self.name, base):
            raise UnknownName(
                f"{cls.__name__} has no {self.name!r}, and to set it would change nothing. "
                f"{self.cure}"
            )
        owner.__dict__[self.name] = value


class RemovedAttribute(NameOfOthers):
    """An attribute that objects once had: to read it or to set it is an error that has the cure."""

    def __init__(self, cure: str) -> None:
        self.cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type) -> Any:
        raise UnknownName(f"{cls.__name__}.{self.name} no longer exists. {self.cure}")

    def __set__(self, owner: Any, value: Any) -> None:
        self.__get__(owner, type(owner))


def refuse_names_of_others(cls: type) -> None:
    """Let attributes of `cls` that other libraries have be refused with what to write."""
    for name, ours in TABLE[cls.__name__].items():
        cure = SET.get(cls.__name__, {}).get(name)
        names = (ours,) if isinstance(ours, str) else ours
        made = SettingOfOthers(name, names[0], cure) if cure else NameOfOthers(name, *names)
        setattr(cls, name, made)


def real_names(owner: object) -> list[str]:
    """The attributes of an object without those that are there only to be refused."""
    own, names = getattr(owner, "__dict__", ()), object.__dir__(owner)
    return [name for name in names if name in own or not _is_refused(type(owner), name)]


def _is_refused(cls: type, name: str) -> bool:
    found = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)
    return isinstance(found, NameOfOthers)
