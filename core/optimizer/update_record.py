"""What a file of an optimizer's state says of the rules that the state belongs to.

It is JSON: a list of groups, each with the class of its rules, the names of what they keep, their
hyper-parameters, whether they are frozen, what hooks they have, the optimizer's among them, with
their numbers, and the paths of their parameters. State is taken for a
rule of the same class name (or of one that `UpdateRule.continues` says) that keeps the same.
Hyper-parameters are there to be read: a script may change them from run to run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.optimizer.update_hooks import HookTable
    from core.optimizer.update_rule import UpdateRule


def record(rules: Mapping[str, UpdateRule], hooks: HookTable) -> str:
    """The text for rules by the paths of their parameters, and the hooks of the optimizer.

    >>> from core import optimizers
    >>> from core.optimizer.update_hooks import HookTable
    >>> rules = {"/W": optimizers.SGD(0.5).create_update_rule()}
    >>> [group] = json.loads(record(rules, HookTable("SGD")))
    >>> group["rule"], group["state"], group["hyperparameters"], group["frozen"]
    ('SGDRule', [], {'lr': 0.5}, False)
    """
    groups = [
        {
            "rule": type(rule).__name__,
            "state": rule._initial_names(),
            "hyperparameters": rule.hyperparam.get_dict(),
            "frozen": not rule.enabled,
            "hooks": hooks.settings() | rule._hooks.settings(),
            "parameters": paths,
        }
        for rule, paths in _alike(rules)
    ]
    return json.dumps(groups, default=repr)


def misfit(rules: Mapping[str, UpdateRule], text: str) -> str:
    """What keeps state with the record `text` from being that of `rules`; '' if nothing does."""
    stored = {path: group for group in json.loads(text) for path in group["parameters"]}
    for rule, paths in _alike(rules):
        names = rule._initial_names()
        for path in filter(stored.__contains__, paths):
            group = stored[path]
            same = rule.continues(group["rule"], group["hyperparameters"])
            if not same or set(group["state"]) != set(names):
                values = ", ".join(f"{k}={v!r}" for k, v in group["hyperparameters"].items())
                return (
                    f"{rule!r}, which keeps {_listed(names)}, expected as what updates {path}; the "
                    f"state in the file is that of {group['rule']}({values}), "
                    f"{_listed(group['state'])}"
                )
    return ""


def changes(rules: Mapping[str, UpdateRule], hooks: HookTable, text: str) -> list[str]:
    """What is not as in the record `text`: hyper-parameters, hooks, and what is frozen.

    >>> from core import optimizers
    >>> from core.optimizer.update_hooks import HookTable
    >>> rules, hooks = {"/W": optimizers.SGD(0.5).create_update_rule()}, HookTable("SGD")
    >>> changes(rules, hooks, record(rules, hooks).replace("0.5", "0.25").replace("false", "true"))
    ['lr=0.5 (0.25 in the file)', '/W not frozen (frozen in the file)']
    """
    stored = {path: group for group in json.loads(text) for path in group["parameters"]}
    numbers: dict[str, None] = {}
    turned: dict[bool, list[str]] = {True: [], False: []}
    for group in json.loads(record(rules, hooks)):
        for path in filter(stored.__contains__, group["parameters"]):
            before = stored[path]["hyperparameters"]
            for name, value in group["hyperparameters"].items():
                if before.get(name, value) != value:
                    numbers[f"{name}={value!r} ({before[name]!r} in the file)"] = None
            numbers |= dict.fromkeys(_of_hooks(group["hooks"], stored[path].get("hooks")))
            if stored[path].get("frozen", group["frozen"]) != group["frozen"]:
                turned[group["frozen"]].append(path)
    words = {True: "frozen (not so in the file)", False: "not frozen (frozen in the file)"}
    return [*numbers, *[f"{few(turned[now])} {words[now]}" for now in words if turned[now]]]


def _of_hooks(
    present: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]] | None
) -> list[str]:
    """What hooks are others now, and their numbers; older files say nothing of them."""
    if before is None:
        return []
    texts = [f"{name} (no hook in the file)" for name in present if name not in before]
    texts += [f"no {name} (a hook in the file)" for name in before if name not in present]
    for name in filter(before.__contains__, present):
        for key, value in present[name].items():
            old = before[name].get(key, value)
            if old != value:
                texts.append(f"{name}.{key}={value!r} ({old!r} in the file)")
    return texts


def few(paths: list[str], shown: int = 4) -> str:
    """The first of the paths, and how many more there are."""
    more = len(paths) - shown
    return ", ".join(paths[:shown]) + (f" and {more} more" if more > 0 else "")


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"


def _alike(rules: Mapping[str, UpdateRule]) -> list[tuple[UpdateRule, list[str]]]:
    """The first of rules of one class and one set of numbers, frozen or not, with all paths."""
    found: dict[Any, tuple[UpdateRule, list[str]]] = {}
    for path, rule in rules.items():
        key = type(rule), repr(rule.hyperparam), rule.enabled, repr(rule._hooks.settings())
        found.setdefault(key, (rule, []))[1].append(path)
    return list(found.values())
