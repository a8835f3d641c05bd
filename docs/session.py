#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records docs/session.cast, the session that the README shows, and plays it.

    docs/session.py record RUN.hpct [FILE]    keys below are typed at hpct-view in a terminal of 100x30
    docs/session.py play [FILE]               what came back, at the speed it came

The file is an asciicast of version 2: https://docs.asciinema.org/manual/asciicast/v2/; `asciinema play` reads it too.
"""
import codecs
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

COLUMNS, ROWS = 100, 30
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "session.cast")

# Keys, then seconds to look at what they did.
SCRIPT = [
    ("", 2), (":time 1.239s..1.383s\r", 2), ("e", 1), ("e", 1), ("e", 1.5), ("jl", 0.5), ("lllll", 0.5), ("LLL", 1.5),
    ("JJ", 0.7), ("c", 1.2), ("KK", 0.8), ("w", 0.8), ("w", 1.5), ("d", 1), ("d", 1.2), ("u", 0.5), ("uuu", 1.2),
    ("2", 2.5), ("]", 1.5), ("]", 1.5), ("3", 2), ("4", 2), ("1", 1), ("/spmv\r", 1.5), ("jjj\r", 1.5), ("u", 1),
    ("6", 1), ("P", 2.5), ("q", 0.8), ("5", 1.5), ("5", 2.5), ("q", 0.8), ("Y", 3), ("?", 2.5), ("q", 0.5),
]


def read(fd, seconds):
    """Yields what comes within that time, with the moment it came."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if not select.select([fd], [], [], left)[0]:
            return
        try:
            data = os.read(fd, 65536)
        except OSError:
            return
        if not data:
            return
        yield time.monotonic(), data


def record(run, path):
    pid, fd = pty.fork()
    if pid == 0:
        time.sleep(0.1)  # the size below comes first
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execvp("hpct-view", ["hpct-view", run])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    text = codecs.getincrementaldecoder("utf-8")("replace")
    begin = time.monotonic()
    events = []
    for keys, seconds in SCRIPT + [("q", 1)]:
        os.write(fd, keys.encode())
        for at, data in read(fd, seconds):
            events.append([round(at - begin, 3), "o", text.decode(data)])
    status = os.waitpid(pid, 0)[1]
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "hpct-view",
              "env": {"TERM": "xterm-256color"}}
    with open(path, "w", encoding="utf-8") as file:
        for line in [header] + events:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return status


def play(path):
    begin = time.monotonic()
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            at, _, text = json.loads(line)
            time.sleep(max(0, at - (time.monotonic() - begin)))
            sys.stdout.write(text)
            sys.stdout.flush()


def main():
    words = sys.argv[1:]
    if len(words) in (2, 3) and words[0] == "record":
        sys.exit(1 if record(words[1], words[2] if len(words) == 3 else FILE) else 0)
    if len(words) in (1, 2) and words[0] == "play":
        play(words[1] if len(words) == 2 else FILE)
        return
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
