# SPDX-License-Identifier: Apache-2.0
"""torch_fake.py CPU PYTHON steps|own|backward|threads|compiled : a loop of training on libraries that have PyTorch's names for what the agent
asks (torch_cpu.cc, torch_python.cc). Prints how many steps it took."""
import ctypes
import os
import sys
import threading

mode = sys.argv[3]
ctypes.CDLL(sys.argv[1])  # locally, as Python opens its modules
torch = ctypes.CDLL(sys.argv[2])
cpu = ctypes.CDLL(sys.argv[1])
cpu.range_new.restype = ctypes.c_void_p
cpu.range_delete.argtypes = [ctypes.c_void_p]
cpu.next_number.restype = ctypes.c_uint64
torch.backward.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int]


class Range:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.range = cpu.range_new(self.name)

    def __exit__(self, *_):
        cpu.range_delete(self.range)


class Optimizer:
    def __init__(self, inner=None):
        self.inner = inner

    def step(self, closure=None):
        with Range(b"Optimizer.step#%s.step" % type(self).__name__.encode()):
            if closure:
                closure()
            if self.inner:
                self.inner.step()


class SGD(Optimizer):
    pass


class Sharded(Optimizer):
    pass


def batches(count):
    for _ in range(count):
        with Range(b"enumerate(DataLoader)#Iter.__next__"):
            pass
        yield


def steps():
    count = 0
    plain, nested = SGD(), Sharded(SGD())
    for _ in batches(20):
        plain.step()
        count += 1
    for _ in batches(20):  # as Lightning does: all of the step within the optimizer's; one that fails is one, too
        try:
            plain.step(lambda: 1 // (count % 2))
        except ZeroDivisionError:
            pass
        count += 1
    for _ in batches(10):
        nested.step()
        count += 1
    if os.fork() == 0:
        for _ in batches(5):
            plain.step()
        os._exit(0)
    os.wait()
    return count + 5


def own():
    mark = getattr(ctypes.CDLL(None), "hpct_agent_mark", lambda _: None)
    for _ in batches(7):
        mark(b"step")
        SGD().step()
    return 7


def first_layer(functions):
    torch.operator_launch(b"aten::linear", functions)


def second_layer(functions):
    torch.operator_view(b"aten::t", functions)
    torch.operator_launch(b"aten::addmm", functions)


def measured():
    """A kernel that belongs to no operator, and one of an operator that makes no function."""
    torch.kernel_launch()
    torch.operator_launch(b"aten::argmax", 0)


def forward_and_backward():
    first = cpu.next_number()
    first_layer(1)
    second_layer(1)
    measured()
    torch.backward(first, cpu.next_number() - 1, 0)
    return cpu.next_number() - first


def backward():
    for _ in range(100):  # the agent learns where numbers are
        forward_and_backward()
    with Range(b"known"):
        for _ in range(10):
            forward_and_backward()
    return 110


def compiled_graph():
    torch.graph_launch()


def compiled():
    """All operators but the call of the graph have no number, and that has the one that the optimizer's last ones knew."""
    def turn():
        first = cpu.next_number()
        compiled_graph()
        torch.backward(first, first, 0)
    for _ in range(100):
        turn()
    with Range(b"known"):
        for _ in range(10):
            turn()
    return 110


def layer_one():
    torch.operator_launch(b"aten::linear", 1)


def layer_two():
    torch.operator_launch(b"aten::linear", 1)


def no_layer():
    torch.operator_view(b"aten::cpu", 1)


def layer_again():
    torch.operator_launch(b"aten::checkpoint", 1)


def passes(layer, meet, again):
    """Numbers are the same in each thread, and known for all but its first launch."""
    for _ in range(10):
        meet.wait()
        first = cpu.next_number()
        layer()
        meet.wait()
        torch.backward(first, first, again)


def threads():
    for _ in range(100):
        forward_and_backward()
    meet = threading.Barrier(4)
    workers = [threading.Thread(target=passes, args=(layer, meet, layer == layer_again))
               for layer in (layer_one, layer_two, no_layer, layer_again)]
    with Range(b"known"):
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return 140


torch.module_init(mode in ("backward", "threads", "compiled"))
print(cpu.engine_is_set())
print(globals()[mode]())
