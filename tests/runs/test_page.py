"""The page of `plugrad watch` and `plugrad report` in a real browser."""

import json
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import PROGRAM, Browser

from plugrad.commands.main import main
from plugrad.runs.reader import Reader
from plugrad.runs.server import Server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="needs Chromium or Chrome on the PATH"),
]
HOSTILE = '</script><img src=x onerror="document.title=1"><svg onload=alert(1)>&amp;"\'`${1}'
DRAWN = "document.querySelectorAll('.curve[d]').length"


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


def log(count, key="main/loss"):
    return [
        {key: 1 / i, f"validation/{key}": 2 / i, "epoch": i, "iteration": 10 * i, "elapsed_time": i}
        for i in range(1, count + 1)
    ]


def write(folder, **files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def open_report(browser, folder, tmp_path, **options):
    file = tmp_path / "report.html"
    assert main(["report", str(folder), "-o", str(file)]) == 0
    browser.said.clear()
    browser.requests.clear()
    browser.open(file.as_uri(), **options)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "result"
    record = [{"started": "now", "command": ["python", "a.py"], "arguments": {"rate": 0.1}}]
    graph = 'flowchart TB\n  n0["Sum"]:::function\n  n1(["x"]):::leaf\n  n1 --> n0\n'
    histograms = [
        {"iteration": i, "histograms": {"l1/W/data": {"low": -1, "high": 1, "counts": [1, i, 3]}}}
        for i in range(1, 4)
    ]
    picture = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
    write(folder, **{"a/log": log(5), "a/run.json": record, "a/cg.mmd": graph})
    write(folder, **{"a/histograms.json": histograms, "a/x_1.svg": picture, "a/x_2.svg": picture})
    write(folder, **{"b/log.jsonl": "\n".join(map(json.dumps, log(7)))})
    return folder


def test_a_report_shows_everything_and_asks_nobody(browser, folder, tmp_path):
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 4")
    titles = browser.run("[...document.querySelectorAll('main h2')].map(h => h.textContent)")
    parts = browser.run("[...document.querySelectorAll('main > section:not([hidden]) h2')].length")
    assert titles == ["Runs", "Curves", "Values", "Pictures", "Histograms", "Graph", "Record"]
    assert parts == 6  # nothing but numbers was logged
    assert browser.run("document.querySelectorAll('.ridge').length") == 3
    assert browser.run("document.querySelectorAll('.graph rect').length") == 2
    assert browser.wait("document.querySelector('img').naturalWidth") == 9
    assert not [url for url in browser.requests if not url.startswith(("file:", "data:"))]
    assert not browser.said


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_sticks_out_and_all_can_be_read(browser, folder, tmp_path, width, dark):
    write(folder, **{"c/log": [{"n" * 400: 1, "iteration": 1}, {"m " * 300: 1, "iteration": 2}]})
    open_report(browser, folder, tmp_path, width=width, dark=dark)
    browser.wait(f"{DRAWN} >= 4")
    assert browser.run("document.documentElement.scrollWidth") <= width
    texts = "[...document.querySelectorAll('.plot svg text')]"
    outside = """.filter((text) => {
        const [inner, outer] = [text, text.closest('svg')].map((n) => n.getBoundingClientRect());
        return inner.left < outer.left - 1 || inner.right > outer.right + 1;
    }).map((text) => text.textContent)"""
    assert browser.run(texts + ".length") > 10
    assert browser.run(texts + outside) == []
    assert browser.poor_contrasts("h1, h2, h3, p, th, td, label, summary, a, li", 4.5) == []
    assert browser.poor_contrasts(".curve", 3, "stroke") == []


def test_hostile_names_are_nothing_but_text(browser, tmp_path):
    folder = tmp_path / "result"
    evil = HOSTILE.replace("/", "∕")
    record = {"started": HOSTILE, "command": [HOSTILE], HOSTILE: {HOSTILE: HOSTILE}, "ended": 1}
    histogram = {"low": 0, "high": 1, "counts": [1]}
    graph = f'flowchart TB\n  n0["{HOSTILE}"]:::function\n'
    entries = [{HOSTILE: 1, "__proto__": 2, "constructor": 3, f"{HOSTILE}text": HOSTILE}]
    write(
        folder,
        **{
            f"{evil}/log": [{**entry, "iteration": 1} for entry in entries],
            f"{evil}/run.json": [{**record, "error": HOSTILE}],
            f"{evil}/histograms.json": [{"iteration": 1, "histograms": {HOSTILE: histogram}}],
            f"{evil}/cg.mmd": graph,
            f"{evil}/{evil}.svg": "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        },
    )
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 3")
    assert browser.run("document.title") == "result · plugrad"
    assert browser.run("document.querySelectorAll('[onerror], [onload], img[src=x]').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == 2
    headings = browser.run("[...document.querySelectorAll('h3')].map(h => h.textContent)")
    assert {HOSTILE, "__proto__", "constructor"} <= set(headings)
    assert not browser.said


def test_what_is_not_finite_is_told_and_not_drawn(browser, tmp_path):
    folder = tmp_path / "result"
    values = ["1", "NaN", "Infinity", "-Infinity", "1e308", "-1e308", "2"]
    lines = [f'{{"loss": {value}, "iteration": {i}}}' for i, value in enumerate(values)]
    write(folder, **{"log.jsonl": "\n".join(lines)})
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 1")
    assert "NaN" not in browser.run("document.querySelector('.plot svg').outerHTML")
    assert browser.run("document.querySelectorAll('.odd').length") == 3
    assert "NaN at iteration 1" in browser.run("document.querySelector('.note').textContent")


def test_curves_are_read_by_keys_and_as_a_table(browser, folder, tmp_path):
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 4")
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    for _ in range(30):
        browser.press("Tab")
        if browser.run("document.activeElement.className") == "plot":
            break
    read = "document.activeElement.getAttribute('aria-valuetext')"
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert browser.run(read).startswith("iteration 70: b: main/loss 0.14286")
    browser.press("Home")
    assert browser.run(read).startswith("iteration 10: a: main/loss 1, ")
    browser.press("ArrowRight")
    assert "iteration 20" in browser.run("document.querySelector('.tip').textContent")
    browser.press("Tab")
    browser.press("Enter")
    assert browser.wait("document.querySelectorAll('.cards details[open] tbody tr').length") == 7


def test_all_that_can_be_operated_has_a_name(browser, folder, tmp_path):
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 4")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"checkbox", "slider", "combobox", "searchbox", "link", "image", "region", "button"}
    found = [node for node in nodes if node.get("role", {}).get("value") in roles]
    assert len(found) > 15
    assert not [node for node in found if not node.get("name", {}).get("value")]


def test_runs_filters_and_axes_are_chosen(browser, folder, tmp_path):
    open_report(browser, folder, tmp_path)
    browser.wait(f"{DRAWN} >= 4")
    drawn = "document.querySelectorAll('.plot .curve').length"
    assert browser.run(drawn) == 4
    browser.run("document.querySelectorAll('input[data-run]')[1].click()")
    assert browser.run(drawn) == 2
    browser.run("(x => { x.value = '2'; x.dispatchEvent(new Event('input')) })"
                "(document.getElementById('axis'))")  # fmt: skip
    assert "5 s" in browser.run("document.querySelector('.plot svg').textContent")
    browser.run("(x => { x.value = 'W/'; x.dispatchEvent(new Event('input')) })"
                "(document.getElementById('filter'))")  # fmt: skip
    assert browser.run("[...document.querySelectorAll('.card h3')].map(h => h.textContent)")[0] == (
        "l1/W/data"
    )


def test_the_page_follows_a_run_and_says_when_the_server_has_gone(browser, folder):
    with Server(Reader([folder])) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.said.clear()
        browser.requests.clear()
        browser.open(server.url)
        browser.wait(f"{DRAWN} >= 4")
        assert browser.wait("document.querySelector('img').naturalWidth") == 9
        browser.run("document.querySelector('.cards details').open = true")
        write(folder, **{"a/log": log(9)})
        cell = "[...document.querySelectorAll('tbody td.number')].map(c => c.textContent)"
        browser.wait(f"({cell}).includes('90')")
        assert browser.run("document.querySelector('.cards details').open")  # as the user left it
        assert all(url.startswith((server.url, "data:")) for url in browser.requests)
        assert not browser.said
        server.shutdown()
    browser.wait("document.getElementById('status').textContent.includes('does not answer')")
    assert browser.run(DRAWN) >= 4
