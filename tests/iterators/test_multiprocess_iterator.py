"""MultiprocessIterator: SerialIterator's batches from processes that come to an end, or die."""

import copy
import errno
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
import worker_datasets as datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from iteration import batches, saved

import core
from core.datasets import TupleDataset
from core.iterators import MultiprocessIterator, SerialIterator
from core.serializers import NpzDeserializer
from plugins.processes import folders as own_folders
from plugins.processes import ipc, workers

PLACES = [Path("/dev/shm"), Path(tempfile.gettempdir())]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    gc.collect()
    assert multiprocessing.active_children() == []
    assert folders(os.getpid()) == []


def folders(pid):
    return [folder for place in PLACES for folder in place.glob(f"plugrad-{pid}-*")]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def check_like_serial(length, given, before, after, **own):
    core.seed(1)
    try:
        expected = batches(SerialIterator(range(length), **given), before + after)
        core.seed(1)
        with MultiprocessIterator(range(length), **own, **given) as iterator:
            found = batches(iterator, before)
            state, random = saved(iterator), core.backend.random_state()
            assert found == expected[:before]
            core.seed(2)
            with copy.copy(iterator) as other:
                next(other, None)
                NpzDeserializer(state).load(other)
                core.backend.set_random_state(random)
                assert batches(other, after) == expected[before:]
            core.backend.set_random_state(random)
            assert batches(iterator, after) == expected[before:]
    finally:
        core.seed(None)


iterations = st.fixed_dictionaries(
    {"batch_size": st.integers(1, 15), "repeat": st.booleans(), "shuffle": st.booleans()}
)


def test_it_is_the_serial_iterator():
    given = {"batch_size": 5, "repeat": True, "shuffle": True}
    check_like_serial(12, given, 4, 5, n_processes=2, n_prefetch=2)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.integers(1, 12),
    iterations,
    st.integers(1, 2),
    st.integers(0, 4),
    st.integers(0, 6),
    st.integers(1, 6),
)
def test_it_is_the_serial_iterator_wherever_it_stops(length, given, n, n_prefetch, before, after):
    check_like_serial(length, given, before, after, n_processes=n, n_prefetch=n_prefetch)


@pytest.mark.slow
def test_every_stop_point_of_two_passes():
    for stop in range(9):
        given = {"batch_size": 3, "repeat": True, "shuffle": True}
        check_like_serial(10, given, stop, 3, n_processes=1, n_prefetch=3)


def test_any_kind_of_element():
    elements = [
        None,
        "text",
        b"bytes",
        {"image": np.arange(12.0).reshape(3, 4).T, "labels": [1, 2]},
        (np.zeros((0, 3)), np.float16(2), 1 + 2j),
        np.arange(100_000, dtype="f"),
        np.arange(100_000)[::3],
        np.array(["a", None], object),
        np.ma.array([1, 2], mask=[True, False]),
        core.Variable(np.ones(3, "f")),
        Path("somewhere"),
    ]
    with MultiprocessIterator(elements, 11, shuffle=False, n_processes=2) as iterator:
        for _ in range(2):
            assert same(iterator.next(), elements)


def same(one, other):
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(map(same, one, other)) and len(one) == len(other)
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, core.Variable):
        return same(one.array, other.array)
    if isinstance(one, np.ma.MaskedArray):
        return repr(one) == repr(other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


def test_arrays_arrive_whole_and_can_be_written_to():
    images = np.random.default_rng(0).normal(size=(20, 3, 40, 40)).astype("f")
    small = np.arange(20)
    dataset = TupleDataset(images, small, images[:, :, ::2])
    with MultiprocessIterator(dataset, 7, shuffle=False, n_processes=2) as iterator:
        for index, (image, number, half) in enumerate(iterator.next()):
            np.testing.assert_array_equal(image, images[index])
            np.testing.assert_array_equal(half, images[index, :, ::2])
            assert (image.dtype, number, image.flags.aligned) == (images.dtype, index, True)
            image += 1
        assert len(iterator.next()) == 7


@pytest.mark.parametrize("shared_mem", [0, 100, 10**6])
def test_limits_of_shared_memory(shared_mem):
    dataset = np.ones((6, 5000))
    with MultiprocessIterator(
        dataset, 6, shuffle=False, n_processes=1, shared_mem=shared_mem
    ) as iterator:
        np.testing.assert_array_equal(iterator.next(), dataset)


def test_a_full_folder_leaves_the_next_one(tmp_path, monkeypatch):
    def full(file, view):
        if Path(file.name).parent.name == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        file.write(view)

    monkeypatch.setattr(ipc, "_write_all", full)
    places = [tmp_path / "full", tmp_path / "other"]
    for folder in places:
        folder.mkdir()
    sent = ipc.send(np.arange(5000), places, "x", None)
    assert Path(sent).parent == places[1] and not list(places[0].iterdir())
    found = ipc.receive(sent, ipc.Memory(1), ipc.Maps())
    np.testing.assert_array_equal(found, np.arange(5000))
    assert [path.name for path in places[1].iterdir()] == ["free-x"]
    with pytest.raises(OSError, match="No space"):
        ipc.send(np.arange(5000), places[:1], "x", None)
    with pytest.raises(OSError, match="No space") as told, monkeypatch.context() as patched:
        patched.setattr(workers, "private_folders", lambda: [places[0]])
        MultiprocessIterator(np.arange(5000), 2).next()
    assert "Name another folder by the variable TMPDIR" in told.value.__notes__[0]


@pytest.mark.parametrize("mapped", [True, False])
def test_files_and_memory_are_used_again_and_never_while_somebody_has_them(
    tmp_path, monkeypatch, mapped
):
    monkeypatch.setattr(ipc.Maps, "usable", mapped)
    maps = ipc.Maps()
    memory, kept, addresses = ipc.Memory(2), [], set()
    for i, size in enumerate(np.random.default_rng(0).integers(3000, 9000, 40)):
        sent = ipc.send(["text", np.full(size, i)], [tmp_path], f"m{i}", None)
        _, array = ipc.receive(sent, memory, maps)
        assert len(array) == size and (array == i).all()
        addresses.add(array.ctypes.data)
        kept.append(array[1:])
        del array
        if i % 4 == 3:
            del kept[::2]
        assert all((part == part[0]).all() for part in kept)
        assert len({int(part[0]) for part in kept}) == len(kept)
    assert len(addresses) < 30
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_grow_stays_for_shorter_messages(tmp_path, monkeypatch):
    def full(file, view):
        if file.tell() + len(view) > 90_000:
            file.write(view[: 90_000 - file.tell()])
            raise OSError(errno.ENOSPC, "No space left on device")
        file.write(view)

    monkeypatch.setattr(ipc, "_write_all", full)
    memory, maps = ipc.Memory(1), ipc.Maps()
    for size, fits in ((5000, True), (50_000, False), (4000, True), (5000, True)):
        if not fits:
            with pytest.raises(OSError, match="No space"):
                ipc.send(np.arange(size), [tmp_path], "x", None)
        else:
            sent = ipc.send(np.arange(size), [tmp_path], "x", None)
            np.testing.assert_array_equal(ipc.receive(sent, memory, maps), np.arange(size))
        (file,) = tmp_path.iterdir()
        assert file.name == "free-x" and file.stat().st_size < 41_000


@pytest.mark.parametrize("mapped", [True, False])
def test_a_message_that_breaks_off_is_an_error(tmp_path, monkeypatch, mapped):
    monkeypatch.setattr(ipc.Maps, "usable", mapped)
    path = Path(ipc.send(np.arange(5000), [tmp_path], "x", None))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(EOFError, match="ends before its time"):
        ipc.receive(str(path), ipc.Memory(1), ipc.Maps())


@pytest.mark.parametrize(
    ("dataset", "how", "cure"),
    [
        (datasets.Killed(10, 6), "SIGKILL", "fewer n_processes"),
        (datasets.Leaving(10, 6), "exit code 3", "__main__"),
    ],
)
def test_a_worker_that_dies_is_an_error_within_seconds(dataset, how, cure):
    with MultiprocessIterator(dataset, 2, shuffle=False, n_processes=2) as iterator:
        handed = []
        for _ in range(3):
            begun = time.monotonic()
            with pytest.raises(MultiprocessIterator.WorkerDied, match=how) as caught:
                while True:
                    handed.append(iterator.next())
            assert time.monotonic() - begun < 25
            assert cure in str(caught.value)
            # It dies of index 6, ahead of time: the batch before may be lost on the way, or not.
            assert handed in ([[0, 1], [2, 3]], [[0, 1], [2, 3], [4, 5]])
            assert iterator.current_position == 2 * len(handed)
        assert multiprocessing.active_children() == []


def test_workers_killed_from_outside_whatever_they_are_at():
    iterator = MultiprocessIterator(np.ones((8, 10_000)), 4, n_processes=2, n_prefetch=3)
    with iterator:
        for _ in range(4):
            iterator.next()
            os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
            with pytest.raises(MultiprocessIterator.WorkerDied, match="SIGKILL"):
                for _ in range(1000):
                    iterator.next()


def test_others_take_over_from_workers_that_are_asked_to_end():
    core.seed(1)
    try:
        expected = batches(SerialIterator(range(12), 4), 6)
        core.seed(1)
        with MultiprocessIterator(range(12), 4, n_processes=1) as iterator:
            found = batches(iterator, 2)
            for process in multiprocessing.active_children():
                process.terminate()
            assert found + batches(iterator, 4) == expected
    finally:
        core.seed(None)


def test_after_a_death_the_batches_go_on(tmp_path):
    dataset = datasets.KilledOnce(6, 3, tmp_path / "killed")
    with MultiprocessIterator(dataset, 2, shuffle=False, n_processes=1) as iterator:
        handed = []
        with pytest.raises(MultiprocessIterator.WorkerDied):
            while True:
                handed.append(iterator.next())
        handed += [iterator.next() for _ in range(3 - len(handed))]
        assert handed == [[0, 1], [2, 3], [4, 5]]
        assert iterator.epoch == 1


def test_an_error_is_the_original_one_and_names_the_index():
    with MultiprocessIterator(datasets.Raising(6, 3), 2, shuffle=False, n_processes=2) as iterator:
        assert iterator.next() == [0, 1]
        for _ in range(2):
            with pytest.raises(OSError, match="not now") as caught:
                iterator.next()
            where, remote = caught.value.__notes__
            assert where == "MultiprocessIterator: raised by dataset[3] in a worker process."
            assert "in trouble" in remote
        assert iterator.current_position == 2


@pytest.mark.parametrize(
    ("dataset", "kind", "text"),
    [
        (datasets.RaisingOwn(3, 1), RuntimeError, "OwnError: ab"),
        (
            datasets.Exiting(3, 1),
            RuntimeError,
            "dataset[1] in a worker process. It was a SystemExit",
        ),
        (datasets.Unloadable(3), OSError, "loaded its copy of the dataset"),
        (datasets.Lambdas(3), Exception, "use threads. Indices: [0, 1, 2]"),
    ],
)
def test_what_processes_cannot_hand_over_is_an_error(dataset, kind, text):
    with MultiprocessIterator(dataset, 3, shuffle=False, n_processes=1) as iterator:
        with pytest.raises(kind) as caught:
            iterator.next()
        assert text in "".join(caught.value.__notes__)


def test_a_dataset_that_cannot_be_pickled_is_refused():
    iterator = MultiprocessIterator([lambda: 0], 1, n_processes=1)
    with pytest.raises(TypeError, match="can be pickled.*MultithreadIterator"):
        iterator.next()


def test_a_slow_dataset_is_a_warning_and_its_batch_comes():
    iterator = MultiprocessIterator(
        datasets.Slow(4, 2), 2, shuffle=False, n_processes=1, dataset_timeout=0.2
    )
    with iterator, pytest.warns(MultiprocessIterator.TimeoutWarning):
        assert iterator.next() == [0, 1]
        assert iterator.next() == [2, 3]


def test_a_stuck_dataset_can_be_an_error_and_is_closed_within_seconds():
    with MultiprocessIterator(datasets.Stuck(4, 2), 2, shuffle=False, n_processes=2) as iterator:
        assert iterator.next() == [0, 1]
        iterator.dataset_timeout = 0.2
        begun = time.monotonic()
        with pytest.raises(MultiprocessIterator.TimeoutWarning):
            iterator.next()
        assert iterator.current_position == 2
    assert time.monotonic() - begun < 60


def test_workers_are_replaced():
    with MultiprocessIterator(
        datasets.Processes(4), 2, n_processes=1, maxtasksperchild=2
    ) as iterator:
        processes = [pid for _ in range(8) for pid in iterator.next()]
        assert len(set(processes)) >= 4
        wait_until(lambda: len(multiprocessing.active_children()) <= 2)
    examples = [0, 1]
    with MultiprocessIterator(examples, 2, n_processes=1) as iterator:
        assert sorted(iterator.next()) == examples
        examples += [2, 3]  # the next pass is of copies with these
        assert sorted(iterator.next() + iterator.next()) == examples


def test_what_is_loaded_in_vain_is_removed():
    iterator = MultiprocessIterator(np.ones((20, 1000)), 2, n_processes=2, n_prefetch=4)
    with iterator:
        for _ in range(5):
            iterator.next()
            iterator.reset()
        iterator.n_prefetch = 0
        iterator.next()

        def held():
            names = [file.name for folder in folders(os.getpid()) for file in folder.iterdir()]
            return [name for name in names if not name.startswith("free-")]

        assert "dataset" in held()
        wait_until(lambda: held() == ["dataset"])


def test_files_do_not_pile_up():
    with MultiprocessIterator(np.ones((20, 1000)), 4, n_processes=2, n_prefetch=2) as iterator:
        for _ in range(60):
            iterator.next()
        files = [file for folder in folders(os.getpid()) for file in folder.iterdir()]
        assert len(files) <= 1 + 2 * (1 + 2)  # the dataset, and what was on its way at a time


def test_several_processes_load():
    with MultiprocessIterator(datasets.Processes(4), 4, n_processes=2) as iterator:
        seen: set[int] = set()
        wait_until(lambda: seen.update(iterator.next()) or len(seen) == 2)


def test_the_number_of_threads_is_that_of_workers_which_have_one_each():
    with core.using_config("num_threads", 2):
        iterator = MultiprocessIterator(datasets.Threads(4), 4)
    with iterator:
        assert iterator.n_processes == 2
        assert iterator.next() == [(1, 1)] * 4


def test_random_numbers_of_a_dataset_follow_the_seed_and_the_place():
    def drawn(n_processes, skipped, count):
        core.seed(5)
        try:
            with MultiprocessIterator(
                datasets.Draws(6), 4, shuffle=False, n_processes=n_processes
            ) as iterator:
                for _ in range(skipped):
                    iterator.next()
                state = saved(iterator)
            with MultiprocessIterator(
                datasets.Draws(6), 4, shuffle=False, n_processes=n_processes
            ) as other:
                NpzDeserializer(state).load(other)
                return [example for _ in range(count) for example in other.next()]
        finally:
            core.seed(None)

    whole = drawn(1, 0, 4)
    assert drawn(2, 2, 2) == whole[8:]
    assert len({numbers for _, *numbers in map(tuple, whole) for numbers in numbers}) == 6 * 16


def test_random_numbers_differ_in_passes_that_begin_anew_and_in_other_orders():
    def made(**given):
        return MultiprocessIterator(datasets.Draws(6), 6, repeat=False, n_processes=1, **given)

    core.seed(5)
    try:
        with made(shuffle=False) as iterator, made(shuffle=True) as other:
            first = iterator.next()
            iterator.reset()
            state = saved(iterator)
            again = iterator.next()
            iterator.reset()
            examples = [*first, *again, *iterator.next(), *other.next()]
            assert len({number for _, *numbers in examples for number in numbers}) == 4 * 6 * 6
            iterator.reset()
            NpzDeserializer(state).load(iterator)
            assert iterator.next() == again
    finally:
        core.seed(None)


def test_unseeded_workers_draw_different_numbers():
    draws = datasets.Draws(8)
    draws.seeding = datasets.Seeding()
    with MultiprocessIterator(draws, 8, shuffle=False, n_processes=2) as iterator:
        batch = [example for _ in range(3) for example in iterator.next()]
    assert all([len(set(column)) == 24 for column in list(zip(*batch, strict=True))[1:]])


def test_garbage_collection_ends_the_workers():
    iterator = MultiprocessIterator(range(6), 2, n_processes=2)
    iterator.next()
    workers = [process.pid for process in multiprocessing.active_children()]
    assert workers
    del iterator
    gc.collect()
    wait_until(lambda: not any(map(alive, workers)))


def test_finalize_ends_the_workers_and_next_starts_new_ones():
    iterator = MultiprocessIterator(range(6), 2, shuffle=False, n_processes=1)
    assert not multiprocessing.active_children()
    assert iterator.next() == [0, 1]
    iterator.finalize()
    iterator.close()
    assert not multiprocessing.active_children() and not folders(os.getpid())
    assert iterator.next() == [2, 3]
    iterator.dataset = "abcdef"
    assert iterator.next() == ["e", "f"]
    iterator.close()


SCRIPT = """
import multiprocessing, os, signal, sys, threading
sys.path.insert(0, {tests!r})
import worker_datasets as datasets
from core.iterators import MultiprocessIterator

if __name__ == "__main__":
    iterator = MultiprocessIterator(datasets.Stuck(4, 2), 2, shuffle=False, n_processes=2)
    iterator.next()
    print(os.getpid(), *(p.pid for p in multiprocessing.active_children()), flush=True)
    {end}
"""


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("pass", 0),
        ("raise KeyError", 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.killpg(0, signal.SIGTERM)", -signal.SIGTERM),
        (
            "signal.signal(15, lambda *_: signal.signal(15, 0)); [os.killpg(0, 15) for _ in 'ab']",
            -15,
        ),
        ("threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()", 0),
    ],
)
def test_however_a_program_ends_nothing_is_left(tmp_path, end, status):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(tests=str(Path(__file__).parents[1]), end=end))
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=60, start_new_session=True
    )
    main, *workers = map(int, done.stdout.split())
    assert done.returncode == status
    assert len(workers) == 2
    wait_until(lambda: not any(map(alive, workers)) and not folders(main))


def test_what_is_left_where_all_are_killed_at_once_goes_with_the_next_iterator(tmp_path):
    path = tmp_path / "script.py"
    end = "os.killpg(0, signal.SIGKILL)"
    path.write_text(SCRIPT.format(tests=str(Path(__file__).parents[1]), end=end))
    with tempfile.TemporaryDirectory() as own:  # where no other process removes what is left
        done = subprocess.run(
            [sys.executable, path], capture_output=True, text=True, timeout=60,
            start_new_session=True, env={**os.environ, "TMPDIR": own},
        )  # fmt: skip
        main, *_ = map(int, done.stdout.split())
        left = [*Path(own).glob(f"plugrad-{main}-*")]
        assert done.returncode == -signal.SIGKILL and left
        own_folders._remove_forsaken(Path(own))
        assert not any([folder.exists() for folder in left])
    with MultiprocessIterator("ab", 1, shuffle=False) as one:
        assert one.next() == ["a"] and not folders(main)
        known = folders(os.getpid())
        with MultiprocessIterator("cd", 1, shuffle=False) as another:
            assert another.next() == ["c"] and {*known} < {*folders(os.getpid())}
        assert one.next() == ["b"] and folders(os.getpid()) == known


@pytest.mark.skipif(own_folders.fcntl is None, reason="there are no locks")
def test_a_new_folder_that_somebody_is_about_to_remove_is_not_used(monkeypatch, tmp_path):
    taken = []

    def locked(folder):
        if not taken:
            taken.append(folder)
            raise BlockingIOError
        return lock(folder)

    lock = own_folders._locked
    monkeypatch.setattr(own_folders, "_locked", locked)
    made = own_folders._made(tmp_path)
    assert made.exists() and made not in taken
    own_folders.remove([made])
    assert not made.exists()


@pytest.mark.skipif(own_folders.fcntl is None, reason="there are no locks")
def test_folders_of_other_machines_are_left_alone(tmp_path):
    machine = own_folders._MACHINE
    other = f"{int(machine, 16) ^ 1:08x}"
    for name in (f"plugrad-1-{machine}-abcd_efg", f"plugrad-1-{other}-abcd_efg", "plugrad-1-mine"):
        (tmp_path / name).mkdir()
    own = own_folders._made(tmp_path)
    own_folders._remove_forsaken(tmp_path)
    left = {folder.name for folder in tmp_path.iterdir()}
    own_folders.remove([own])
    assert left == {own.name, f"plugrad-1-{other}-abcd_efg", "plugrad-1-mine"}


def test_a_script_without_a_guard_is_told_so(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        textwrap.dedent("""
            from core.iterators import MultiprocessIterator
            MultiprocessIterator(range(3), 2, n_processes=1).next()
        """)
    )
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "WorkerDied" in done.stderr and "`if __name__ == '__main__':`" in done.stderr


def test_classes_of_a_notebook_are_told_of():
    code = """
class Mine(list):
    pass

from core.iterators import MultiprocessIterator
MultiprocessIterator(Mine([1, 2]), 2, n_processes=1).next()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "attribute 'Mine' on <module '__main__'" in done.stderr
    assert "into a module, or use MultithreadIterator" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dataset": []}, "MultiprocessIterator: .* empty dataset"),
        ({"batch_size": 0}, "batch size of 1 or more"),
        ({"n_processes": 0}, "n_processes of 1 or more"),
        ({"n_prefetch": -1}, "n_prefetch of 0 or more"),
        ({"shared_mem": -1}, "shared_mem of 0 or more"),
        ({"dataset_timeout": 0.0}, "dataset_timeout to be more than 0 seconds, or None"),
        ({"maxtasksperchild": 0}, "maxtasksperchild of 1 or more"),
        ({"shuffle": True, "order_sampler": lambda order, position: order}, "got both"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiprocessIterator(**{"dataset": [1], "batch_size": 1, **arguments})
