"""Captured steps that are interrupted, or for which memory is short, where they are recorded."""

import dis

import numpy as np
import pytest
from interruptions import is_interrupted

import core
import core.links as L
from core.capturing.capturing import Captured

X = np.ones((4, 3), "f")


def interrupted(function, number):
    """Whether so many calls come back in a captured call: after each, Python looks for signals."""
    code, returned, last = Captured._called.__code__, iter(range(10**6)), [0]

    def interrupting(frame, event, argument):
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before, last[0] = code.co_code[last[0]], frame.f_lasti
            if dis.opname[before].startswith("CALL") and next(returned) == number:
                raise KeyboardInterrupt
        return interrupting

    return is_interrupted(function, interrupting)


def test_a_call_that_is_interrupted_leaves_the_step_to_be_replayed():
    model = L.Linear(3, 2)
    step = core.capture(lambda x: model(x).array)
    for _ in range(3):
        step(X)
    number = 0
    while interrupted(lambda: step(X), number):
        before = step.replayed
        step(X)
        assert step.replayed == before + 1, number
        number += 1
    assert number >= 4


@pytest.mark.parametrize("call", [2, 3], ids=["recorded", "compared"])
def test_a_shortage_of_memory_may_pass(monkeypatch, call):
    model = L.Linear(3, 2)
    step = core.capture(lambda x: model(x).array * 2)
    expected = step(X)
    if call == 3:
        step(X)

    def short(*args):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("core.capturing.capturing.recorded", short)
        with pytest.warns(UserWarning, match="is not replayed: MemoryError"):
            assert (step(X) == expected).all()
    for _ in range(4):
        assert (step(X) == expected).all()
    assert step.replayed >= 2
