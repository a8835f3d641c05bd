# SPDX-License-Identifier: Apache-2.0
# Hashes, regular expressions, sorting and recursion.
use strict;
my (%counts, $n);
$counts{ "k" . ($_ % 977) } += $_ for 1 .. 1200000;
my $text = "abc def " x 40000;
$text =~ s/d(.)f/$1/g;
my @sorted = sort { $b <=> $a } map { ($_ * 7919) % 100003 } 1 .. 900000;
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
print scalar(keys %counts), " ", length $text, " $sorted[3] ", fib(29), "\n";
