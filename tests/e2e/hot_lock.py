# SPDX-License-Identifier: Apache-2.0
"""A lock of Python that one thread holds while another wants it, round by round; the kernel says when that one sleeps.
Prints the kernel's numbers of holder and waiter, and the rounds."""
import threading
import time

ROUNDS = 10
lock = threading.Lock()
tids = {}
wanted = threading.Semaphore(0)
held = threading.Semaphore(0)


def sleeps(tid):
    with open(f"/proc/self/task/{tid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


def rebuild(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(2000))


def holder():
    tids["holder"] = threading.get_native_id()
    for _ in range(ROUNDS):
        with lock:
            held.release()
            wanted.acquire()
            seen = 0
            while seen < 3:  # not only for the interpreter, which is free while this thread sleeps
                time.sleep(0.002)
                seen = seen + 1 if sleeps(tids["waiter"]) else 0
            rebuild(0.02)
        taken.acquire()


def waiter():
    tids["waiter"] = threading.get_native_id()
    for _ in range(ROUNDS):
        held.acquire()
        wanted.release()
        look_up()
        taken.release()


def look_up():
    with lock:
        sum(range(100))


taken = threading.Semaphore(0)
threads = [threading.Thread(target=waiter), threading.Thread(target=holder)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(tids["holder"], tids["waiter"], ROUNDS)
