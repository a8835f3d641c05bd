#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stations.py [ROOT] - holds the call chains of CONTRIBUTING.md to the code.

A chain is a code block that begins with the line `stations: TITLE`. Each further line is a station,

    N  FILE  function -> function => function

where `->` says that the function's body, in FILE or in the file of a station before, names the next one, and `=>`
that data or a table leads there (a ring, a callback), so that only the next function's definition is checked. A station
goes on from the last function of the one before; its first arrow may stand at the end of that line or at its own
start. Prints what is not so, exits 1."""
import re
import sys
import os

root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../..")
bad = 0


def body(path, function):
    """Text of the function's definition in the file, or None."""
    text = open(os.path.join(root, path), encoding="utf8").read()
    for match in re.finditer(r"^(?:[A-Za-z_#].*[ *(\"])?" + function + r"[(\"]", text, re.M):
        rest = text[match.start():]
        end = re.search(r"^[})]", rest, re.M)
        piece = rest[: end.end()] if end else rest
        if "{" in piece or function + '"' in piece:
            return piece
    return None


def say(sentence):
    global bad
    bad = 1
    print("CONTRIBUTING.md: " + sentence)


pages = open(os.path.join(root, "CONTRIBUTING.md"), encoding="utf8").read()
chains = re.findall(r"```\nstations: (.*?)\n(.*?)```", pages, re.S)
if len(chains) < 3:
    say("there are to be three chains of stations, %d found" % len(chains))
for title, lines in chains:
    last = None  # (path, function)
    arrow = None
    for line in lines.strip().split("\n"):
        parts = line.split()
        if not parts[0].isdigit():
            say("%s: '%s' does not begin with a station's number" % (title, line))
            continue
        path, words = parts[1], parts[2:]
        if not os.path.exists(os.path.join(root, path)):
            say("%s: %s is not there" % (title, path))
            continue
        for word in words:
            if word in ("->", "=>"):
                arrow = word
                continue
            here = body(path, word)
            if here is None:
                say("%s: %s is not defined in %s" % (title, word, path))
            if last and arrow == "->":
                before = body(*last)
                if before is not None and not re.search(r"\b" + word + r"\b", before):
                    say("%s: %s does not call %s" % (title, last[1], word))
            elif last and arrow is None:
                say("%s: no arrow leads to %s" % (title, word))
            last, arrow = (path, word), None
sys.exit(bad)
