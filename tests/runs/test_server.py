"""What the server of `plugrad watch` gives, and what it refuses."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugrad.commands.main import main
from plugrad.runs.reader import Reader
from plugrad.runs.server import Server, is_loopback


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("all") / "result"
    folder.mkdir()
    (folder.parent / "secret").write_text("secret")
    (folder / "log").write_text('[{"main/loss": 0.5, "iteration": 1}]')
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "b.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(Reader([folder])) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def ask(server, path, method="GET", host=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=20)
    headers["Host"] = host or f"127.0.0.1:{server.server_address[1]}"
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    answer.content = answer.read()
    connection.close()
    return answer


def test_the_page_runs_nothing_but_its_own(server):
    answer = ask(server, "/")
    policy = answer.headers["Content-Security-Policy"]
    assert answer.status == 200 and "default-src 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "frame-ancestors 'none'" in policy
    assert b"://" not in answer.content.replace(b"http://www.w3.org/2000/svg", b"")
    assert b"innerHTML" not in answer.content


def test_data_come_once_and_again_when_they_have_changed(server, folder):
    first = ask(server, "/data")
    assert json.loads(first.content)["runs"][0]["series"][0]["name"] == "main/loss"
    tag = {"If-None-Match": first.headers["ETag"]}
    again = ask(server, "/data", **tag)
    assert (again.status, again.content) == (304, b"")
    (folder / "log").write_text('[{"main/loss": 0.25, "iteration": 1}, {"iteration": 2}]')
    assert ask(server, "/data", **tag).status == 200


def test_pictures_come_by_their_keys_and_can_do_nothing(server):
    runs = json.loads(ask(server, "/data").content)["runs"]
    keys = [frame["picture"] for group in runs[0]["pictures"] for frame in group["frames"]]
    answers = [ask(server, f"/picture/{key}?1-2-3") for key in keys]
    assert [a.headers["Content-Type"] for a in answers] == ["image/png", "image/svg+xml"]
    for answer in answers:
        assert answer.status == 200 and answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_a_picture_that_became_a_link_is_gone(server, folder):
    ask(server, "/data")
    (folder / "c.png").write_bytes(b"x")
    runs = json.loads(ask(server, "/data").content)["runs"]
    frames = [frame for group in runs[0]["pictures"] for frame in group["frames"]]
    (key,) = [frame["picture"] for frame in frames if frame["name"] == "c.png"]
    (folder / "c.png").unlink()
    os.symlink(folder.parent / "secret", folder / "c.png")
    assert ask(server, f"/picture/{key}").status == 404
    (folder / "c.png").unlink()


TARGETS = st.one_of(
    st.sampled_from(
        [
            "/../secret",
            "/picture/../../secret",
            "/picture/%2e%2e%2fsecret",
            "//etc/passwd",
            "/picture/a.png",
            "/picture/",
            "/log",
        ]
    ),
    st.text(st.characters(codec="ascii", exclude_categories=["Cc", "Zs"])).map("/x".__add__),
)


@given(TARGETS)
def test_no_other_address_gives_anything(server, path):
    answer = ask(server, path)
    assert answer.status in (404, 400)
    assert b"secret" not in answer.content


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "ODD"])
def test_it_is_read_only(server, method):
    answer = ask(server, "/", method)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/", "/data", "/nothing"])
def test_head_is_get_without_content(server, path):
    whole, head = ask(server, path), ask(server, path, "HEAD")
    assert (head.status, head.content) == (whole.status, b"")
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:8686", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:8686", 403),
        ("10.0.0.1", 403),
        ("[", 403),
    ],
)
def test_only_hosts_that_mean_this_machine_are_answered(server, host, status):
    assert ask(server, "/data", host=host).status == status


def test_a_request_without_host_is_refused(server):
    with socket.create_connection(server.server_address[:2]) as line:
        line.sendall(b"GET /data HTTP/1.1\r\n\r\n")
        assert b" 403 " in line.recv(1000)


def test_no_other_origin_may_read(server):
    answer = ask(server, "/data", Origin="http://evil.example")
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_loopback_is_what_nobody_else_reaches():
    assert is_loopback("localhost") and is_loopback("127.0.0.1")
    assert not any(map(is_loopback, ["0.0.0.0", "::", "10.1.2.3", "no such name.invalid", ""]))


def test_other_addresses_have_to_be_asked_for_twice(folder, capsys):
    assert main(["watch", str(folder), "--host", "0.0.0.0"]) == 2
    assert "--public" in capsys.readouterr().err


def test_what_is_no_folder_is_told(tmp_path, capsys):
    for command in ("watch", "report"):
        assert main([command, str(tmp_path / "missing")]) == 2
        assert "missing" in capsys.readouterr().err


def test_the_command_serves_until_it_is_interrupted(folder):
    command = [sys.executable, "-m", "plugrad", "watch", str(folder), "--port", "0"]
    # Shells start what runs in the background deaf to interrupts, and children stay so.
    hears = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hears)
    try:
        url = process.stderr.readline().split()[0]
        connection = http.client.HTTPConnection(url.split("/")[2], timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_port_that_is_taken_is_told_where_it_was_asked_for(folder, server, capsys):
    port = str(server.server_address[1])
    assert main(["watch", str(folder), "--port", port]) == 2
    assert f"port {port}" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "99999"])
def test_a_port_that_does_not_exist_is_refused(folder, capsys, port):
    assert main(["watch", str(folder), "--port", port]) == 2
    assert f"port {port}: bind(): port must be 0-65535" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_told(folder, capsys):
    assert main(["report", str(folder), "-o", str(folder / "no" / "such.html")]) == 2
    assert "such.html" in capsys.readouterr().err
    assert main(["report", str(folder), "-o", str(folder)]) == 2
    assert capsys.readouterr().err.rstrip().endswith("regular file")


def test_a_report_of_no_run_says_so(folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.txt").write_text("other files\n")
    file = str(tmp_path / "report.html")
    assert main(["report", str(tmp_path / "empty"), "-o", file]) == 0
    assert f"There is no run in {tmp_path / 'empty'}" in capsys.readouterr().out
    assert main(["report", str(folder), "-o", file]) == 0
    assert "no run" not in capsys.readouterr().out
