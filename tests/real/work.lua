-- SPDX-License-Identifier: Apache-2.0
-- Recursion, coroutines, sorting by a function, patterns and tables.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum = fib(jit and 40 or 35)
local count = coroutine.wrap(function() local i = 0 while true do i = i + 1 coroutine.yield(i) end end)
for _ = 1, 300000 do sum = sum + count() end
local t = {}
for i = 1, 200000 do t[i] = (i * 7919) % 100003 end
table.sort(t, function(a, b) return a > b end)
local text = ("abc def "):rep(20000):gsub("d(.)f", "%1")
for i = 1, 200000 do t["k" .. (i % 997)] = (t["k" .. (i % 997)] or 0) + 1 end
print(sum + t[3] + #text)
