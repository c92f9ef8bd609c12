"""A rank of a job of PyTorch's DistributedDataParallel on gloo: measures what rank 0 is asked for.

Arguments: the rank, the number of ranks, and a file by which they find each other.
"""

import json
import sys
from time import perf_counter

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BATCH, SIZES = 128, (784, 1000, 1000, 10)
rank, size, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
torch.manual_seed(0)
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=size)


def training(batch):
    """A call that makes one step."""
    layers = []
    for a, b in zip(SIZES, SIZES[1:], strict=False):
        layers += [nn.Linear(a, b), nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    if size > 1:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    x, t = torch.randn(batch, SIZES[0]), torch.randint(0, SIZES[-1], (batch,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), t).backward()
        optimizer.step()

    return step


made = {}


def steps(case, count):
    """Seconds of a step."""
    if case not in made:
        made[case] = training({"strong": BATCH // size, "weak": BATCH}[case])
        for _ in range(3):
            made[case]()
    dist.barrier()
    begin = perf_counter()
    for _ in range(count):
        made[case]()
    dist.barrier()
    return (perf_counter() - begin) / count


while True:
    asked = [sys.stdin.readline() if rank == 0 else None]
    dist.broadcast_object_list(asked)
    if not asked[0].strip():
        break
    answer = steps(*json.loads(asked[0])[1:])
    if rank == 0:
        print(json.dumps(answer), flush=True)
dist.destroy_process_group()
