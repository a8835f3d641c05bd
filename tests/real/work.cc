// SPDX-License-Identifier: Apache-2.0
// Much to do for a compiler: it is the program.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

int main()
{
	std::regex expression("(a+b)*c");
	std::map<std::string, std::vector<std::string>> table;
	std::vector<std::string> words{"b", "a"};
	std::function<bool(const std::string &)> matches = [&](const std::string &word) {
		return std::regex_match(word, expression);
	};

	std::sort(words.begin(), words.end());
	std::stable_partition(words.begin(), words.end(), matches);
	std::thread([&] { table["x"] = words; }).join();
	std::cout << table.size() << std::make_unique<std::string>("y")->size() << "\n";
}
