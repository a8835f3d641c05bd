# SPDX-License-Identifier: Apache-2.0
# gil.py [ROUNDS] - who holds Python's lock while others want it: `holder`, in the main thread, calls C without giving the
# lock away, 20 ms a round (default 40), in `planted`; `waiter` wants it all that time, and when it has it, sleeps at
# once. There is no third thread. Prints the numbers of both.
#
# What the trace must show: the waiter waits for the holder alone, 99 % of the time for what `planted` does
# (`hpct-blame --of gil`), about 20 ms a round: spans `gil`, each one wait, not 5 ms of it.
import ctypes
import sys
import threading
import time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 40
hold_us = ctypes.PyDLL(None).usleep  # PyDLL: with the lock held
is_over = False


def planted():
    hold_us(20000)


def holder():
    global is_over
    for _ in range(ROUNDS):
        planted()
        time.sleep(0.002)
    is_over = True


def waiter():
    while not is_over:
        time.sleep(0.0002)


def main():
    thread = threading.Thread(target=waiter)
    thread.start()
    print(threading.main_thread().native_id, thread.native_id)
    holder()
    thread.join()


if __name__ == "__main__":
    main()
