# SPDX-License-Identifier: Apache-2.0
"""python_stress.py KIND SEED [LIBRARY] - one start of an interpreter under trouble: prints what depends on KIND and SEED
alone. LIBRARY: a C library that calls back and, where it is asked to, crashes (python_stress.c)."""
import atexit
import ctypes
import gc
import os
import random
import sys
import threading

KIND, SEED = sys.argv[1], int(sys.argv[2])
chance = random.Random(SEED)


class Cycle:
    """Garbage whose end runs code of Python."""
    ended = 0

    def __init__(self, load):
        self.itself, self.load = self, load

    def __del__(self):
        Cycle.ended += 1


def raises(depth):
    if depth == 0:
        raise ValueError("bottom")
    try:
        return raises(depth - 1)
    finally:
        sorted(range(20), key=lambda x: -x)


def counts(limit):
    for i in range(limit):
        yield from (i * k for k in range(3))


def work(rounds, own):
    total = 0
    for i in range(rounds):
        try:
            raises(own.randrange(1, 30))
        except ValueError as error:
            total += len(str(error))
        total += sum(counts(own.randrange(50)))
        Cycle(list(range(own.randrange(100))))
        space = {}
        exec(compile(f"def made_{i % 7}(x):\n return x + {i}\n", "<made>", "exec"), space)
        total += space[f"made_{i % 7}"](i)
    return total


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def in_threads(count, rounds):
    totals = [0] * count

    def body(number):
        totals[number] = work(rounds, random.Random(SEED + number))
    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(totals)


def in_children(count):
    codes = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            in_threads(2, 3)
            (sys.exit if number % 2 else os._exit)(number)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode")
                     else os.waitpid(child, 0)[1] >> 8)
    return codes


def daemons():
    """Threads that still run Python while the interpreter shuts down."""
    def forever():
        while True:
            work(1, random.Random(SEED))
    for _ in range(3):
        threading.Thread(target=forever, daemon=True).start()
    atexit.register(lambda: work(20, random.Random(SEED)))
    return work(20, chance)


def by_library(crashes):
    library = ctypes.CDLL(sys.argv[3])
    shape = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    back = shape(lambda n: work(n, random.Random(n)) % 1000)
    library.call_back.restype = ctypes.c_int
    total = sum(library.call_back(back, n) for n in range(1, 12))
    print(total, flush=True)
    if crashes:
        library.crash(shape(lambda n: library.crash(shape(int), n - 1) if n else 0), 1)
    return total


def main():
    if KIND == "threads":
        print(in_threads(6, 40), gc.collect() >= 0)
    elif KIND == "fork":
        threading.Thread(target=work, args=(60, random.Random(1))).start()
        print(in_children(6))
    elif KIND == "exec":
        in_threads(2, 5)
        if SEED % 4:
            sys.stdout.flush()
            os.execv(sys.executable, [sys.executable, sys.argv[0], KIND, str(SEED - 1), *sys.argv[3:]])
        print("executed", work(10, chance))
    elif KIND == "shutdown":
        print(daemons())
    elif KIND == "exit":
        daemons()
        sys.stdout.write("unflushed")
        os._exit(7)
    elif KIND == "deep":
        sys.setrecursionlimit(900)
        print(deep(500))
        try:
            deep(100000)
        except RecursionError:
            print("too deep")
    elif KIND == "library":
        print(by_library(False))
    elif KIND == "crash":
        by_library(True)
    elif KIND == "pool":
        import multiprocessing
        for way in ("fork", "spawn"):
            with multiprocessing.get_context(way).Pool(2) as pool:
                print(way, pool.map(deep, range(0, 60, 7)))


if __name__ == "__main__":
    main()
