"""JSON as it is found: a list, a value, or JSON lines; whole, cut off or damaged."""

from __future__ import annotations

import json
import re
from typing import Any

_BETWEEN = re.compile(r"[\s,]*")
LONGEST = 300


def documents(text: str) -> tuple[list[Any], str | None]:
    r"""The values in a list or in lines, as far as they can be read, and what is wrong.

    >>> documents('[{"a": 1}, {"a": 2}]')
    ([{'a': 1}, {'a': 2}], None)
    >>> documents('[{"a": 1}, {"a": ')
    ([{'a': 1}], 'is cut off or damaged at line 1: what stands before it is shown')
    >>> documents('{"a": 1}\noops\n{"a": 2}')
    ([{'a': 1}, {'a': 2}], 'has 1 damaged line, the first is 2')
    """
    found: list[Any] = []
    decoder = json.JSONDecoder()
    bad: list[int] = []
    text = text.lstrip("\ufeff")
    start = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    listed = text[start : start + 1] == "["
    position = start + listed
    while True:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]
        if position == len(text) or (listed and text[position] == "]"):
            break
        try:
            value, position = decoder.raw_decode(text, position)
            found.append(value)
        except (ValueError, RecursionError):
            bad.append(position)
            position = text.find("\n", position)
            if listed or position < 0:
                break
    if listed and position == len(text):  # its end is missing
        bad.append(position)
    if not bad:
        return found, None
    line = text.count("\n", 0, bad[0]) + 1
    if listed:
        return found, f"is cut off or damaged at line {line}: what stands before it is shown"
    return found, f"has {len(bad)} damaged line{'s' * (len(bad) > 1)}, the first is {line}"


def shown(value: Any, longest: int = LONGEST) -> str:
    r"""A value as one line of text that only shows what can be seen.

    >>> shown("two\nlines \u202e"), shown([1, "a"]), shown("x" * 10, 5)
    ('two\\nlines \\u202e', '[1, "a"]', 'xxxx…')
    """
    text = value if isinstance(value, str) else _as_json(value)
    text = text[: longest - 1] + "…" if len(text) > longest else text
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply)"
