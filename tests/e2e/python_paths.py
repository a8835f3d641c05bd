# SPDX-License-Identifier: Apache-2.0
# python_paths.py SOURCE <PROFILE : holds each call path of a top-down profile (TSV) to what SOURCE says of itself: a
# function is called from a line of its caller that names it behind `# ->`, a sampled line lies inside its function.
# Prints "PATHS WRONG PERCENT": paths that were checked, wrong ones, the weight of stacks that are complete.
import ast
import csv
import sys

source = sys.argv[1]
text = open(source).read()
calls = {i: line.split("# ->")[1].split() for i, line in enumerate(text.split("\n"), 1) if "# ->" in line}
spans = {}


def note(node):
    for child in ast.walk(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([child.lineno] + [d.lineno for d in child.decorator_list])
            spans.setdefault(child.name, []).append((first, child.end_lineno))


note(ast.parse(text))
csv.field_size_limit(1 << 30)
rows = {}
checked = wrong = 0
whole = complete = 0
for row in csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE):
    rows[row["id"]] = row
    is_ours = row["module"].endswith(source)
    name = row["name"].split(".")[-1]
    parent = rows.get(row["parent"], {})
    exclusive = int(row["CPUTIME:excl"] or 0)
    line = int(row["line"] or 0)
    if row["kind"] != "line":
        whole += exclusive
        complete += 0 if "<partial>" in row["name"] else exclusive
    if row["kind"] == "line" and parent.get("module", "").endswith(source):
        inside = spans.get(parent["name"].split(".")[-1])
        checked += 1
        if inside and line and not any(a <= line <= b for a, b in inside):
            wrong += 1
            print("line", line, "in", parent["name"], file=sys.stderr)
    if row["kind"] == "function" and is_ours and parent.get("module", "").endswith(source):
        checked += 1
        if line and name not in calls.get(line, []) and not name.startswith("<"):
            wrong += 1
            print(parent["name"], "line", line, "calls", row["name"], file=sys.stderr)
        inside = spans.get(parent["name"].split(".")[-1])
        if inside and line and not any(a <= line <= b for a, b in inside):
            wrong += 1
            print("call at line", line, "in", parent["name"], file=sys.stderr)
print(checked, wrong, "%.2f" % (100.0 * complete / whole if whole else 0))
