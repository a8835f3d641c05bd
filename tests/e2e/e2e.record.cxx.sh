#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C++ compiler with its children: driver, cc1plus, assembler, linker.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
need g++
cat >a.cc <<'END'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <unordered_map>
int main()
{
	std::regex pattern("a(b|c)*d");
	std::map<std::string, std::function<int(int)>> table;
	std::mt19937 random(7);
	std::cout << std::regex_match("abcd", pattern) << table.size() << random() << "\n";
}
END
both cxx g++ -O2 -std=c++17 a.cc -o a.out
same "cxx: the program that was compiled runs" "10327741615" "$(./a.out)"
both cxx3 g++ -O3 -std=c++20 a.cc -S -o -
weights_agree cxx
weights_agree cxx3
hpct-slice cxx.hpct --format tsv | tsv '$c["op"] == "monitored" { print $c["attributes"] }' >commands
for program in cc1plus as ld; do
	check "cxx: no stream of $program" grep -qE "(^|[=/ ,])$program\b" commands
done
pool cxx
pool cxx3
