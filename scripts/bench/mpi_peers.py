"""Times two ranks of mpi4py and of PyTorch's gloo, for comparison with `scripts/mpi.sh bench`.

usage: mpiexec -n 2 python scripts/bench/mpi_peers.py mpi4py      # built for the MPI of that mpiexec
       python scripts/bench/mpi_peers.py gloo                     # starts two processes
needs: pip install numpy mpi4py torch

Prints the median in microseconds of calls that both ranks begin together, like the benchmark of nomina-mpi: an all-reduce of f32 into
another buffer, one in place, and an exchange of the same bytes between two ranks.
"""

import os
import statistics
import sys
import time

SIZES = [1, 256, 16 << 10, 256 << 10, 4 << 20]


def measure(first, barrier, name, elements, call):
    calls = max(9, min(2000, 20_000_000 // (elements * 4 + 4000)))
    times = []
    for i in range(calls + 3):
        barrier()
        began = time.perf_counter()
        call()
        if i >= 3:
            times.append(time.perf_counter() - began)
    if first:
        print(f"{name:22} {elements * 4:10} {statistics.median(times) * 1e6:10.1f}", flush=True)


def mpi4py():
    import numpy as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank = world.rank
    if rank == 0:
        print(f"mpi4py, {MPI.Get_library_version().split(chr(10))[0].strip()}")
    for elements in SIZES:
        a, b = np.ones(elements, "f4"), np.empty(elements, "f4")
        ops = {
            "all_reduce": lambda: world.Allreduce(a, b),
            "all_reduce in place": lambda: world.Allreduce(MPI.IN_PLACE, b),
            "shift": lambda: world.Sendrecv(a, 1 - rank, 0, b, 1 - rank, 0),
        }
        b[:] = 0
        for name, op in ops.items():
            measure(rank == 0, world.Barrier, name, elements, op)


def gloo_rank(rank):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{os.environ['PORT']}", rank=rank, world_size=2)
    if rank == 0:
        print(f"gloo, torch {torch.__version__}")
    for elements in SIZES:
        a, b = torch.zeros(elements), torch.zeros(elements)

        def shift():
            jobs = [dist.P2POp(dist.isend, a, 1 - rank), dist.P2POp(dist.irecv, b, 1 - rank)]
            for job in dist.batch_isend_irecv(jobs):
                job.wait()

        # gloo supports only all-reduce in place.
        measure(rank == 0, dist.barrier, "all_reduce", elements, lambda: dist.all_reduce(a.clone()))
        measure(rank == 0, dist.barrier, "all_reduce in place", elements, lambda: dist.all_reduce(a))
        measure(rank == 0, dist.barrier, "shift", elements, shift)
    dist.destroy_process_group()


def gloo():
    import multiprocessing
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ["PORT"] = str(free.getsockname()[1])
    ranks = [multiprocessing.get_context("spawn").Process(target=gloo_rank, args=(rank,)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    sys.exit(max(rank.exitcode for rank in ranks))


if __name__ == "__main__":
    if sys.argv[1:] not in (["mpi4py"], ["gloo"]):
        sys.exit(__doc__)
    {"mpi4py": mpi4py, "gloo": gloo}[sys.argv[1]]()
