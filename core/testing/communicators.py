"""The proof of a communicator, by the processes of a job themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from core.arrays import backend
from core.errors import CommunicatorError
from core.link import Link, Parameter
from core.testing.demand import demand
from core.training import Communicator

_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def check_communicator(comm: Communicator, megabytes: float = 100) -> None:
    """Prove a communicator: every process of a job calls this with its own.

    Exchanged are objects and arrays of every dtype (bfloat16 too where it is installed), without
    elements, without axes and in any order of memory, between all pairs of ranks and by every
    collective method with every root; an object of so many `megabytes`; tuples; gradients. Wrong
    peers, and arrays that do not fit together, have to be refused with a CommunicatorError.

    Raises AssertionError that names the method and the rank.

    >>> import core
    >>> check_communicator(core.communicators.create_communicator("local"), megabytes=1)
    """
    for check in (
        _numbers,
        _objects,
        _arrays,
        _sums,
        _bits,
        _orders,
        _wrong_peers,
        _parts,
        _models,
    ):
        try:
            check(comm)
        except AssertionError as error:
            error.add_note(f"In {check.__name__.strip('_')} of {comm!r}.")
            raise
    big = np.arange(int(megabytes * 2**20) // 8)
    found = comm.bcast_obj(big if comm.rank == 0 else None)
    demand(np.array_equal(found, big), f"bcast_obj of {megabytes} MB")


def _numbers(comm: Communicator) -> None:
    demand(comm.allgather_obj(comm.rank) == [*range(comm.size)], "allgather_obj, or rank and size")
    demand(0 <= comm.intra_rank < comm.intra_size <= comm.size, "intra_rank and intra_size")
    demand(0 <= comm.inter_rank < comm.inter_size <= comm.size, "inter_rank and inter_size")
    places = comm.allgather_obj((comm.inter_rank, comm.intra_rank))
    demand(len({*places}) == comm.size, "two ranks have the same place")


def _between(comm: Communicator, send: Callable[..., Any], recv: Callable[..., Any]) -> Any:
    """What `recv` gives of every other rank, which sends by `send`; both take rank and tag."""
    found = {}
    for source in range(comm.size):
        for dest in range(comm.size):
            if source != dest and comm.rank == source:
                send(dest, 7)
            if source != dest and comm.rank == dest:
                found[source] = recv(source, 7)
    return found


def _objects(comm: Communicator) -> None:
    _all_methods(comm, _object, _same_object, "_obj")
    everybody = [*range(comm.size)]
    demand(comm.allreduce_obj([comm.rank]) == everybody, "allreduce_obj")
    comm.barrier()
    if comm.size > 1:  # messages of one tag do not wait for those of another
        if comm.rank == 0:
            for tag in (1, 2):
                comm.send_obj(tag, 1, tag)
        elif comm.rank == 1:
            demand([comm.recv_obj(0, tag) for tag in (2, 1)] == [2, 1], "tags")


def _object(rank: int) -> Any:
    return {"rank": rank, "list": [None, "ä", 1 << 70], "array": np.full(3, rank)}


def _same_object(found: Any, expected: Any) -> bool:
    arrays = found.pop("array"), expected.pop("array")
    return bool(np.array_equal(*arrays)) and found == expected


def _examples(rank: int) -> Iterator[Any]:
    """Arrays of a rank: of each dtype, and of each form in memory."""
    generator = np.random.default_rng(rank)
    dtypes = [np.dtype(name) for name in _DTYPES]
    with suppress(TypeError):  # where it is not installed
        dtypes.append(backend.host().dtype("bfloat16"))
    for dtype in dtypes:
        yield generator.integers(0, 2 if dtype.kind == "b" else 9, (2, 3)).astype(dtype)
    x = generator.standard_normal((4, 3)).astype("f")
    yield from (x.T, x[::2, ::-1], np.asfortranarray(x), np.broadcast_to(x[0], (5, 3)))
    yield from (np.array(x[1, 1]), x[:0], np.zeros((2, 0, 3), "d"), x.astype(">f4"))


def _one(chosen: int, rank: int) -> Any:
    """An array of a rank, whose dtype and shape differ from those of other ranks."""
    arrays = [*_examples(rank)]
    return arrays[(chosen + rank) % len(arrays)]


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(_same, found, expected))
    found = backend.to_host(found)
    same = found.shape == expected.shape and found.dtype == expected.dtype
    return bool(same and found.tobytes() == expected.tobytes() and found.flags.writeable)


def _all_methods(
    comm: Communicator,
    of: Callable[[int], Any],
    same: Callable[[Any, Any], bool] = _same,
    kind: str = "",
) -> None:
    """Every method of arrays, or of objects, where `of(rank)` is what that rank has."""
    send, recv, bcast, gather, scatter, allgather, alltoall = (
        getattr(comm, name + kind)
        for name in ("send", "recv", "bcast", "gather", "scatter", "allgather", "alltoall")
    )
    everybody = range(comm.size)
    sent = _between(comm, lambda rank, tag: send(of(comm.rank), rank, tag), recv)
    demand(
        all([same(found, of(rank)) for rank, found in sent.items()]), f"send{kind} and recv{kind}"
    )
    for root in everybody:
        found = bcast(of(root) if comm.rank == root else None, root)
        demand(comm.rank == root or same(found, of(root)), f"bcast{kind}")
        gathered = gather(of(comm.rank), root)
        demand((gathered is None) == (comm.rank != root), f"gather{kind}")
        demand(all([same(x, of(rank)) for rank, x in enumerate(gathered or ())]), f"gather{kind}")
        parts = tuple([of(rank) for rank in everybody]) if comm.rank == root else None
        demand(same(scatter(parts, root), of(comm.rank)), f"scatter{kind}")
    everything = allgather(of(comm.rank))
    demand(all([same(x, of(rank)) for rank, x in enumerate(everything)]), f"allgather{kind}")
    turned = alltoall(tuple([of(comm.size * comm.rank + rank) for rank in everybody]))
    expected = [of(comm.size * rank + comm.rank) for rank in everybody]
    demand(all(map(same, turned, expected)), f"alltoall{kind}")


def _arrays(comm: Communicator) -> None:
    count = len([*_examples(0)])
    _all_methods(comm, lambda rank: tuple(_examples(rank)))
    _all_methods(comm, lambda rank: tuple(_examples(rank))[:1])
    for chosen in (4, 9, count - 5, count - 4, count - 2):  # single ones; shapes differ by rank
        _all_methods(comm, partial(_one, chosen))
    matrix = np.arange(2.0 * comm.size).reshape(comm.size, 2)
    found = comm.scatter(matrix if comm.rank == 0 else None)
    demand(_same(found, matrix[comm.rank]), "scatter of an array")


def _sums(comm: Communicator) -> None:
    given = [[x for x in _examples(rank) if x.dtype != bool] for rank in range(comm.size)]
    expected = []
    for parts in zip(*given, strict=True):
        narrow = parts[0].dtype.itemsize == 2 and parts[0].dtype.kind not in "iu"
        total = np.stack([part.astype("d") if narrow else part for part in parts]).sum(0)
        expected.append(total.astype(parts[0].dtype))
    for found, sum_ in zip(comm.allreduce(tuple(given[comm.rank])), expected, strict=True):
        demand(found.shape == sum_.shape, "allreduce")
        demand(found.dtype == sum_.dtype, "allreduce")
        demand(np.allclose(found.astype("D"), sum_.astype("D"), rtol=1e-5, atol=1e-6), "allreduce")
    x = np.ones(3, "<f4" if comm.rank % 2 else ">f4")
    total = comm.allreduce(x)
    demand(total.dtype == x.dtype, "allreduce of bytes in other orders")
    demand(total.tolist() == [comm.size] * 3, "allreduce of bytes in other orders")


def _bits(comm: Communicator) -> None:
    """Sums have the same bits each time, on all ranks, in the background and in parts."""
    x = np.random.default_rng(comm.rank).standard_normal(9999).astype("f")
    bounds = [(99 * rank * rank) // comm.size for rank in range(comm.size)] + [x.size]
    own = slice(*bounds[comm.rank : comm.rank + 2])
    for dtype in ("float32", "float16"):
        whole, again = comm.allreduce(x.astype(dtype)), comm.allreduce(x.astype(dtype))
        demand(whole.tobytes() == again.tobytes(), "allreduce gives other bits when repeated")
        everywhere = comm.allgather_obj(whole.tobytes())
        demand(len({*everywhere}) == 1, "allreduce gives other bits on other ranks")
        pending = [(s, comm.iallreduce(s)) for s in (x.astype(dtype), x.astype(dtype))]
        for sum_, each in pending[::-1]:
            each.wait()
            demand(np.array_equal(sum_, whole), "iallreduce")
        buffers = [x.astype(dtype) for _ in range(2)]
        begun = [comm.ireduce_scatter(buffer, bounds) for buffer in buffers]
        for part in begun[::-1]:
            part.wait()
            demand(np.array_equal(part.result, whole[own]), "ireduce_scatter")
        gathered = np.zeros_like(whole)
        gathered[own] = whole[own]
        comm.iallgather(gathered, bounds).wait()
        demand(np.array_equal(gathered, whole), "iallgather")


def _orders(comm: Communicator) -> None:
    """Many different calls one after the other: nothing is mixed up."""
    generator = np.random.default_rng(0)  # the same on all ranks
    for step in range(20):
        root, what = int(generator.integers(comm.size)), int(generator.integers(4))
        if what == 0:
            demand(comm.bcast_obj((step, comm.rank), root) == (step, root), "bcast_obj")
        elif what == 1:
            expected = [(step, rank) for rank in range(comm.size)]
            demand(comm.allgather_obj((step, comm.rank)) == expected, "allgather_obj")
        elif what == 2:
            demand(comm.allreduce(np.array([step])).tolist() == [step * comm.size], "allreduce")
        else:
            found = comm.gather_obj(step, root)
            demand(found == ([step] * comm.size, None)[comm.rank != root], "gather_obj")


def _refused(what: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except CommunicatorError:
        return
    raise AssertionError(f"{what}: expected a CommunicatorError, nothing was raised")


def _wrong_peers(comm: Communicator) -> None:
    x = np.ones(2)
    for peer in (-1, comm.size, comm.rank, 0.5, None, "0", True):
        for name, call in (
            ("send", lambda peer=peer: comm.send(x, peer)),
            ("recv", lambda peer=peer: comm.recv(peer)),
            ("send_obj", lambda peer=peer: comm.send_obj(1, peer)),
            ("recv_obj", lambda peer=peer: comm.recv_obj(peer)),
        ):
            _refused(f"{name} with rank {peer!r}", call)
    for root in (-1, comm.size, None):
        for name, call in (
            ("bcast", lambda root=root: comm.bcast(x, root)),
            ("gather", lambda root=root: comm.gather(x, root)),
            ("scatter", lambda root=root: comm.scatter((x,) * comm.size, root)),
            ("bcast_obj", lambda root=root: comm.bcast_obj(x, root)),
        ):
            _refused(f"{name} with root {root!r}", call)
    _refused("alltoall of too many", lambda: comm.alltoall((x,) * (comm.size + 1)))
    _refused("allreduce of booleans", lambda: comm.allreduce(x > 0))
    _refused("send of a string", lambda: comm.send("text", (comm.rank + 1) % comm.size))
    inner = ((x,), x)
    _refused("send of a tuple in a tuple", lambda: comm.send(inner, (comm.rank + 1) % comm.size))
    _refused("an unknown setting", lambda: comm.set_config("bucket_size", 3))
    if comm.size > 1:
        _refused("shapes that differ", lambda: comm.allreduce(np.ones(2 + comm.rank % 2)))
        kinds = ("f", "d")
        _refused("dtypes that differ", lambda: comm.allreduce(np.ones(2, kinds[comm.rank % 2])))


def _parts(comm: Communicator) -> None:
    """Communicators of some of the ranks."""
    part = comm.split(comm.rank % 2, -comm.rank)
    members = [r for r in reversed(range(comm.size)) if r % 2 == comm.rank % 2]
    if part is None:
        raise AssertionError("split")
    demand((part.size, part.rank) == (len(members), members.index(comm.rank)), "split")
    demand(part.allgather_obj(comm.rank) == members, "split")
    few = comm.split(0 if comm.rank == 0 else None, 0)
    demand((few is None) == (comm.rank != 0), "split")
    for each in (part, few):
        if each is not None and each is not comm:
            demand(each.allreduce(np.ones(1)).tolist() == [each.size], "allreduce of a part")
            each.finalize()


def _models(comm: Communicator) -> None:
    """Broadcast parameters and averaged gradients, also in narrow floats and many buffers."""
    made = Weights(comm.rank)
    comm.bcast_data(made)
    expected = Weights(0)
    for (path, found), (_, own) in zip(made.namedparams(), expected.namedparams(), strict=True):
        demand(np.array_equal(found.array, own.array), f"bcast_data of {path}")
    before = comm.get_config()
    for dtype, most in ((None, 1 << 20), (None, 16), ("float16", 16)):
        comm.set_config("allreduce_grad_dtype", dtype)
        comm.set_config("bucket_bytes", most)
        made.W.grad = np.full((3, 2), comm.rank, "f")
        made.b.grad = np.ones(2, "d") if comm.rank == 0 else None
        if comm.size > 1:
            _refused("gradients on one rank", lambda: comm.multi_node_mean_grad(made))
        comm.multi_node_mean_grad(made, zero_fill=True)
        demand(made.W.grad.dtype == "f", "multi_node_mean_grad")
        mean = (comm.size - 1) / 2
        demand(np.allclose(made.W.grad, mean, rtol=1e-3), "multi_node_mean_grad")
        demand(
            np.allclose(np.asarray(made.b.grad), 1 / comm.size, rtol=1e-3), "multi_node_mean_grad"
        )
    for name, value in before.items():
        comm.set_config(name, value)


class Weights(Link):
    """Two parameters, whose values tell the rank."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W = Parameter(np.full((3, 2), rank, "f"))
            self.b = Parameter(np.full(2, rank, "d"))
            self.later = Parameter()
