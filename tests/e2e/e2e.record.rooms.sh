#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs go on as without a recorder where their stacks have room for a signal and for little more.
. "$(dirname -- "$0")/expect.sh"

[ "$(uname -m)" = x86_64 ] || skip "its stacks are x86-64's"
rooms=$HPCT_BIN/../tests/rooms
ulimit -c 0

# alike MODE ARGUMENT : same output and end bare, at a rate of the CPU timer, and far above it
alike() {
	local bare=0 rate got
	(exec "$rooms" "$@") >bare.out 2>/dev/null || bare=$?
	for rate in f200 f10000; do
		got=0
		(exec timeout 300 hpct-record -o "$1-$rate.hpct" -e "CPUTIME@$rate" -- "$rooms" "$@") >got.out 2>/dev/null || got=$?
		same "$* at $rate: exit code" "$bare" "$got"
		same_file "$* at $rate: stdout" bare.out got.out
	done
}

alike fiber 64
check "fiber: was sampled" calc "$(sample_count fiber-f10000) > 50"
alike overflow 3000
check "overflow: was sampled" calc "$(sample_count overflow-f10000) > 50"
alike among 3
check "among data: was sampled" calc "$(sample_count among-f10000) > 50"
alike threads 64
check "threads: were sampled" calc "$(sample_count threads-f10000) > 50"
same "threads: all were measured" 65 "$(hpct-info threads-f10000.hpct --streams --format tsv | tsv '$c["kind"] == "cpu" { n++ } END { print n }')"

# Ruby fills its stack to the end when it starts, and makes many small ones.
ruby=$(command -v ruby) || exit 0
cat >fibers.rb <<'END'
def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
def work(n) = (1..n).sum { |i| i % 100 == 0 ? deep(50) : i * i % 7 }
fibers = 50.times.map { |k| Fiber.new { 5.times { Fiber.yield work(20 + k) }; work(10) } }
sum = 6.times.sum { fibers.sum(&:resume) }
sum += 20.times.map { |k| Thread.new { 10.times.sum { work(100) } } }.sum(&:value)
puts sum
END
event=CPUTIME@f10000
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
	both "ruby$i" "$ruby" --disable=gems fibers.rb
done
