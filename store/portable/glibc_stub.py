#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""glibc_stub.py CC OUT [NEWEST] - empty shared libraries with glibc's names and symbols as of version NEWEST (2.28).

A program linked with them asks for the newest version of each function that is not newer than NEWEST, and so runs with
that glibc and all later ones. The linker's own choice is the version of the machine it runs on. The symbols come from
the C library that CC links with; nothing of it is copied but names, versions, kinds and sizes."""
import os
import re
import subprocess
import sys

compiler, out = sys.argv[1:3]
newest = tuple(int(n) for n in (sys.argv[3] if len(sys.argv) > 3 else "2.28").split("."))
libraries = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"]


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


objdump = output_of(compiler, "-print-prog-name=objdump")
if output_of(compiler, "-dumpmachine").startswith("aarch64"):
    libraries.append("ld-linux-aarch64.so.1")  # has __stack_chk_guard there


def number(version):
    return tuple(int(n) for n in version[len("GLIBC_"):].split("."))


def symbols(path):
    """name -> (version, kind, size, address, is weak), the newest version that is not too new."""
    found = {}
    for line in output_of(objdump, "-T", path).split("\n"):
        # ADDRESS FLAGS(7 columns) SECTION SIZE (VERSION) NAME; the parentheses are those of older versions
        parts = re.match(r"([0-9a-f]+) (.{7}) (\S+)\s+([0-9a-f]+)\s+\(?(GLIBC_[0-9.]+)\)?\s+(\S+)$", line)
        if not parts or parts[3] in ("*UND*", "*ABS*"):
            continue
        address, flags, section, size, version, name = parts.groups()
        size = int(size, 16)
        if number(version) > newest:
            continue
        kind = "tls_object" if section in (".tbss", ".tdata") else "object" if "O" in flags else "function"
        if name not in found or number(version) > number(found[name][0]):
            found[name] = (version, kind, size, address, "w" in flags)
    return found


def assembly(found):
    sections = {"tls_object": '.section .tbss,"awT",%nobits', "object": ".bss", "function": ".text"}
    lines = []
    places = {}  # several names of one object stay one object, as a program's copy of it has to be under all of them
    for i, (name, (version, kind, size, address, weak)) in enumerate(sorted(found.items())):
        places.setdefault((kind, i if kind == "function" else address), []).append((f"hpct_stub_{i}", name, version, size, weak))
    for (kind, _), names in places.items():
        most = 1 if kind == "function" else max(1, 1, *(size for *_, size, _ in names))
        # A program copies an object to its own memory, as aligned as it stands here.
        lines += [sections[kind], ".balign 32" if kind != "function" else ""]
        for label, name, version, size, weak in names:
            lines += [f".weak {label}" if weak else f".globl {label}", f".type {label}, %{kind}", f".size {label}, {most if kind == 'function' else size or 1}",
                      f"{label}:", f".symver {label}, {name}@@{version}"]
        lines.append(f".skip {most}")
    return "\n".join(lines) + "\n"


os.makedirs(out, exist_ok=True)
for library in libraries:
    path = output_of(compiler, "-print-file-name=" + library)
    found = symbols(path)
    stem = os.path.join(out, library)
    with open(stem + ".s", "w", encoding="utf8") as file:
        file.write(assembly(found))
    versions = sorted({version for version, *_ in found.values()}, key=number)
    with open(stem + ".map", "w", encoding="utf8") as file:
        for i, version in enumerate(versions):
            file.write(f"{version} {{ {'local: hpct_stub_*;' if i == 0 else ''} }} {versions[i - 1] if i else ''};\n")
    link = os.path.join(out, library.split(".")[0] + ".so") # what -lm finds
    if not os.path.islink(link):
        os.symlink(library, link)
    subprocess.run([compiler, "-shared", "-nostdlib", f"-Wl,-soname,{library}", f"-Wl,--version-script={stem}.map",
                    "-Wl,-z,noexecstack", "-o", stem, stem + ".s"], check=True)
