# SPDX-License-Identifier: Apache-2.0
"""Threads of Python that work in C, without its lock, and in Python."""
import hashlib
import json
import threading
import zlib

results = {}


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(name):
    data = bytes(range(256)) * 4096
    digest = hashlib.sha256()
    for i in range(40):
        digest.update(zlib.compress(data, 6))
        digest.update(data)
        digest.update(json.dumps(list(range(i, i + 2000))).encode())
    results[name] = (digest.hexdigest(), fibonacci(24))


threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name in sorted(results):
    print(name, *results[name])
