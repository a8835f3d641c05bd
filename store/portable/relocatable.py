#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""relocatable.py OBJECT OUT - makes an x86-64 object of code for programs fit for a shared library.

Debian's archives are compiled for programs, in which a thread's own variable has a fixed place: an error number of
libelf's, an allocator's number of libdw's. In a library it has none. Such variables become variables of the process
here: libhpct's calls take turns behind one lock, and what is forked has its own.

  64 8b 04 25 TPOFF32     mov %fs:x,%eax        90 3e 8b 05 PC32     nop; mov x(%rip),%eax

Whatever else it meets it refuses."""
import struct
import sys

PC32, TPOFF32, TLS_KINDS = 2, 23, {18, 19, 20, 21, 22, 23}
TLS_SECTION, NO_BITS, TLS_SYMBOL, OBJECT_SYMBOL = 0x400, 8, 6, 1
# One byte of opcode -> bytes of the operand behind the address; 0f xx is not among what compilers write here.
OPERANDS = {0x8B: 0, 0x63: 0, 0x89: 0, 0x03: 0, 0x01: 0, 0x3B: 0, 0x39: 0, 0x2B: 0, 0x29: 0, 0x85: 0, 0x83: 1, 0x80: 1, 0xC6: 1,
            0x81: 4, 0xC7: 4}


class Elf:
    def __init__(self, data):
        self.data = bytearray(data)
        if self.data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
            sys.exit("relocatable.py: no object for x86-64")
        self.offset, = struct.unpack_from("<Q", data, 40)
        self.size, self.count, self.names = struct.unpack_from("<HHH", data, 58)

    def section(self, i):
        """type, flags, offset, size, link, info"""
        at = self.offset + i * self.size
        _, kind, flags, _, offset, size, link, info = struct.unpack_from("<IIQQQQII", self.data, at)
        return kind, flags, offset, size, link, info


def rewrite(elf, code, place):
    """The instruction whose address is there; returns how far the next one is from it."""
    data = elf.data
    at = code + place
    for rex in (0, 1):
        begin = at - 4 - rex
        if data[begin] == 0x64 and (not rex or data[begin + 1] & 0xF0 == 0x40):
            opcode, mode, sib = data[at - 3:at]
            if sib == 0x25 and mode & 0xC7 == 0x04 and opcode in OPERANDS:
                behind = 2 if opcode in (0x81, 0xC7) and 0x66 in data[begin - 1:begin] else OPERANDS[opcode]
                data[begin:at] = bytes([0x90, 0x3E, *data[begin + 1:begin + 1 + rex], opcode, mode & ~7 | 5])
                return 4 + behind
    sys.exit(f"relocatable.py: an instruction that it does not know: {data[at - 8:at].hex()}")


def main():
    elf = Elf(open(sys.argv[1], "rb").read())
    for i in range(elf.count):
        kind, _, offset, size, link, info = elf.section(i)
        if kind != 4:  # SHT_RELA
            continue
        code = elf.section(info)[2]
        symbols = elf.section(link)[2]
        if not elf.section(info)[1] & 2:  # debug information and the like
            continue
        for at in range(offset, offset + size, 24):
            place, what, addend = struct.unpack_from("<QQq", elf.data, at)
            number, how = what >> 32, what & 0xFFFFFFFF
            if how not in TLS_KINDS:
                continue
            symbol = symbols + number * 24
            if how != TPOFF32 or not struct.unpack_from("<H", elf.data, symbol + 6)[0]:
                continue  # of general kinds, and libc's own: the linker knows what to do
            distance = rewrite(elf, code, place)
            struct.pack_into("<QQq", elf.data, at, place, number << 32 | PC32, addend - distance)
    drop_threads(elf)
    open(sys.argv[2], "wb").write(elf.data)


def name_of(elf, wanted):
    """Where a section's name stands that some section has: an object of C has .data and .bss, if empty."""
    for i in range(elf.count):
        number, = struct.unpack_from("<I", elf.data, elf.offset + i * elf.size)
        at = elf.section(elf.names)[2] + number
        if elf.data[at:elf.data.index(0, at)] == wanted:
            return number
    sys.exit(f"relocatable.py: the object has no section {wanted.decode()}")


def drop_threads(elf):
    """No section and no symbol is of a thread any more. The linker goes by names, too."""
    for i in range(elf.count):
        kind, flags, offset, size, link, _ = elf.section(i)
        if flags & TLS_SECTION:
            at = elf.offset + i * elf.size
            struct.pack_into("<I", elf.data, at, name_of(elf, b".bss" if kind == NO_BITS else b".data"))
            struct.pack_into("<Q", elf.data, at + 8, flags & ~TLS_SECTION)
        if kind != 2:  # SHT_SYMTAB
            continue
        for at in range(offset, offset + size, 24):
            info, _, section = struct.unpack_from("<BBH", elf.data, at + 4)
            if info & 15 == TLS_SYMBOL and section:
                elf.data[at + 4] = info & 0xF0 | OBJECT_SYMBOL


main()
