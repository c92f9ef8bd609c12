"""`plugrad watch` and `plugrad report`: folders of results as a page, served or in a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import CoreError
from core.show.report import Report

if TYPE_CHECKING:
    from plugrad.runs.reader import Reader
    from plugrad.runs.server import Server

PORT = 8686


def watch(folders: Sequence[str], host: str, port: int | None, public: bool) -> Report:
    """Serve the page until it is interrupted."""
    from plugrad.runs.reader import Reader
    from plugrad.runs.server import is_loopback

    reader = Reader(_folders(folders))
    if not is_loopback(host) and not public:
        raise CoreError(
            f"{host} is not the loopback: whoever reaches this machine could read the results, "
            "without a password and unencrypted. Leave --host out and forward the port, as by "
            f"`ssh -L {port or PORT}:localhost:{port or PORT} MACHINE`, or add --public."
        )
    server = _served(reader, host, port)
    if public:
        print("Everybody who reaches this machine can read these results.", file=sys.stderr)
    print(f"{server.url} shows {', '.join(folders)}; Ctrl-C ends it.", file=sys.stderr, flush=True)
    url = server.url
    with suppress(KeyboardInterrupt), server:
        server.serve_forever()
    return Report({"url": url}, "")


def _served(reader: Reader, host: str, port: int | None) -> Server:
    """At the port, or where none is asked for at the usual one, if it is free."""
    from plugrad.runs.server import Server

    try:
        if port is None:
            with suppress(OSError):
                return Server(reader, host, PORT)
        return Server(reader, host, port or 0)
    except (OSError, OverflowError) as error:
        raise CoreError(f"cannot serve at {host}, port {port or PORT}: {error}") from error


def report(folders: Sequence[str], output: str) -> Report:
    """Write the page with all that it shows."""
    from plugins.serializers.atomic import replacing
    from plugrad.runs.page import report as whole
    from plugrad.runs.reader import Reader

    reader = Reader(_folders(folders))
    text = whole(reader)
    try:
        with replacing(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CoreError(f"cannot write {output}: {error.strerror or error}") from error
    size = os.path.getsize(output)
    said, runs = f"Written to {output}, {size / 1000:,.0f} kB.", len(reader.read()["runs"])
    if not runs:
        said += f" There is no run in {', '.join(folders)}: expected a log or a record of one."
    return Report({"file": output, "bytes": size, "runs": runs}, said)


def _folders(names: Sequence[str]) -> list[Path]:
    for name in names:
        if not os.path.isdir(name):
            raise CoreError(
                "expected the folder that a training writes to, as Trainer(out=...) names it; "
                f"found no folder {name!r}."
            )
    return [Path(name) for name in names]
