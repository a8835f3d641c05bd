# SPDX-License-Identifier: Apache-2.0
# python.py [SECONDS] - CPU time in shares that are known: six tenths in heavy, three in Middle.work, one in light,
# each by its own clock; around them what Python stacks are made of: recursion, generators, coroutines, exceptions,
# calls from C, threads, processes. `# ->` says which functions a line calls: tests check each call path by it.
import asyncio
import functools
import multiprocessing
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

UNIT = (float(sys.argv[1]) if len(sys.argv) > 1 else 1.0) / 10


def spin(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def burn(seconds, step):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        step()  # -> heavy_step light_step step recursion numbers drive catch ordered visit around


def heavy_step():
    spin(2000)  # -> spin


def heavy():
    burn(6 * UNIT, heavy_step)  # -> burn


class Middle:
    def step(self):
        return spin(1500)  # -> spin

    def work(self):
        burn(3 * UNIT, self.step)  # -> burn


def light_step():
    spin(100)  # -> spin


def light():
    burn(UNIT, light_step)  # -> burn


def recursion(n=40):
    return spin(400) if n == 0 else recursion(n - 1)  # -> spin recursion


def produce(n):
    for i in range(n):
        yield spin(20) + i  # -> spin


def numbers():
    return sum(x for x in produce(100))  # -> <genexpr> produce


async def wait_for(n):
    return spin(n)  # -> spin


async def chain():
    for _ in range(20):
        await wait_for(200)  # -> wait_for


def drive():
    try:
        chain().send(None)  # -> chain
    except StopIteration:
        pass


def throw(n):
    if n == 0:
        raise ValueError(spin(200))  # -> spin
    throw(n - 1)  # -> throw


def catch():
    try:
        throw(10)  # -> throw
    except ValueError:
        spin(100)  # -> spin


def key(x):
    return spin(30) - x  # -> spin


def ordered():
    return sorted(range(50), key=key)  # -> key


class Tree:
    def __init__(self, depth):
        self.children = [Tree(depth - 1) for _ in range(2)] if depth else []  # -> __init__ <listcomp>

    def __iter__(self):
        yield spin(10)  # -> spin
        for child in self.children:
            yield from child  # -> __iter__


def visit():
    return list(Tree(4))  # -> __init__ __iter__


def decorated(f):
    @functools.wraps(f)
    def around(*args):
        return f(*args)  # -> read

    return around


@decorated  # -> decorated
def read():  # -> decorated
    namespace = {}
    exec("def made(n):\n    return sum(range(n))", namespace)
    return namespace["made"](2000)


def odd():
    for f in (recursion, numbers, drive, catch, ordered, visit, read):
        burn(UNIT / 7, f)  # -> burn


def child():
    light()  # -> light


def main():
    heavy()  # -> heavy
    Middle().work()  # -> work
    light()  # -> light
    threads = [threading.Thread(target=odd, name="odd") for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: spin(n), [20000] * 20))  # -> spin
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()


if __name__ == "__main__":
    main()  # -> main
    print("done")
