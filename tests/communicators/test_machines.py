"""Ranks on two machines, which namespaces make of one: names, networks and memory of their own."""

import re

import pytest

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (2, 2)], ids=str)
def test_machines_are_known_and_sums_are_those_of_one(machines, counts):
    placed = ["machine-a"] * counts[0] + ["machine-b"] * counts[1]
    assert " ".join(["placed", *placed]) in machines(*counts).run(sum(counts), "places")


@pytest.mark.parametrize(
    ("program", "told"), [("proof", "proved 3 3"), ("steps", "stepped 3"), ("parts", "divided 3")]
)
def test_what_holds_on_one_machine_holds_on_two(machines, program, told):
    arguments = ("mpi", 1) if program == "proof" else ()
    assert told in machines(2, 1).run(3, program, *arguments)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("dies", r"rank 1 of 3 on machine-b \(process \d+\).* ended at .* without a word"),
        ("raises", "ValueError on rank 1 of 3 on machine-b"),
        ("waits", "recv from rank 1: rank 0 of 3 on machine-a has waited .* the time limit"),
    ],
)
def test_a_fault_on_one_machine_ends_all_ranks_and_is_told_with_its_name(machines, fault, told):
    code, said, seconds = machines(1, 2).outcome(3, "faults", fault)
    assert code != 0
    assert re.search(told, said), said
    assert seconds < 50  # with the making of the machines
