"""A web server of this machine's own, and a folder for datasets."""

import http.server
import threading
import time

import pytest

from core import dataset


class Handler(http.server.BaseHTTPRequestHandler):
    """Gives what the server's `files` say; a name may break off, stall, or fail."""

    def do_GET(self):
        name = self.path.lstrip("/")
        self.server.asked.append(name)
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if name not in self.server.unmeasured:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        broken = name in self.server.broken
        self.wfile.write(content[: len(content) // 2] if broken else content)
        if name in self.server.stalling:
            time.sleep(2)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.files, made.asked = {}, []
        made.broken, made.stalling, made.unmeasured = set(), set(), set()
        made.url = f"http://127.0.0.1:{made.server_port}/"
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty folder as the root of datasets."""
    monkeypatch.setattr(dataset.download, "_chosen", [str(tmp_path / "root")])
    return tmp_path / "root"
