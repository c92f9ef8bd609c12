"""The page on the loopback: three addresses, read only.

    /              the page
    /data          what is known of the runs, as JSON
    /picture/KEY   a picture, by the key that the data give it: no path comes from outside

A page of another site must not read it: its own address is refused in `Host`, which is what is
left to a name that is made to lead here (DNS rebinding), and no header allows other origins.
"""

from __future__ import annotations

import hashlib
import ipaddress
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import urlsplit

from plugrad.runs.files import read
from plugrad.runs.page import page
from plugrad.runs.reader import Reader, as_json

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach the address, or what the name stands for.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all([_address_is_loopback(str(address)) for address in found])


def _address_is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


class Server(ThreadingHTTPServer):
    """Serve the runs of a reader at an address; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, reader: Reader, host: str = "127.0.0.1", port: int = 0) -> None:
        self.reader = reader
        self._told: tuple[Any, bytes, str] = (None, b"", "")
        self.host = host
        self.public = not is_loopback(host)
        family, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
        self.address_family = family
        super().__init__((str(address[0]), port), Handler)

    def server_bind(self) -> None:
        """Take the address, and ask no name server for its name."""
        TCPServer.server_bind(self)

    @property
    def url(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.server_address[1]}/"

    def told(self) -> tuple[bytes, str]:
        """The data as JSON, and a tag that changes with them; made anew only when they have."""
        data = self.reader.read()
        before, content, tag = self._told
        if data is not before:
            content = as_json(data).encode()
            tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            self._told = data, content, tag
        return content, tag

    def knows(self, host: str) -> bool:
        """Whether a request may name this host: an address, `localhost`, or the one that was given.

        A name that others have made to lead here is none of these.
        """
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in ("localhost", self.host.lower()):
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.public or address.is_loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone is no error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answer GET and HEAD."""

    server: Server
    server_version, sys_version = "plugrad", ""
    timeout = 30  # for who connects and says nothing

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):  # every other method
            return self._refuse
        raise AttributeError(name)

    def _refuse(self) -> None:
        self._answer(405, "text/plain", b"This page can only be read.\n", {"Allow": "GET, HEAD"})

    def do_GET(self) -> None:
        """Answer with the page, the data or a picture."""
        if not self.server.knows(self.headers.get("Host", "")):
            self._answer(403, "text/plain", b"Open the page by the address that was printed.\n")
            return
        path = urlsplit(self.path).path
        if path == "/":
            made = page()
            policy = {"Content-Security-Policy": f"{made.policy}; frame-ancestors 'none'"}
            self._answer(200, "text/html; charset=utf-8", made.text.encode(), policy)
        elif path == "/data":
            content, tag = self.server.told()
            if self.headers.get("If-None-Match") == tag:
                self._answer(304, "application/json", b"", {"ETag": tag})
            else:
                self._answer(200, "application/json", content, {"ETag": tag})
        else:
            self._picture(path)

    do_HEAD = do_GET

    def _picture(self, path: str) -> None:
        # The names that may be asked for are those that were listed.
        picture = self.server.reader.pictures.get(path.removeprefix("/picture/"))
        try:
            content = b"" if picture is None else read(picture.path)
        except OSError:
            content = b""
        if picture is None or not content:
            self._answer(404, "text/plain", b"There is nothing here.\n")
            return
        alone = {
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        }
        self._answer(200, picture.type, content, alone)

    def _answer(
        self, status: int, type: str, content: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        policy = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
        for name, value in {**_HEADERS, **policy, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of each request."""
