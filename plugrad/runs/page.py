"""The page as one file: markup, style, script and, in a report, the data and the pictures."""

from __future__ import annotations

import base64
import copy
import hashlib
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from plugrad.runs.files import read
from plugrad.runs.reader import Reader, as_json

PARTS = Path(__file__).with_name("web")
SCRIPTS = ("base", "scales", "chart", "histogram", "pictures", "graph", "runs", "page")
MOST_EMBEDDED = 64 * 2**20


class Page(NamedTuple):
    """The text, and the policy under which it runs: nothing but its own script and style."""

    text: str
    policy: str


@cache
def _part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8")


def page(data: Any = None) -> Page:
    """The page that shows these data, or asks for them where there are none."""
    style = _part("style.css")
    script = '"use strict";\n' + "".join([_part(f"{name}.js") for name in SCRIPTS])
    images, asked = ("'self' data:", "'self'") if data is None else ("data:", "'none'")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"img-src {images}; connect-src {asked}; base-uri 'none'; form-action 'none'"
    )
    text = _part("page.html")
    # The data last: what they hold is looked for no marker.
    for marker, content in {"policy": policy, "style": style, "script": script}.items():
        text = text.replace(f"{{{{{marker}}}}}", content)
    before, _, after = text.partition("{{data}}")
    return Page(before + as_json(data) + after, policy)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def report(reader: Reader) -> str:
    """The page of what a reader finds, with its pictures in it."""
    data = {**copy.deepcopy(reader.read()), "written": int(time.time())}
    left = 0
    budget = MOST_EMBEDDED
    for run in data["runs"]:
        for group in run["pictures"]:
            for frame in reversed(group["frames"]):  # the last ones first
                picture = reader.pictures[frame["picture"]]
                try:
                    content = read(picture.path, budget + 1)
                except OSError:
                    content = b""
                if not content or len(content) > budget:
                    left += 1
                    continue
                budget -= len(content)
                encoded = base64.b64encode(content).decode()
                frame["picture"] = f"data:{picture.type};base64,{encoded}"
            group["frames"] = [f for f in group["frames"] if f["picture"].startswith("data:")]
        run["pictures"] = [group for group in run["pictures"] if group["frames"]]
    if left:
        data["problems"].append(f"{left} pictures are left out: they are too large, or gone.")
    return page(data).text
