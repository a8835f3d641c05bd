# SPDX-License-Identifier: Apache-2.0
"""torch_step.py [--model mlp|conv] [--steps N] [--producer MS] [--profiler] [--graph]

A training step of a small network in PyTorch. With --producer, batches come from a
thread that takes MS milliseconds of CPU for each (function `produce`), more than a
step takes: the trace must show the GPU idle and hpct-blame naming the producer.
Prints the median milliseconds per step, the count of steps and the last loss.
"""
import argparse
import queue
import statistics
import threading
import time

import torch


def network(name):
    if name == "mlp":
        layers = []
        for _ in range(6):
            layers += [torch.nn.Linear(512, 512), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(512, 10)), (256, 512)
    layers, channels = [], 3
    for width in (64, 128, 128, 256, 256):
        layers += [torch.nn.Conv2d(channels, width, 3, padding=1), torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
        channels = width
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                               torch.nn.Linear(channels, 10)), (64, 3, 64, 64)


def produce(shape, milliseconds):
    """A batch that took its time."""
    batch = torch.randn(shape)
    until = time.thread_time() + milliseconds / 1e3
    while time.thread_time() < until:
        batch = batch * 1.0
    return batch


def producer(batches, shape, steps, milliseconds):
    for _ in range(steps):
        batches.put(produce(shape, milliseconds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="conv", choices=("mlp", "conv"))
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warm-up", type=int, default=10)
    parser.add_argument("--producer", type=float, default=0)
    parser.add_argument("--profiler", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, shape = network(arguments.model)
    model = model.cuda()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    target = torch.randint(0, 10, (shape[0],), device="cuda")
    resident = torch.randn(shape, device="cuda")
    total = arguments.steps + arguments.warm_up
    batches = queue.Queue(maxsize=2)
    if arguments.producer:
        threading.Thread(target=producer, args=(batches, shape, total, arguments.producer), daemon=True).start()

    def step():
        inputs = batches.get().cuda() if arguments.producer else resident
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(inputs), target)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(arguments.warm_up):
        loss = step()
    torch.cuda.synchronize()
    if arguments.profiler:
        with torch.profiler.profile() as profile:
            for _ in range(5):
                step()
            torch.cuda.synchronize()
        kernels = sum(1 for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)
        print("profiler_events", kernels)
    times = []
    for _ in range(arguments.steps // 5):
        begin = time.perf_counter()
        torch.cuda.nvtx.range_push("five steps")
        for _ in range(5):
            loss = step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        times.append((time.perf_counter() - begin) * 1e3 / 5)
    print("ms_per_step %.4f steps %d loss %.4f" % (statistics.median(times), arguments.steps, loss.item()))


main()
