#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One bit of a store is wrong, at many places: hpct-info --check finds it, or no answer changes, since nobody reads that
# byte (the end of a page, what LMDB counts for itself). No reader crashes, and names that cannot be read are said.
# Where keys and what leads to them are wrong, readers find it themselves: none passes over what lies there.
. "$(dirname -- "$0")/expect.sh"
need python3

hpct-simulate -o run.hpct --shape mixed --streams 8 --records 20000 || fail "simulate"
cat >flip.py <<'EOF'
import glob, random, subprocess, sys

store = glob.glob("run.hpct/*.mdb")[0]
data = open(store, "rb").read()
asked = [["hpct-slice"], ["hpct-stats", "--by", "path"], ["hpct-profile"]]

def put(at, byte):
    with open(store, "r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))

def ask(words):
    done = subprocess.run(words + ["run.hpct", "--format", "tsv"], capture_output=True)
    return done.returncode, done.stdout

def is_wrong(check, whole, got):
    if check[0] not in (0, 4) or any(code not in (0, 3, 4, 5) for code, _ in got):
        return True
    return check[0] == 0 and got != whole

wholes = [ask(words) for words in asked]
random.seed(7)
found = bad = 0
for _ in range(120):
    at = random.randrange(len(data))
    bit = random.randrange(8)
    put(at, data[at] ^ 1 << bit)
    check = ask(["hpct-info", "--check"])
    got = [ask(words) for words in asked]
    put(at, data[at])
    found += check[0] == 4
    if is_wrong(check, wholes, got):
        bad += 1
        print(f"byte {at} bit {bit}: check {check[0]}, readers {[code for code, _ in got]}", file=sys.stderr)
print(found, bad)
EOF
python3 flip.py >flips 2>flips.err || fail "flip.py"
read -r found bad <flips
check "flips are found: $found" [ "$found" -gt 80 ]
same "flips that change an answer, unfound, or crash: $(head -n 5 flips.err)" 0 "$bad"
same "the store is as it was" 0 "$(hpct-info --check run.hpct >/dev/null; echo $?)"

# What leads to values: lists of nodes, nodes, keys; and what chunks say of themselves.
cat >keys.py <<'EOF'
import glob, random, struct, subprocess, sys


store = glob.glob("run.hpct/*.mdb")[0]
data = bytearray(open(store, "rb").read())
page_bytes = struct.unpack_from("<I", data, 16 + 24)[0]
asked = [["hpct-slice"], ["hpct-stats", "--by", "stream", "--time", "0.7s..1.5s"],
         ["hpct-profile", "--time", "1.2s..2.6s"], ["hpct-stacks", "--at", "1.7s"]]

def places():
    """Of every branch and leaf: (what, byte) of its header, its list of nodes, their headers and keys; and of what lies
    before the chunks of a bundle, and the first one's header."""
    at = 2 * page_bytes
    while at + page_bytes <= len(data):
        number, _, flags, lower, upper = struct.unpack_from("<QHHHH", data, at)
        if number != at // page_bytes or flags not in (1, 2):
            at += page_bytes  # free, or of a long value
            continue
        yield from (("bounds", at + i) for i in range(12, 16))
        for slot in range(at + 16, at + lower, 2):
            yield from (("list", slot + i) for i in range(2))
            node = at + struct.unpack_from("<H", data, slot)[0]
            low, high, kind, key = struct.unpack_from("<HHHH", data, node)
            yield from (("node", node + i) for i in range(8))
            yield from (("branch" if flags == 1 else "key %u" % key, node + 8 + i) for i in range(key))
            value = node + 8 + key
            if flags == 2 and kind & 1:
                yield from (("node", value + i) for i in range(8))
                value = struct.unpack_from("<Q", data, value)[0] * page_bytes + 16
            if flags == 2 and key == 16:  # a bundle: keys and ends, then chunks
                count, = struct.unpack_from("<H", data, value + 4)
                first = value + 8 + 16 * count + 2 * (count - 1)
                yield from (("bundle", byte) for byte in range(value, first))
                yield from (("chunk", first + i) for i in range(8, 48))
        at += page_bytes

def put(at, byte):
    with open(store, "r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))

def ask(words):
    done = subprocess.run([words[0], "run.hpct", *words[1:], "--format", "tsv"], capture_output=True)
    if done.returncode == 4 and store.encode() not in done.stderr:
        nameless.append(done.stderr.decode().strip())
    return done.returncode, done.stdout

nameless = []
wholes = [ask(words) for words in asked]
kinds = {}
for what, at in places():
    kinds.setdefault(what, []).append(at)
random.seed(11)
said = wrong = 0
for i in range(120):
    at = random.choice(kinds[sorted(kinds)[i % len(kinds)]])
    bit = random.randrange(8)
    put(at, data[at] ^ 1 << bit)
    for words, whole in zip(asked, wholes):
        got = ask(words)
        said += got[0] == 4
        if got != whole and got[0] != 4:
            wrong += 1
            print(f"byte {at} bit {bit}: {words[0]} ends with {got[0]}, another answer", file=sys.stderr)
    put(at, data[at])
print(said, wrong, len(nameless), *nameless[:1])
EOF
python3 keys.py >flips 2>flips.err || fail "keys.py"
read -r found bad nameless which <flips
check "readers say that keys are damaged: $found" [ "$found" -gt 210 ]
same "damage in no file's name: $which" 0 "$nameless"
same "readers that answer wrongly: $(head -n 5 flips.err)" 0 "$bad"

# A name that cannot be read is said behind the answer. The names lie in one compressed value: its first bytes.
cat >names.py <<'EOF'
import glob, subprocess

store = glob.glob("run.hpct/*.mdb")[0]
data = bytearray(open(store, "rb").read())
for at in range(0, len(data) - 4):
    if data[at:at + 4] == b"\x28\xb5\x2f\xfd":  # a frame of zstd: of texts, contexts or symbols
        changed = bytearray(data)
        changed[at + 9] ^= 1
        open(store, "wb").write(changed)
        done = subprocess.run(["hpct-stats", "run.hpct"], capture_output=True)
        counted = subprocess.run(["hpct-info", "--modules", "run.hpct"], capture_output=True)
        if done.returncode == 4 and b"some functions have no name: " in done.stderr and len(done.stdout) > 100:
            print("said", counted.returncode)
        open(store, "wb").write(data)
EOF
same "damaged names, by what shows and by what counts them" "said 4" "$(python3 names.py)"
