# SPDX-License-Identifier: Apache-2.0
# Fibers, enumerators (which are fibers), threads, hashes, sorting and regular expressions.
def work(n) = n < 2 ? n : work(n - 1) + work(n - 2)
fiber = Fiber.new { loop { Fiber.yield work(24) } }
sum = 0
60.times { sum += fiber.resume }
numbers = Enumerator.new do |y|
  i = 0
  loop { y << (i += 1) }
end
20000.times { sum += numbers.next }
threads = 2.times.map do |k|
  Thread.new do
    x = 0
    500000.times { |i| x += (i * k).to_s.size }
    x
  end
end
sum += threads.sum(&:value)
counts = Hash.new(0)
200000.times { |i| counts["k#{i % 997}"] += 1 }
sorted = (1..200000).map { |i| (i * 7919) % 100003 }.sort_by { |x| -x }
puts sum + sorted[3] + counts.size + ('abc def ' * 20000).gsub(/d(.)f/) { $1 }.size
