#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modules.py [--write] [ROOT] - docs/modules.md, a line for each module: what its header, or its file where it has none,
says of itself first. Without --write it says whether the page is as it would be written; exits 1 if not."""
import os
import re
import sys

arguments = [a for a in sys.argv[1:] if a != "--write"]
root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
rooms = ["record", "store", "timeline", "blame", "tui", "formats"]
page = os.path.join(root, "docs/modules.md")


def first_sentence(path):
    """What the head of a file says behind 'NAME - ', to the end of its first sentence; None: 'see X.h'."""
    text = open(path, encoding="utf8").read()
    head = re.match(r"(?:/\* SPDX.*?\*/\s*)?/\*(.*?)\*/", text, re.S)
    if not head:
        return ""
    words = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in head.group(1).split("\n")).strip()
    words = re.sub(r"^[\w./]+ - ", "", words)
    if re.match(r"see \S+\.h", words):
        return None
    ends = [m.start() for m in re.finditer(r"(?<=[^.][.:;])\s+(?=[A-Z(|]|$)|\s{2,}|$", words)]
    whole = [words[:end] for end in ends if words[:end].count("(") == words[:end].count(")")]
    sentence = (whole or [words])[0].rstrip(":;")
    return sentence.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def files():
    for room in rooms:
        for folder, below, names in sorted(os.walk(os.path.join(root, room))):
            below.sort()
            yield os.path.relpath(folder, root), sorted(n for n in names if n.endswith((".c", ".h")))


def sort_key(folder):
    return [rooms.index(folder.split("/")[0])] + folder.split("/")


def written():
    lines = ["# Modules", "",
             "A line for each module, in its own header's words, by folder. `./build.sh format` writes this page from the "
             "headers;", "`lint.modules` holds it to them. What the folders are: [CONTRIBUTING.md](../CONTRIBUTING.md#where-things-are).",
             ""]
    for folder, names in sorted(files(), key=lambda pair: sort_key(pair[0])):
        modules = {}
        for name in names:
            stem = name[:-2]
            # X.c without a header of its own says itself what it is; X_internal.h belongs to X.
            sentence = first_sentence(os.path.join(root, folder, name))
            if stem.endswith("_internal") or sentence is None:
                continue
            if name.endswith(".h") or stem + ".h" not in names:
                modules[stem] = (name, sentence)
        if not modules:
            continue
        lines += [f"## `{folder}/`", ""]
        for stem in sorted(modules):
            name, sentence = modules[stem]
            lines.append(f"- `{name}` {sentence}")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


text = written()
if "--write" in sys.argv:
    open(page, "w", encoding="utf8").write(text)
elif not os.path.exists(page) or open(page, encoding="utf8").read() != text:
    old = open(page, encoding="utf8").read().split("\n") if os.path.exists(page) else []
    for line in [l for l in text.split("\n") if l not in old][:10]:
        print("docs/modules.md lacks: " + line)
    for line in [l for l in old if l not in text.split("\n")][:10]:
        print("docs/modules.md says, and no header does: " + line)
    print("docs/modules.md is not what the headers say: ./build.sh format")
    sys.exit(1)
