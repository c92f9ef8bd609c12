"""What is registered refuses arguments of another kind than it annotates, where it is made."""

import inspect

import pytest

import core
from core.errors.kinds import MISSING, kind_of
from core.registry.kinds import FACADES

KINDS = [kind for kind in FACADES if kind not in ("functions", "links", "optimizers")]
SAMPLES = (1, 0.5, True, "a", (1, 1), ("a",), print)


def parameters(made):
    """Its own parameters with the kinds that their annotations say."""
    function = made.__init__ if inspect.isclass(made) else made
    module = getattr(inspect.unwrap(function), "__module__", made.__module__)
    found = [p for p in inspect.signature(made).parameters.values() if p.annotation is not p.empty]
    return [(p, kind_of(p.annotation, module, MISSING)) for p in found]


def right(kind):
    return object() if kind.anything else next(s for s in SAMPLES if kind.takes(s))


def cases():
    for room in KINDS:
        for name in core.registry.catalogue(room).names():
            made = core.registry.catalogue(room).get(name)
            if not callable(made) or inspect.isclass(made) and issubclass(made, Exception):
                continue
            found = parameters(made)
            for parameter, kind in found:
                if kind.types & {int, float, bool}:
                    wrong = 0.5j if kind.takes("no") else "no"
                    label = f"{room}-{name}-{parameter.name}"
                    yield pytest.param(made, found, parameter, wrong, id=label)


@pytest.mark.parametrize(("made", "found", "parameter", "wrong"), [*cases()])
def test_another_kind_is_refused_by_name(made, found, parameter, wrong):
    given, named = [], {}
    for other, its in found:
        if other is parameter and other.default is not other.empty:
            named[other.name] = wrong
        elif other.default is other.empty and other.kind is other.POSITIONAL_OR_KEYWORD:
            given.append(wrong if other is parameter else right(its))
    with pytest.raises((TypeError, ValueError), match=rf"expected .*\b{parameter.name}\b.*got"):
        made(*given, **named)
