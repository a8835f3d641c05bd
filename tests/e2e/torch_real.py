# SPDX-License-Identifier: Apache-2.0
"""torch_real.py [alone] : PyTorch's own autograd, with kernels of OpenCL as its layers' work. Two threads run forward passes, whose
functions have the same numbers; the backward pass of each runs in a thread of its own. Alone: one thread, and of all operators only the layer's call has autograd's
number, as the call of a compiled graph has."""
import ctypes
import sys
import threading

import torch

cl = ctypes.CDLL("libOpenCL.so.1")
pointer, code = ctypes.c_void_p, ctypes.c_int()
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel"):
    getattr(cl, name).restype = pointer


def opened():
    platform, device = pointer(), pointer()
    assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
    assert cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None) == 0
    context = pointer(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(code)))
    queue = pointer(cl.clCreateCommandQueue(context, device, ctypes.c_uint64(0), ctypes.byref(code)))
    source = ctypes.c_char_p(b"kernel void one(void) {} kernel void two(void) {}")
    program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, ctypes.byref(code)))
    assert cl.clBuildProgram(program, 1, ctypes.byref(device), b"", None, None) == 0
    return queue, [pointer(cl.clCreateKernel(program, name, ctypes.byref(code))) for name in (b"one", b"two")]


def launch(which):
    one = ctypes.c_size_t(1)
    assert cl.clEnqueueNDRangeKernel(queue, kernels[which], 1, None, ctypes.byref(one), None, 0, None, None) == 0


class Layer(torch.autograd.Function):
    @staticmethod
    def forward(own, x, which):
        own.which = which
        launch(which)
        return x * 2

    @staticmethod
    def backward(own, gradient):
        launch(own.which)
        return gradient * 2, None


def layer_one(x):
    return Layer.apply(x, 0)


def layer_two(x):
    return Layer.apply(x, 1)


def train(layer, turns, meet):
    x, gradient = torch.ones(4, requires_grad=True), torch.ones(4)
    for _ in range(turns):
        meet.wait()
        loss = layer(x) if is_alone else layer(torch.tanh(x) + 1).sum()
        meet.wait()
        other = threading.Thread(target=loss.backward, args=(gradient,) if is_alone else ())
        other.start()
        other.join()


def work(turns):
    layers = (layer_one,) if is_alone else (layer_one, layer_two)
    meet = threading.Barrier(len(layers))
    threads = [threading.Thread(target=train, args=(layer, turns, meet)) for layer in layers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cl.clFinish(queue)


is_alone = "alone" in sys.argv
torch.set_num_threads(1)
queue, kernels = opened()
launch(0)
work(100)  # the agent learns where numbers are
with torch.profiler.record_function("known"):
    work(10)
print("done")
