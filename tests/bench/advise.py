#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What hpct-advise costs: a run of 1e7 samples of 200 kernels, and a binary of 800 MB with 40,000 functions of which
200 were sampled. The binaries are made here, of code that tests/gpu has: each function is one of those kernels, again
and again. Prints TSV: CPU seconds, seconds, MB at most; and how many bytes of the run a sample record takes, names and
contexts included. --recording RUN tells the latter of a run that was recorded, and nothing else.

  advise.py --build build [--samples N] [--functions N] [--rounds N]
  advise.py --build build --recording RUN.hpct
"""
import argparse
import os
import random
import resource
import struct
import subprocess
import tempfile
import time

KERNELS = 200
FUNCTION_BYTES = 20480
KEY = 0x5A3D
REASONS = ("NONE/selected", "GMEM/long_scoreboard", "GMEM/long_scoreboard/not_issued", "IDEP/wait", "MTHR/lg_throttle")
COLUMNS = "stream\ttrack\tbegin_ns\tend_ns\tpath\top\tweight\tmetric\tattributes\n"


def sections(cubin):
    """Name, type, flags, offset and size of each."""
    count, names = struct.unpack_from("<HH", cubin, 60)
    at = struct.unpack_from("<Q", cubin, 40)[0]
    heads = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + 64 * i) for i in range(count)]
    base = heads[names][4]
    return [(cubin[base + h[0]:cubin.index(b"\0", base + h[0])].decode(), *h[1:3], h[4], h[5]) for h in heads]


def templates(folder):
    """Code of real kernels, and the ELF header that goes with it."""
    found, header = [], b""
    for name in ("faults-sm90.cubin", "more_faults-sm90.cubin"):
        with open(os.path.join(folder, name), "rb") as file:
            cubin = file.read()
        header = cubin[:64]
        found += [cubin[offset:offset + size] for name, _, _, offset, size in sections(cubin) if name.startswith(".text.")]
    return header, found


def binary(path, folder, functions):
    """A cubin with so many kernels k0, k1, ...; the file offset and size of each."""
    header, code = templates(folder)
    names, strings, heads, symbols, places = b"\0.shstrtab\0.strtab\0.symtab\0", b"\0", [], [b"\0" * 24], []
    with open(path, "wb") as out:
        out.write(b"\0" * 128)
        for k in range(functions):
            body = code[k % len(code)]
            body *= FUNCTION_BYTES // len(body) + 1
            places.append((out.tell(), len(body)))
            symbols.append(struct.pack("<IBBHQQ", len(strings), 0x12, 0x10, 4 + k, 0, len(body)))
            heads.append(struct.pack("<IIQQQQIIQQ", len(names), 1, 6, 0, out.tell(), len(body), 3, k + 1, 128, 0))
            names += f".text.k{k}\0".encode()
            strings += f"k{k}\0".encode()
            out.write(body)
        tables = []
        for name, kind, data, link, info, size in ((1, 3, names, 0, 0, 0), (11, 3, strings, 0, 0, 0), (19, 2, b"".join(symbols), 2, 1, 24)):
            tables.append(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, out.tell(), len(data), link, info, 8, size))
            out.write(data)
        at = out.tell()
        out.write(b"\0" * 64 + b"".join(tables + heads))
        out.seek(0)
        out.write(header[:16] + struct.pack("<HHIQQQIHHHHHH", *struct.unpack_from("<HHI", header, 16), 0, 0, at, struct.unpack_from("<I", header, 48)[0], 64, 56, 0, 64, functions + 4, 1))
    return places


def run_of(tools, run, places, chosen, samples):
    """Each kernel is launched 500 times, and sampled in read-outs 100 ms apart, in as many of its instructions."""
    rows = max(1, samples // len(chosen) // 50)
    random.seed(32)
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", dir=os.path.dirname(run)) as out:
        out.write(COLUMNS)
        out.write("gpu:h/-/7.0/0/1/pc\tspans\t0\t5100000000\t\tmonitored\t\t\tperiod=65536,multiprocessors=132\n")
        out.write("cpu:h/-/7.0/0\tspans\t0\t5100000000\t\tmonitored\t\t\t\n")
        for i in range(len(chosen) * 500):
            begin = 1000000 + i * (4900000000 // (len(chosen) * 500))
            out.write(f"gpu:h/-/7.0/0/1/7\tspans\t{begin}\t{begin + 40000}\tmain;step;<gpu kernel>;k{chosen[i % len(chosen)]}\tkernel\t\t\tgrid=1056:1:1,block=128:1:1,registers=32\n")
        spots = {}
        for k in chosen:
            offset, size = places[k]
            drawn = random.sample(range(size // 16 * len(REASONS)), rows)
            spots[k] = [(offset + 16 * (spot // len(REASONS)), REASONS[spot % len(REASONS)]) for spot in drawn]
        for read in range(50):
            time_ns = 100000000 * (read + 1)
            for k in chosen:
                out.write("".join(f"gpu:h/-/7.0/0/1/pc\tsamples\t{time_ns}\t\t<gpu kernel>;k{k};{KEY:016x}+0x{address:x}\t\t65536\tGINST:STL_{reason}\t\n"
                                  for address, reason in spots[k]))
        out.flush()
        subprocess.run([tools + "/hpct-import", "--from", "tsv", out.name, "-o", run], check=True)


def measure(name, command, rounds):
    best = None
    for _ in range(rounds):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best or (cpu, wall), (cpu, wall))
    print(f"{name}\t{best[0]:.2f}\t{best[1]:.2f}\t{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}", flush=True)


def print_bytes(tools, name, run):
    """Bytes of the run's stores for each record; records of samples and others share them, and count alike."""
    info = subprocess.run([tools + "/hpct-info", run, "--format", "tsv"], stdout=subprocess.PIPE, text=True, check=True).stdout
    figures = dict(line.split("\t", 1) for line in info.splitlines() if "\t" in line)
    records, samples = int(figures["records"]), int(figures["samples"])
    print(f"{name}: {int(figures['bytes']) / max(1, records):.2f} bytes a record, {samples} of {records} are samples", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--samples", type=float, default=1e7)
    parser.add_argument("--functions", type=int, default=40000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="a folder for what is made; what is there is used again")
    parser.add_argument("--recording", help="a run with samples of GPU instructions: what a record of them takes")
    args = parser.parse_args()
    tools, folder = os.path.join(args.build, "bin"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu")
    if args.recording:
        print_bytes(tools, os.path.basename(args.recording), args.recording)
        return
    with tempfile.TemporaryDirectory() as place:
        place = args.keep or place
        print("question\tcpu_s\twall_s\tmost_mb")
        for name, functions, samples in (("samples", KERNELS, int(args.samples)), ("binary", args.functions, 200000)):
            cubin, run = os.path.join(place, name + ".cubin"), os.path.join(place, name + ".hpct")
            if not os.path.exists(run):
                places = binary(cubin, folder, functions)
                run_of(tools, run, places, list(range(0, functions, functions // KERNELS)), samples)
            measure(f"{name}: {samples} samples, {functions} functions, {os.path.getsize(cubin) >> 20} MB",
                    [tools + "/hpct-advise", run, "--binary", cubin, "--format", "json"], args.rounds)
            print_bytes(tools, name, run)


if __name__ == "__main__":
    main()
