#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Perfetto's protobuf, decoded by the field numbers of its published schema: tracks, slices, flows, counters, and the
# busy time of queues, which are the run's own.
. "$(dirname -- "$0")/expect.sh"
need python3
code "formats" 2 hpct-export --to nosuch x
grep -q perfetto err || skip "built without protobuf-c: hpct-export has no --to perfetto"
cat >read.py <<'END'
import collections, struct, sys, zlib
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]; at += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while at < len(data):
        key = varint(); number, kind = key >> 3, key & 7
        if kind == 0: value = varint()
        elif kind == 1: value = data[at:at + 8]; at += 8
        elif kind == 2: size = varint(); value = data[at:at + size]; assert len(value) == size; at += size
        elif kind == 5: value = data[at:at + 4]; at += 4
        else: raise ValueError(kind)
        yield number, value
def packets(data):
    for number, value in fields(data):
        assert number == 1, number
        packet = collections.defaultdict(list)
        for n, v in fields(value): packet[n].append(v)
        if 50 in packet:                                   # compressed_packets
            yield from packets(zlib.decompress(packet[50][0]))
        else: yield packet
def message(data):
    out = collections.defaultdict(list)
    for n, v in fields(data): out[n].append(v)
    return out
names, categories, keys, texts, tracks, open_slices = {}, {}, {}, {}, {}, collections.defaultdict(list)
defaults, lanes = {}, {}                                   # of a sequence; [sequence, clock] of the last event's time
rows, flows, clocks = [], collections.defaultdict(list), None
begun = set()
for packet in packets(open(sys.argv[1], "rb").read()):
    sequence = packet[10][0]                               # trusted_packet_sequence_id
    assert packet[13] == [2 if sequence in begun else 1]   # sequence_flags
    begun.add(sequence)
    for data in packet[59]:                                # trace_packet_defaults
        d = message(data)
        defaults[sequence] = message(d[11][0])[11][0], d[58][0]
    for data in packet[12]:                                # interned_data
        for n, v in fields(data):
            entry = message(v)
            {1: categories, 2: names, 3: keys, 29: texts}[n][sequence, entry[1][0]] = entry[2][0].decode()
    for data in packet[6]:                                 # clock_snapshot
        told = {message(c)[1][0]: message(c) for c in message(data)[1]}
        for id in set(told) - {1, 6}:                      # a lane's own: it counts from event to event
            assert 64 <= id < 128 and told[id][3] == [1] and told[id][2] == told[6][2]
            lanes[sequence, id] = told[id][2][0]
        if 1 in told: clocks = {id: told[id][2][0] for id in told}
    for data in packet[60]:                                # track_descriptor
        t = message(data)
        name = t[2][0] if t[2] else message(t[3][0])[6][0] if t[3] else message(t[4][0])[5][0]
        parent = tracks[t[5][0]] + "/" if t[5] else ""
        tracks[t[1][0]] = parent + name.decode() + (" [%s]" % message(t[8][0])[6][0].decode() if t[8] else "")
    for data in packet[11]:                                # track_event
        e, time, clock = message(data), packet[8][0], packet[58][0] if packet[58] else defaults[sequence][1]
        if clock != 6:                                     # boottime: as it is
            time = lanes[sequence, clock] = lanes[sequence, clock] + time
        track = tracks[e[11][0] if e[11] else defaults[sequence][0]]
        if e[9][0] in (1, 3):                              # SLICE_BEGIN, INSTANT
            notes = []
            for a in e[4]:
                note = message(a)
                notes.append("%s=%s" % (keys[sequence, note[1][0]], note[3][0] if note[3] else texts[sequence, note[17][0]]))
            s = [track, time, time, names[sequence, e[10][0]], categories[sequence, e[3][0]], " ".join(notes)]
            for flow in e[47]: flows[flow].append(s[3])
            rows.append(s)
            if e[9][0] == 1: open_slices[track].append(s)
        elif e[9][0] == 2: open_slices[track].pop()[2] = time
        else: rows.append([track, time, time, "counter", "", str(e[30][0] if e[30] else struct.unpack("<d", e[44][0])[0])])
assert not any(open_slices.values())
for row in rows: print(*row, sep="\t")
for flow in flows.values(): print("flow", *flow, sep="\t")
if clocks: print("clocks", clocks[1] - clocks[6], sep="\t")
END
tab=$'\t'
row() { local IFS=$tab; echo "$*"; }
{
	row stream track begin_ns end_ns path op bytes weight metric value attributes
	row cpu:h/3/10.0/0 spans 0 1000 '' monitored '' '' '' '' name=solver,metric=CPUTIME,period_ns=300,switches=1
	row cpu:h/3/10.0/0 samples 0 '' main '' '' 0 CPUTIME '' ''
	row cpu:h/3/10.0/0 samples 300 '' 'main;solve' '' '' 300 CPUTIME '' ''
	row cpu:h/3/10.0/0 spans 400 600 'main;solve;wait' blocked '' '' '' '' ''
	row cpu:h/3/10.0/0 spans 310 330 'main;solve;launch' launch '' '' '' '' link=1
	row cpu:h/3/10.0/0 values 500 '' '' '' '' '' temperature 36.5 ''
	row gpu:h/3/10.0/0/1/7 spans 0 1000 '' monitored '' '' '' '' name=queue
	row gpu:h/3/10.0/0/1/7 spans 350 500 'main;solve;launch;<gpu kernel>;k1' kernel '' '' '' '' link=1,grid=8
	row gpu:h/3/10.0/0/1/7 spans 450 560 'main;solve;launch;<gpu copy>' copy 64 '' '' '' link=1
	row gpu:h/3/10.0/0/1/7 spans 600 600 '' mark '' '' '' '' name=now
} >rows.tsv
hpct-import rows.tsv -o r.hpct || fail "rows"
hpct-export --to perfetto r.hpct -o r.pftrace || fail "perfetto"
python3 read.py r.pftrace >got || fail "the protobuf is not Perfetto's"
p='solver on h pid 10.0 rank 3'
{
	row "$p/solver" 0 1000 main call ''
	row "$p/solver" 300 1000 solve call ''
	row "$p/solver" 400 600 wait call ''
	row "$p/solver" 400 600 blocked state ''
	row "$p/solver spans" 310 330 launch launch 'path=main;solve;launch'
	row "$p/temperature solver []" 500 500 counter '' 36.5
	row "$p/queue" 350 500 k1 kernel 'path=main;solve;launch;<gpu kernel>;k1 attributes=grid=8'
	row "$p/queue 2" 450 560 copy copy 'path=main;solve;launch;<gpu copy> bytes=64'
	row "$p/queue" 600 600 mark mark attributes=name=now
	row flow launch k1 copy
} >want
same_file "what Perfetto reads" want got

# A recording, and one of a GPU: sums, and the size.
record real -- "$samples/phases" 0.2 >/dev/null
hpct-export --to perfetto real.hpct -o real.pftrace || fail "perfetto of a recording"
python3 read.py real.pftrace >real.rows || fail "a recording's protobuf is not Perfetto's"
check "it tells the wall clock" grep -q '^clocks' real.rows
hpct-stacks real.hpct >/dev/null
mkdir gpu.hpct && xz -dc "$HPCT_SOURCE/samples/runs/torch_step.mdb.xz" >gpu.hpct/vm-0.mdb || skip "xz is not there"
hpct-export --to perfetto gpu.hpct -o gpu.pftrace || fail "perfetto of a GPU's run"
python3 read.py gpu.pftrace >gpu.rows || fail "a GPU run's protobuf is not Perfetto's"
same "busy time of the queue" "$(hpct-stats gpu.hpct --streams kind=gpu --by op --format tsv | tsv '$c["key"] ~ /^(kernel|copy|set)$/ { s += $c["time_ns"] } END { print s }')" \
	"$(awk -F'\t' '$5 == "kernel" || $5 == "copy" || $5 == "set" { s += $3 - $2 } END { print s }' gpu.rows)"
same "kernels" "$(hpct-slice gpu.hpct --op kernel --format tsv | tail -n +2 | wc -l)" "$(awk -F'\t' '$5 == "kernel"' gpu.rows | wc -l)"
same "every operation has its launch" "" "$(awk -F'\t' '/^flow/ && (NF < 3)' gpu.rows | head -n 1)"
check "at most four times the run: $(stat -c %s gpu.pftrace)" calc "$(stat -c %s gpu.pftrace) <= 4 * $(stat -c %s gpu.hpct/vm-0.mdb)"

# Threads that sample random call paths, each another one, and more lanes than a sequence has.
hpct-simulate -o sim.hpct --records 60000
hpct-export --to perfetto sim.hpct -o sim.pftrace || fail "perfetto of random call paths"
check "at most four times the run of random call paths: $(stat -c %s sim.pftrace)" calc "$(stat -c %s sim.pftrace) <= 4 * $(cat sim.hpct/*.mdb | wc -c)"
hpct-simulate -o wide.hpct --streams 150 --records 3000
hpct-export --to perfetto wide.hpct -o wide.pftrace || fail "perfetto of many threads"
python3 read.py wide.pftrace >wide.rows || fail "many threads' protobuf"
hpct-export --to chrome wide.hpct -o wide.json || fail "chrome of many threads"
same "events of many threads" "$(grep -c '"ph":"B"' wide.json)" "$(awk -F'\t' '$5 == "call" || $5 == "state"' wide.rows | wc -l)"
