"""Plugins that several threads ask for at once: loaded by one, waited for by none for ever."""

import threading

import pytest

from core import Elementwise
from core.registry import index

BUNDLED = {"relu": lambda: "relu", "tanh": lambda: "tanh"}
OURS, THEIRS, OTHERS, MISH = (lambda: "ours"), (lambda: "theirs"), (lambda: "others"), (lambda: 1)


def in_thread(function):
    """A thread at work, whose result `result()` gives, within seconds."""
    done = []
    thread = threading.Thread(target=lambda: done.append(function()), daemon=True)
    thread.start()

    def result():
        thread.join(30)
        assert done, "the thread is still waiting"
        return done[0]

    return result


class Gate:
    """A plugin's module whose import waits for a thread that is importing it already."""

    def __init__(self, subject):
        self.subject = subject
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self):
        self.reached.set()
        assert self.opened.wait(30), "the import lock was never released"
        return self.subject


def test_a_module_under_import_gets_bundled_names_while_another_thread_waits_for_it(make):
    """In every stage of the loading; the loader holds nothing that the importer needs."""
    bundled, third = (
        Gate(make.module(functions=BUNDLED)),
        Gate(make.module(functions={"mish": MISH})),
    )
    environment = make.environment([make.entry("plugrad", bundled), make.entry("a-dist", third)])
    loader = in_thread(lambda: environment.functions.get("mish"))
    bundled.reached.wait(30)
    early = in_thread(lambda: environment.functions.get("relu"))
    bundled.opened.set()
    assert early() is BUNDLED["relu"]  # and then lets go of the third party's module
    third.reached.wait(30)
    assert in_thread(lambda: environment.functions.get("tanh"))() is BUNDLED["tanh"]
    third.opened.set()
    assert loader() is MISH


def test_a_module_under_import_does_not_wait_for_ever(make, monkeypatch, tmp_path):
    """It may be what the loader waits for: then it has the bundled names alone."""
    monkeypatch.setattr(index, "_PATIENCE", 0.01)
    third = Gate(make.module(functions={"mish": MISH}))
    bundled = make.entry("plugrad", make.module(functions=BUNDLED))
    environment = make.environment([bundled, make.entry("a-dist", third)])
    loader = in_thread(lambda: environment.functions.get("mish"))
    third.reached.wait(30)
    (tmp_path / "asking_for_mish.py").write_text("found = 'mish' in asked\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.asked", environment.functions, raising=False)

    def imported():
        import asking_for_mish

        return asking_for_mish.found

    assert in_thread(imported)() is False
    waiting = in_thread(lambda: "mish" in environment.functions)
    third.opened.set()
    assert loader() is MISH and waiting() is True  # who imports nothing has waited


@pytest.mark.parametrize("decision", ["prefer", "disable"])
def test_what_is_decided_while_another_thread_loads(make, decision):
    gate = Gate(make.module(functions={"relu": THEIRS}))
    bundled = make.entry("plugrad", make.module(functions={"relu": OURS}))
    other = make.entry("b-dist", make.module(functions={"relu": OTHERS}))
    environment = make.environment([bundled, make.entry("a-dist", gate), other])
    loader = in_thread(lambda: environment.registry.plugins())
    gate.reached.wait(30)
    if decision == "prefer":
        environment.registry.prefer("functions.relu", "a-dist")
    else:
        environment.registry.disable("b-dist")
    gate.opened.set()
    states = {plugin.distribution: plugin.state for plugin in loader()}
    assert states["b-dist"] == ("disabled" if decision == "disable" else "loaded")
    assert environment.functions.get("relu") == (THEIRS if decision == "prefer" else OURS)


def test_a_loader_that_fails_leaves_the_work_to_the_next(make):
    """In strict mode: each of the threads is told, none waits for the one that failed."""
    gate = Gate(None)
    gate.subject = ImportError("no such library")

    def failing():
        gate()
        raise gate.subject

    entry = make.entry("a-dist", failing)
    environment = make.environment([entry], {"PLUGRAD_PLUGINS_STRICT": "1"})

    def told():
        try:
            environment.registry.plugins()
        except Exception as error:
            return str(error)

    first, second = in_thread(told), in_thread(told)
    gate.opened.set()
    assert "no such library" in first() and "no such library" in second()


def test_a_table_of_kernels_is_one_for_all_threads_and_read_anew(make, monkeypatch):
    """Also where what is preferred changes while it is being read."""
    from core import registry
    from core.arrays import backend

    home = type(backend.get("numpy"))()
    assert home.kernels is home.kernels
    op = type("Op", (Elementwise,), {"compute": lambda self, xp, x: x})
    tables = [{"compute": {"a:B": len}}, {"compute": {"a:B": str}}]

    def kernels(name):
        found = tables.pop(0)
        if tables:
            home.kernels.forget()  # what another thread does after this one has begun to read
        return found

    monkeypatch.setattr(registry, "kernels", kernels)
    home.kernels.forget()
    assert home.kernels["a:B"] is len
    assert home.kernels["a:B"] is str
    assert home.kernels["a:B"] is str and op not in home.kernels
