#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bytes that the view sends to a terminal of 200x50 with 256 colours: nothing when idle, at most 2 KB for a step of the
# cursor, at most 20 KB for a whole picture; and a terminal in order after each way to end it.
. "$(dirname -- "$0")/expect.sh"
need python3
hpct-simulate -o view.hpct --shape mixed --streams 60 --records 60000 --seed 7 || fail "no run to look at"
hpct-simulate -o other.hpct --shape mixed --streams 50 --records 60000 --seed 8 || fail "no second run"
cat >count.py <<'P'
import fcntl, os, pty, select, signal, struct, sys, termios, time

def start(runs=("view.hpct",)):
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execvp("hpct-view", ["hpct-view", *runs])
    return pid, fd

def is_waiting():
    return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "S"

def read(fd, at_least=0):
    """what it writes until it waits for a key, or has ended"""
    data, quiet, until = b"", 0, time.time() + 120
    while time.time() < until and quiet < 6:
        if select.select([fd], [], [], 0.05)[0]:
            try:
                more = os.read(fd, 65536)
            except OSError:
                break
            if not more:
                break
            data += more
            quiet = 0
        else:
            quiet = quiet + 1 if len(data) >= at_least and is_waiting() else 0
    return data

def at_once(name, least):
    """A busy machine showed a picture in parts, as far as it was read each time: all is there now, drawn anew at once"""
    os.write(fd, b"\x0c")
    got = len(read(fd, at_least=least))
    print(f"{name} at once {got}")
    return got

pid, fd = start()
failed = 0
def count(name, keys, most, least=0):
    global failed
    os.write(fd, keys.encode())
    got = len(read(fd, at_least=least))
    print(f"{name} {got}")
    if got > most == 20480:
        got = at_once(name, least)
    if not least <= got <= most:
        print(f"FAILED: {name}: {got} bytes, not {least} to {most}")
        failed = 1

first = len(read(fd, at_least=1000))
print("first picture", first)
if first > 20480 and at_once("first picture", 1000) > 20480:
    print("FAILED: first picture")
    failed = 1
count("idle", "", 0)
for step in "llljjlkh":
    count(f"cursor {step}", step, 2048, 1)
count("zoom", "w", 20480, 100)
count("pan", "d", 20480, 100)
count("depth", "e", 20480, 20)
count("ten held keys", "l" * 10, 2048, 1)
for name, key in (("blame", "2"), ("summary", "3"), ("depth", "4"), ("gaps", "5"), ("source", "7"), ("statistics", "1")):
    count(f"pane {name}", key, 20480, 100)
count("summary again", "3", 20480, 100)
count("cursor with the summary", "l", 2048, 1)
count("depth again", "4", 20480, 100)
count("cursor with the depth", "l", 2048, 1)
count("whole depth", "4", 20480, 100)
count("cursor there", "l", 2048, 1)
count("back", "q", 20480, 100)
count("profile", "6", 20480, 100)
count("line of the profile", "j", 2048, 1)
count("plot", "G", 20480, 100)
count("stream of the plot", "l", 2048, 1)
count("back", "qq", 20480, 100)
os.write(fd, b"q")
tail = read(fd, 1 << 20)
status = os.waitpid(pid, 0)[1]
if status or b"\x1b[?1049l" not in tail:
    print("FAILED: q leaves", status, tail[-60:])
    failed = 1

pid, fd = start(("view.hpct", "other.hpct"))
read(fd, at_least=1000)
count("two runs, zoomed", "w", 20480, 100)
for step in "lljh":
    count(f"cursor in both {step}", step, 2048, 1)
count("shift", ">", 20480, 20)
os.write(fd, b"qq")
read(fd, 1 << 20)
os.waitpid(pid, 0)

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    pid, fd = start()
    read(fd, at_least=1000)
    os.kill(pid, number)
    tail = read(fd, 1 << 20)
    status = os.waitpid(pid, 0)[1]
    if not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == number) or b"\x1b[?1049l" not in tail:
        print("FAILED: signal", number, "leaves", status, tail[-60:])
        failed = 1
sys.exit(failed)
P
python3 count.py || fail "bytes or terminal, see above"
