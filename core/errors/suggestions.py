"""What is offered instead of a name that is not known: the nearest, or what took its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.errors.exceptions import RemovedArgument
from core.errors.synonyms import NEEDLESS, REMOVED, folded, ours, quoted, spellings


def nearest(
    name: str, known: Iterable[str], kind: str = "", elsewhere: Mapping[str, str] | None = None
) -> str:
    """End of a sentence that offers the nearest of `known`, or nothing where none is near.

    Case does not count, and a name may be how another begins or ends. With a `kind` of
    `core.errors.synonyms.TABLE` the names of other libraries are known too. `elsewhere` maps names
    of other places, folded, to what is written there.

    >>> nearest("rleu", ["relu", "tanh"]), nearest("ReLU", ["relu", "tanh"])
    (" Did you mean 'relu'?", " Did you mean 'relu'?")
    >>> nearest("mse_loss", ["mean_squared_error"], "functions")
    " Did you mean 'mean_squared_error'?"
    >>> nearest("zzz", ["relu", "tanh"])
    ''
    """
    import difflib

    capital = name[:1].isupper() and kind != "functions"  # there a function is meant, not its class
    alike = sorted(known, key=lambda each: (each[:1].isupper() == capital, each))
    spelt = {folded(each): each for each in alike}
    for word in spellings(name):
        if word in spelt:
            return f" Did you mean {spelt[word]!r}?"
        other = ours(word, kind, spelt) or (elsewhere or {}).get(word)
        if other:
            return f" Did you mean {quoted(other)}?"
    word, n = folded(name), len(name)
    near = [each for each in spelt if sorted(each) == sorted(word)]  # letters exchanged
    near = near or sorted([each for each in spelt if n > 2 and each.startswith(word)], key=len)
    near = near or sorted([each for each in spelt if n > 4 and each.endswith(word)], key=len)
    cutoff = 0.7 if n > 2 else 0.6  # of two letters one may be wrong
    near = near or difflib.get_close_matches(word, list(spelt), n=1, cutoff=cutoff)
    return f" Did you mean {spelt[near[0]]!r}?" if near else ""


def refuse_unknown(
    where: str,
    given: Iterable[str],
    known: Iterable[str] = (),
    cures: Mapping[str, str] | None = None,
) -> None:
    """Raise for the first of the keywords `given` to `where`, with its cure if it was taken once.

    `known` are the arguments that there are: the nearest is offered for a slip. `cures` maps
    removed arguments, beside those of `core.errors.synonyms.REMOVED`, to the sentence that says
    what to write instead.
    """
    known = list(known)
    removed = {
        name: cure.format(*[each for each in now if each in known])
        for name, (now, cure) in REMOVED.items()
        if not now or {*now} & {*known}
    }
    removed |= cures or {}
    for key in given:
        if key in removed:
            raise RemovedArgument(f"{where}: the argument {key!r} no longer exists. {removed[key]}")
        hint = NEEDLESS.get(key) or nearest(key, known, "arguments")
        hint = hint or f" It takes {', '.join(known) or 'no arguments'}."
        raise TypeError(f"{where}: unexpected keyword argument {key!r}.{hint}")
