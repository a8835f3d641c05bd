#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""amd_model.py - samples of AMD code by a stated model, for tests without a GPU: one wave runs the instructions of a
listing in order, and its program counter is noted every PERIOD cycles with the reason why it does not issue.

    llvm-objdump -d CODE | amd_model.py SAMPLES TRUTH

- An instruction issues every 4 cycles; arithmetic may be used after its latency (doubles 16, divisions 40 cycles).
- Loads and stores of global memory end in order, GLOBAL cycles after they issue; shared memory after SHARED, in order;
  scalar memory after SCALAR. s_waitcnt waits until no more than so many are under way; a barrier takes BARRIER.
- A branch back is taken ROUNDS - 1 times, a branch forward that has a condition never.

SAMPLES is a file for `hpct-import --from gpu-samples`. TRUTH says what each wait waited for: of all that it waits for
the one that ended last has the samples. Its places are bytes from the function's begin.
"""
import re
import sys
from collections import Counter, defaultdict

PERIOD, ROUNDS = 7, 200
GLOBAL, SHARED, SCALAR, BARRIER = 700, 64, 180, 150
ISSUE, ARITHMETIC, DOUBLE, LONG, MATRIX = 4, 4, 16, 40, 64
LINE = re.compile(r'^\s+(\S+)\s*(.*?)\s*// 0*([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)')


def listing(text):
    """name -> [(address, operation, operands)], in the order of the code"""
    functions, name = {}, None
    for line in text:
        head = re.match(r'^[0-9a-f]+ <(.*)>:', line)
        if head:
            name = head.group(1)
            functions[name] = []
        row = LINE.match(line)
        if row and name:
            functions[name].append((int(row.group(3), 16), row.group(1), row.group(2), len(row.group(4).split())))
    return functions


def registers(operand):
    """the registers of one operand"""
    found = set()
    for kind, first, last, one in re.findall(r'\b([vsa])(?:\[(\d+):(\d+)\]|(\d+)\b)', operand):
        for i in range(int(first or one), int(last or one) + 1):
            found.add(kind + str(i))
    return found


def latency(operation):
    if 'mfma' in operation:
        return MATRIX
    if operation.startswith(('v_rcp', 'v_div_f', 'v_div_s')):
        return LONG
    return DOUBLE if '_f64' in operation else ARITHMETIC


class Wave:
    def __init__(self, name, code):
        self.name, self.code = name, code
        self.at = {address: i for i, (address, *_) in enumerate(code)}
        self.now = 0
        self.ready = {}                      # register -> cycle
        self.way = {'vmcnt': [], 'lgkmcnt': []}    # (end, index), in the order of issue
        self.taken = Counter()
        self.samples, self.truth = Counter(), defaultdict(Counter)

    def stay(self, i, until, reason, cause=None):
        """waits at the instruction until that cycle"""
        for tick in range(self.now // PERIOD + 1, until // PERIOD + 1):
            if tick * PERIOD <= until:
                self.samples[i, reason] += 1
                if cause is not None:
                    self.truth[i][cause] += 1
        self.now = max(self.now, until)

    def send(self, counter, i, cycles):
        way = self.way[counter]
        in_order = max([end for end, _ in way], default=0)
        way.append((max(self.now + cycles, in_order), i))

    def wait(self, i, operands):
        for counter, left in re.findall(r'(vmcnt|lgkmcnt)\((\d+)\)', operands):
            way = [entry for entry in self.way[counter] if entry[0] > self.now]
            waited = way[:max(0, len(way) - int(left))]
            self.way[counter] = way[len(waited):]
            if waited:
                self.stay(i, waited[-1][0], 'WAITCNT', waited[-1][1])

    def step(self, i):
        address, operation, operands, words = self.code[i]
        parts = operands.split(', ')
        if operation == 's_waitcnt':
            self.wait(i, operands)
        elif operation == 's_barrier':
            self.stay(i, self.now + BARRIER, 'BARRIER_WAIT')
        elif operation[:2] == 'v_':
            used = set().union(*(registers(p) for p in parts[1:])) if len(parts) > 1 else set()
            late = max(used, key=lambda r: self.ready.get(r, (0, 0))[0], default=None)
            if late and self.ready.get(late, (0, 0))[0] > self.now:
                self.stay(i, self.ready[late][0], 'ALU_DEPENDENCY', self.ready[late][1])
        self.stay(i, self.now + ISSUE, 'issued')
        if operation.startswith(('global_', 'scratch_', 'buffer_')):
            self.send('vmcnt', i, GLOBAL)
        elif operation.startswith('ds_'):
            self.send('lgkmcnt', i, SHARED)
        elif operation.startswith('s_load'):
            self.send('lgkmcnt', i, SCALAR)
        elif operation[:2] == 'v_':
            for register in registers(parts[0]):
                self.ready[register] = (self.now - ISSUE + latency(operation), i)
        return self.follow(i, operation, operands, words)

    def follow(self, i, operation, operands, words):
        target = re.search(r'^(\d+)', operands)
        if operation == 's_endpgm':
            return None
        if not operation.startswith(('s_branch', 's_cbranch')):
            return i + 1
        distance = int(target.group(1))
        distance -= 65536 if distance > 32767 else 0
        back = distance < 0
        self.taken[i] += 1
        if operation == 's_branch' or (back and self.taken[i] % ROUNDS):
            return self.at[self.code[i][0] + 4 * words + 4 * distance]
        return i + 1

    def run(self):
        i = 0
        while i is not None and i < len(self.code):
            i = self.step(i)


def main():
    with open(sys.argv[1], 'w', encoding='ascii') as samples, open(sys.argv[2], 'w', encoding='ascii') as truth:
        samples.write('kernel\taddress\treason\tweight\ttime_ns\tend_ns\tattributes\n')
        truth.write('kernel\twait\tcause\tsamples\n')
        begin = 1000
        for name, code in listing(sys.stdin).items():
            wave = Wave(name, code)
            wave.run()
            samples.write(f'{name}\t\t\t\t{begin}\t{begin + wave.now}\tgrid=440:1:1,block=256:1:1\n')
            for (i, reason), count in sorted(wave.samples.items()):
                samples.write(f'{name}\t0x{code[i][0]:x}\t{reason}\t{count}\t{begin + wave.now}\t\t\n')
            for i, causes in sorted(wave.truth.items()):
                for cause, count in sorted(causes.items()):
                    truth.write(f'{name}\t{code[i][0] - code[0][0]}\t{code[cause][0] - code[0][0]}\t{count}\n')
            begin += wave.now + 1000


main()
