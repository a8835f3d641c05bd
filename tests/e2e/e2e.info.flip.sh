#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One bit of a store is wrong, at many places: hpct-info --check finds it, or no answer changes, since nobody reads that
# byte (the end of a page, what LMDB counts for itself). No reader crashes, and names that cannot be read are said.
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
        if done.returncode == 4 and b"some functions have no name: " in done.stderr and len(done.stdout) > 100:
            print("said")
        open(store, "wb").write(data)
EOF
same "damaged names" said "$(python3 names.py)"
