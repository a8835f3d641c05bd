#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The view asks a terminal for its background (OSC 11) and takes the colours of text for it, whenever the answer comes;
# no byte of an answer is a key, and a terminal that may not understand is not asked.
. "$(dirname -- "$0")/expect.sh"
need python3
hpct-simulate -o view.hpct --shape cpu --streams 6 --records 20000 --seed 7 || fail "no run to look at"
cat >answer.py <<'P'
import fcntl, os, pty, re, select, struct, sys, termios, time

QUESTION = b"\x1b]11;?\x07"

def look(terminal, answer):
    """question seen, colours of text of a picture drawn anew, the bottom line, exit code"""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.environ.update(TERM=terminal, LC_ALL="C.UTF-8")
        os.environ.pop("NO_COLOR", None)
        os.execvp("hpct-view", ["hpct-view", "view.hpct", "--time", "0..1s"])
    def until(done):
        data, end = b"", time.time() + 120
        while time.time() < end and not done(data):
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    more = os.read(fd, 65536)
                except OSError:
                    break
                if not more:
                    break
                data += more
        return data
    has_keys = lambda data: b"help" in data and b"quit" in data
    data = until(has_keys)
    asked = QUESTION in data
    if answer:
        for piece in answer:
            os.write(fd, piece)
            time.sleep(0.01)
    os.write(fd, b"\x0c")  # draws all anew
    data = until(has_keys)
    colours = set(re.findall(rb"38;5;(\d+)m", data))
    os.write(fd, b"q")
    until(lambda data: False)
    return asked, colours, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

failed = 0
def check(name, is_right):
    global failed
    print(("ok " if is_right else "FAILED: ") + name)
    failed |= not is_right

plain = look("xterm-256color", None)
white = look("xterm-256color", [b"\x1b]11;rgb:ffff/ffff/ffff\x07"])
black = look("xterm-256color", [b"\x1b]11;rgb:0000/00", b"00/0000\x1b\\"])
odd = look("xterm-256color", [b"\x1b]11;rgb:qqqq\x07"])
check("it asks", plain[0] and white[0] and black[0])
check("one q ends it: no byte of an answer was a key", all(it[2] == 0 for it in (plain, white, black, odd)))
check(f"text on white has other colours: {sorted(white[1])} {sorted(plain[1])}", white[1] != plain[1])
check("text on black has other colours than on white", black[1] != white[1])
check("an answer that says nothing changes nothing", odd[1] == plain[1])
check("the console is not asked", not look("linux", None)[0])
sys.exit(failed)
P
python3 answer.py || fail "the colours or the keys of an answer, see above"
