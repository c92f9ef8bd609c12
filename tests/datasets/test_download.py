"""The folder of datasets, and downloads into it: whole files, or none."""

import errno
import hashlib
import multiprocessing
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core import dataset
from core.dataset import download
from core.errors import DatasetMissing, DownloadError

CONTENT = bytes(range(256)) * 9000


def files_in(root):
    return [path for path in root.rglob("*") if path.is_file()]


def digest(content, method="sha256"):
    return f"{method}:{hashlib.new(method, content).hexdigest()}"


def test_the_root_is_chosen_by_environment_and_by_hand(monkeypatch, tmp_path):
    monkeypatch.setattr(download, "_chosen", [])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PLUGRAD_DATASET_ROOT", raising=False)
    assert Path(dataset.get_dataset_root()) == tmp_path / ".plugrad" / "dataset"
    monkeypatch.setenv("PLUGRAD_DATASET_ROOT", "~/mine")
    assert Path(dataset.get_dataset_root()) == tmp_path / "mine"
    dataset.set_dataset_root(tmp_path / "other")
    assert Path(dataset.get_dataset_root()) == tmp_path / "other"
    assert not (tmp_path / "other").exists()
    folder = dataset.get_dataset_directory("a/b", create_directory=False)
    assert Path(folder) == tmp_path / "other" / "a" / "b" and not Path(folder).exists()
    for _ in range(2):
        assert Path(dataset.get_dataset_directory("a/b")).is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="homes are found otherwise")
def test_without_a_home_no_folder_is_called_by_a_tilde(monkeypatch):
    def nobody(user):
        raise KeyError(user)

    monkeypatch.setattr(download, "_chosen", [])
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("PLUGRAD_DATASET_ROOT", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.raises(DatasetMissing, match=r"~/.plugrad/dataset.*no such home.*set_dataset_root"):
        dataset.get_dataset_directory("a/b")
    with pytest.raises(DatasetMissing, match=r"~nobody-at-all/x.*PLUGRAD_DATASET_ROOT"):
        dataset.set_dataset_root("~nobody-at-all/x")
    dataset.set_dataset_root("./~nobody-at-all/x")
    assert dataset.get_dataset_root() == "./~nobody-at-all/x"


@pytest.mark.parametrize("expected", [None, digest(CONTENT), digest(CONTENT, "md5")])
def test_a_download_is_kept(server, root, expected, capsys):
    server.files["data.bin"] = CONTENT
    for _ in range(2):
        path = dataset.cached_download(server.url + "data.bin", digest=expected)
        assert Path(path).read_bytes() == CONTENT
    assert server.asked == ["data.bin"]
    # The place is the one where Chainer kept it.
    name = hashlib.md5((server.url + "data.bin").encode()).hexdigest()
    assert files_in(root) == [root / "_dl_cache" / name]
    assert capsys.readouterr().err == f"Downloading {server.url}data.bin\n"


def test_a_download_without_a_length_is_taken_as_it_comes(server, root):
    server.files["data.bin"] = CONTENT
    server.unmeasured.add("data.bin")
    assert Path(dataset.cached_download(server.url + "data.bin")).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken", "broke off after 1152000 of 2304000 bytes"),
        ("nowhere", "404"),
        ("wrong", "its digest is sha256:.* and not sha256:0123"),
    ],
)
def test_a_download_that_fails_leaves_nothing(server, root, name, text):
    server.files |= {"broken": CONTENT, "wrong": CONTENT}
    server.broken.add("broken")
    expected = "sha256:0123" if name == "wrong" else None
    with pytest.raises(DownloadError, match=text) as caught:
        dataset.cached_download(server.url + name, digest=expected)
    assert server.url + name in str(caught.value)
    assert isinstance(caught.value, OSError)
    assert files_in(root) == [] and list((root / "_dl_cache").iterdir()) == []
    server.files[name] = CONTENT
    server.broken.clear()
    path = dataset.cached_download(server.url + name)
    assert Path(path).read_bytes() == CONTENT


def test_a_server_that_says_nothing_is_an_error(server, root, monkeypatch):
    monkeypatch.setattr(download, "_PATIENCE", 0.2)
    server.files["data.bin"] = CONTENT
    server.broken.add("data.bin")
    server.stalling.add("data.bin")
    with pytest.raises(DownloadError, match="timed out"):
        dataset.cached_download(server.url + "data.bin")
    assert files_in(root) == []


def test_no_server_and_no_url(root):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(DownloadError, match="cannot be downloaded: .*refused"):
            dataset.cached_download(url)
    with pytest.raises(DownloadError, match="cannot be downloaded: .*ascii"):
        dataset.cached_download("http://127.0.0.1:9/\u00fc")
    for url in ("file:///etc/passwd", "data.bin", "ftp://host/file"):
        with pytest.raises(DownloadError, match="expected a URL of http or https"):
            dataset.cached_download(url)
    assert files_in(root) == []


def test_an_interrupted_download_leaves_nothing(server, root, monkeypatch):
    server.files["data.bin"] = CONTENT

    def interrupted(answer, file, size):
        file.write(answer.read(size))
        raise KeyboardInterrupt

    monkeypatch.setattr(download.shutil, "copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dataset.cached_download(server.url + "data.bin")
    assert files_in(root) == []


def test_a_full_disk_and_a_folder_that_cannot_be_written_to(server, root, monkeypatch):
    def full(answer, file, size):
        file.write(answer.read(10))
        raise OSError(errno.ENOSPC, "No space left on device")

    server.files["data.bin"] = CONTENT
    with monkeypatch.context() as patch:
        patch.setattr(download.shutil, "copyfileobj", full)
        with pytest.raises(DownloadError, match=r"No space left.*Make room.*PLUGRAD_DATASET_ROOT"):
            dataset.cached_download(server.url + "data.bin")
    assert list((root / "_dl_cache").iterdir()) == []
    (root / "file").touch()
    dataset.set_dataset_root(root / "file")
    with pytest.raises(DownloadError, match=r"file/_dl_cache cannot be written to"):
        dataset.cached_download(server.url + "data.bin")


def test_a_copy_with_another_digest_is_fetched_anew(server, root):
    url = server.url + "data.bin"
    server.files["data.bin"] = CONTENT
    copy = Path(download.cached_path(url))
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT[:100])
    assert dataset.cached_download(url) == str(copy)
    assert copy.read_bytes() == CONTENT[:100]
    dataset.cached_download(url, digest=digest(CONTENT))
    assert copy.read_bytes() == CONTENT


def test_many_may_ask_at_once(server, root):
    server.files["data.bin"] = CONTENT
    url = server.url + "data.bin"
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: dataset.cached_download(url), range(8)))
    assert len(set(paths)) == 1 and Path(paths[0]).read_bytes() == CONTENT
    assert len(files_in(root)) == 1


def test_a_killed_process_leaves_no_file_that_counts(server, root):
    server.files["data.bin"] = CONTENT
    server.broken.add("data.bin")
    server.stalling.add("data.bin")
    url = server.url + "data.bin"
    process = multiprocessing.get_context("spawn").Process(
        target=fetch, args=(url, str(root)), daemon=True
    )
    process.start()
    while not server.asked:
        process.join(0.05)
    process.kill()
    process.join()
    server.broken.clear()
    server.stalling.clear()
    assert not os.path.exists(download.cached_path(url))
    assert Path(dataset.cached_download(url)).read_bytes() == CONTENT


def fetch(url, root):
    dataset.set_dataset_root(root)
    dataset.cached_download(url)


def test_what_is_made_once_is_loaded_afterwards(tmp_path):
    path = tmp_path / "made" / "thing.npz"
    made = []

    def creator(temporary):
        made.append(temporary)
        Path(temporary).write_text("made")
        return "made"

    def loader(found):
        return "loaded " + Path(found).read_text()

    assert dataset.cache_or_load_file(path, creator, loader) == "made"
    assert dataset.cache_or_load_file(str(path), creator, loader) == "loaded made"
    assert [Path(name).name for name in made] == ["thing.npz"]
    assert files_in(tmp_path) == [path]


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_what_could_not_be_made_leaves_nothing(tmp_path, kind):
    def creator(temporary):
        Path(temporary).write_text("half")
        raise kind

    with pytest.raises(kind):
        dataset.cache_or_load_file(tmp_path / "thing", creator, str)
    assert list(tmp_path.iterdir()) == []
