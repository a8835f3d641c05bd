# SPDX-License-Identifier: Apache-2.0
"""torchrun --nproc-per-node 2 torch_ddp.py [--steps N] [--late RANK] [--milliseconds MS]

Training steps of a small network on several GPUs, whose gradients NCCL adds up. In the last quarter of them rank RANK
(1) takes MS (8) milliseconds of CPU ahead of each step (function `prepare`), which all others wait for: the trace must
show their GPUs in NCCL's kernels meanwhile, and `hpct-blame --late` that rank. Prints each rank's median milliseconds
per step before that and the last loss.
"""
import argparse
import os
import statistics
import time

import torch
import torch.distributed


def prepare(milliseconds):
    """What a batch takes of the CPU."""
    until = time.thread_time() + milliseconds / 1e3
    while time.thread_time() < until:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--late", type=int, default=1)
    parser.add_argument("--milliseconds", type=float, default=8)
    arguments = parser.parse_args()
    rank, device = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", device))
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(512, 2048, device="cuda")
    early = arguments.steps - arguments.steps // 4
    took = []
    for step in range(arguments.steps):
        begin = time.monotonic()
        if rank == arguments.late and step >= early:
            prepare(arguments.milliseconds)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        took.append(time.monotonic() - begin)
    print(f"rank {rank}: {statistics.median(took[early // 4:early]) * 1e3:.2f} ms a step, loss {loss.item():.6f}")
    torch.distributed.destroy_process_group()


main()
