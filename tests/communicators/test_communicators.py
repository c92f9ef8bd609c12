"""Communicators, proved by real processes."""

import copy
import os
import pickle
import re
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import core
import core.links as L
from backends.cuda_backend.backend import CudaBackend
from core import optimizers
from core.communicators import create_communicator, create_multi_node_optimizer
from core.errors import CommunicatorError
from core.testing import check_communicator
from plugins.communicators import watcher
from plugins.communicators.shared_memory import ring_of
from plugrad.commands import ranks as ranks_command
from plugrad.commands.ranks import findings

pytestmark = pytest.mark.mpi


def test_a_process_alone():
    check_communicator(create_communicator("local"), megabytes=1)
    assert create_communicator("local", time_limit=60, shared_memory=False).size == 1


@pytest.mark.parametrize("count", [1, 2, 4])
def test_processes_of_mpi(ranks, count):
    megabytes = 100 if count == 2 else 1
    assert f"proved {count} {count}" in ranks.run(count, "proof", "mpi", megabytes)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Own", "proved"),
        ("ForgetsAxes", "AssertionError: send and recv"),
        ("TakesAnyTag", "AssertionError: tags"),
        ("TurnsRanksAround", "AssertionError: allgather"),
        ("DoesNotWait", "AssertionError: allreduce"),
    ],
)
def test_a_communicator_of_ones_own_is_proved_and_its_faults_are_named(default_ranks, name, told):
    _, said, _ = default_ranks.outcome(3, "own", name)
    assert told in said


@pytest.mark.parametrize("name", ["unchanging", "strict"])  # `torch` and `jax` by hand
def test_arrays_of_other_libraries(default_ranks, name):
    assert "alike" in default_ranks.run(2, "strangers", name)


def test_ranks_help_each_other_while_they_wait_for_something_else(ranks):
    assert "helped 3" in ranks.run(3, "waits")


def test_forked_children_end_without_taking_leave_for_their_ranks(ranks):
    assert "forked 2" in ranks.run(2, "forks")


def test_windows_are_of_whole_lines():
    assert all(ring_of(size) % 64 == 0 < ring_of(size) for size in range(1, 5000))


def test_what_does_not_fit_together_is_an_error_on_every_rank(ranks):
    assert "all are refused" in ranks.run(2, "faults", "of_other_calls")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("waits", "recv from rank 1: rank 0 of 2 .*which is the time limit"),
        ("raises", "ValueError on rank 1 of 2"),
        ("is_not_heard", "nobody hears a slip"),
        ("ends", "rank 1 at 'the end of the program'"),
        ("does_not_receive", "allreduce: rank 1 .*rank 0, which waits until this one receives"),
        ("receives_with_another_tag", "with tag 3: .*rank 0, which waits until this one receives"),
        ("leaves_without_receiving", r"send to rank \d: .*Has rank \d received it"),
        ("dies", ""),
    ],
)
def test_a_fault_of_one_rank_ends_all(ranks, fault, told):
    said = said_by_all_that_end(ranks, fault, told)
    if fault == "dies":  # rank and machine, whatever the launcher tells
        lost = rf"rank 1 of 2 on {re.escape(socket.gethostname())} \(process \d+\).* ended at"
        assert len(re.findall("ended at .* without a word", said)) == 1
        assert re.search(lost, said)
    else:
        assert "without a word" not in said


def said_by_all_that_end(ranks, fault, told):
    code, said, seconds = ranks.outcome(2, "faults", fault)
    assert code != 0
    assert re.search(told, said)
    assert seconds < 50  # else they sleep for 60, or wait for ever
    shared = re.search("shares:(.*)", said)[1].split()
    until = time.monotonic() + 60
    while any(map(os.path.exists, shared)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(os.path.exists, shared)), "what the ranks shared remains"
    return said


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            "skips_a_batch",
            r"rank 1, which takes no part: its loss raised ValueError\('a bad batch'\)",
        ),
        ("makes_fewer_steps", "rank 0 is at 'update of an optimizer, .* and rank 1 at 'the end"),
        (
            "has_a_rate_of_its_own",
            r"rank 0 is at 'update.*lr=0.5\)' and rank 1 at 'update.*lr=0.25",
        ),
        (
            "has_a_rate_of_its_own_among_many",
            r"rank 0 has update.*4/\*', eps=1e-07\)\] and rank 1 has update.*alpha=0.25",
        ),
        ("has_a_decay_of_its_own", "rank 0 is at .update.*'rate': 0.5.*rank 1 at.*'rate': 0.25"),
        (
            "never_goes_back",
            "waits for rank 0.*backward of functions.send to rank 1.*Rank 1 has to",
        ),
        (  # whichever of the two tells it first
            "goes_on_without_going_back",
            "backward of functions.send to rank 1.*Rank 1 has to.*which waits for"
            "|recv from rank 0: rank 1.*which waits for.*in backward of functions.send to rank 1",
        ),
        ("takes_its_time", "came to the end"),
    ],
)
def test_a_fault_of_what_one_rank_trains_ends_all(default_ranks, fault, told):
    assert "without a word" not in said_by_all_that_end(default_ranks, fault, told)


def test_ranks_of_which_nobody_hears_any_more_are_watched_to_the_end(tmp_path):
    """The launcher was killed, and with it went who reads what is told."""
    read, write = os.pipe()
    os.close(read)
    path = tmp_path / "ranks"
    command = [sys.executable, "-I", "-S", watcher.__file__, str(path), "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=write) as process:
        os.close(write)
        process.stdout.readline()
        with socket.socket(socket.AF_UNIX) as lost, socket.socket(socket.AF_UNIX) as other:
            for rank, each in enumerate([lost, other]):
                each.connect(str(path))
                each.sendall(f"none rank {rank}".encode())
            lost.close()
            assert other.recv(1) == watcher.ENDING
            other.sendall(watcher.LEAVING)


def test_a_killed_rank_ends_all_where_the_launcher_would_not(default_ranks):
    if (
        "HYDRA"
        not in subprocess.run(
            [default_ranks.launcher(1)[0], "-info"], capture_output=True, text=True
        ).stdout.upper()
    ):
        pytest.skip("this launcher has no such option")
    mpiexec, *others = default_ranks.command(3, "faults", "dies")
    begun = time.monotonic()
    done = subprocess.run(
        [mpiexec, "-disable-auto-cleanup", *others],
        env=default_ranks.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert time.monotonic() - begun < 50
    assert "rank 1 of 3 on" in done.stderr


def test_names_that_are_no_communicator_are_refused():
    with pytest.raises(core.errors.UnknownName, match="'local'"):
        create_communicator("locl")
    with pytest.raises(CommunicatorError, match="'create_communicator' is none"):
        create_communicator("create_communicator")
    with pytest.raises(CommunicatorError, match="no setting 'bucket'"):
        create_communicator("local", bucket=3)
    with pytest.raises(CommunicatorError, match="floating dtype"):
        create_communicator("local", allreduce_grad_dtype="int8")


@pytest.mark.skipif(CudaBackend.unavailable() is None, reason="there is a GPU")
@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_optimizers_of_several_ranks_are_not_copied(copied):
    comm = create_communicator("local")
    optimizer = create_multi_node_optimizer(optimizers.Adam(), comm).setup(L.Linear(2, 1))
    with pytest.raises(TypeError, match=r"MultiNodeAdam can be neither.*core\.serializers"):
        copied(optimizer)


def test_nccl_says_what_it_lacks():
    with pytest.raises(CommunicatorError, match="nccl.*no GPU"):
        create_communicator("nccl")


def test_what_nccl_is_asked_for_makes_the_sums(default_ranks):
    assert "stood in 3" in default_ranks.run(3, "nccl_stand_in")


def test_without_mpi4py_everything_imports_and_says_what_to_install():
    program = (
        "import sys; sys.modules['mpi4py'] = None\n"
        "import core, core.communicators as c\n"
        "assert c.create_communicator('local').size == 1\n"
        "try: c.create_communicator('mpi')\n"
        "except ImportError as error: assert 'plugrad[mpi]' in str(error), error\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_processes_that_another_mpi_started_are_told(default_ranks):
    program = "from core.communicators import create_communicator as c; c('mpi')"
    environment = {**default_ranks.environment(), "OMPI_COMM_WORLD_SIZE": "4"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Open MPI has started 4 processes" in done.stderr


def test_narrow_gradients_are_added_in_float32():
    comm = create_communicator("local", allreduce_grad_dtype=np.float16)
    assert comm.get_config("allreduce_grad_dtype") == "float16"


@pytest.mark.parametrize("chatty", ["", 'print("hello from a plugin");'])
def test_the_doctor_lets_two_ranks_greet_each_other(default_ranks, monkeypatch, chatty):
    monkeypatch.setattr(ranks_command, "_HELLO", chatty + ranks_command._HELLO)
    found = [*findings()]
    assert "problem" not in dict(found), found
    assert any("two ranks started by" in text and "can talk" in text for _, text in found)


@pytest.mark.parametrize("told", [True, False])
def test_the_doctor_says_whether_mpi_takes_arrays_on_gpus(default_ranks, monkeypatch, told):
    for name in ("MPICH_GPU_SUPPORT_ENABLED", "OMPI_MCA_opal_cuda_support"):
        monkeypatch.delenv(name, raising=False)
    if told:
        monkeypatch.setenv("OMPI_MCA_opal_cuda_support", "true")
    [(state, text)] = [(state, text) for state, text in findings() if "arrays on GPUs" in text]
    assert state == ("ok" if told else "note")
    assert text.startswith("OMPI_MCA_opal_cuda_support=true: " if told else "MPI takes no arrays")
