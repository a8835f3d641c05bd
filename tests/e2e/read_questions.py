# SPDX-License-Identifier: Apache-2.0
"""read_questions.py COLUMNS SEED COUNT RUN... - random questions, each asked four times: of its reader, in SQL, of libhpct
by the C example COLUMNS, and in Python. All give the same rows, to the ns, or refuse with the same code and sentence.
Prints how many rows were compared; exits 1 with the first difference."""
import random
import subprocess
import sys

import hpct

program, seed, count, paths = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
pick = random.Random(seed)
runs = {path: hpct.open(path, frames=False) for path in paths}
FORMULA = "derived"
MOMENTS = {"begin_ns", "end_ns", "load_ns", "unload_ns"}


def call(words):
    """Header and rows as texts; a refusal is its code and sentence."""
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        return done.returncode, done.stderr.decode("utf8", "replace").strip().split(": ", 1)[-1]
    lines = done.stdout.decode("utf8", "backslashreplace").split("\n")[:-1]
    return 0, [line.split("\t") for line in lines]


def plain(name, value):
    """As it is compared: what has no value is empty, reals are numbers, moments end at 2^63."""
    if value is None or value == "":
        return ""
    if name in ("value", FORMULA) or name.startswith("REAL"):
        return float(value)
    try:
        number = int(value)
    except ValueError:
        return str(value)
    return min(number, 2**63 - 1) if name in MOMENTS else number


def rows_of(answer, names, wanted):
    places = [names.index(name) for name in wanted]
    return [tuple(plain(name, row[place]) for name, place in zip(wanted, places)) for row in answer]


def window(run):
    """Within the run, at least a third of it."""
    end = min(run.facts.end_ns, 4 * 10**9)
    begin = int(end * 0.6 * pick.random())
    return begin, int(begin + end * (0.33 + 0.5 * pick.random()))


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


class Question:
    """One question in all its forms."""

    def __init__(self, name, path, track=None, word=None):
        self.name, self.path, self.track, self.word = name, path, track, word
        self.options, self.where, self.has_formula = {}, ["1"], False

    def choose(self, option, values, argument=None, always=False):
        """In a third of the questions: an option, and a constraint of that argument in SQL."""
        if always or pick.random() < 0.34:
            value = pick.choice(values)
            self.options[option] = value
            self.where.append(f'"{argument or option}" = {quoted(value)}')

    def within(self):
        if pick.random() < 0.7:
            begin, end = window(runs[self.path])
            self.options["time"] = f"{begin}ns..{end}ns"
            self.where.append(f'"begin" = {begin} AND "end" = {end}')

    def derive(self, *formulas):
        """In a third of the questions a formula adds a column, to the metrics that are chosen or to all."""
        if pick.random() < 0.34:
            chosen = [self.options["metric"]] if "metric" in self.options else []
            if chosen:
                self.where.remove(f'"metrics" = {quoted(chosen[0])}')
            self.has_formula = True
            self.options["metric"] = "; ".join(chosen + [f"{FORMULA} = {pick.choice(formulas)}"])
            self.where.append(f'"metrics" = {quoted(self.options["metric"])}')

    def wants(self, *names):
        return list(names) + [FORMULA] * self.has_formula

    def say(self):
        return f"{self.name} {self.track or ''} {self.word or ''} {self.options} of {self.path}"


STREAMS = ["kind=cpu", "kind=gpu", "rank=0", "!(rank=1)", "thread=0-2", "name=nobody"]
CONTEXTS = ["*faces*", "main;*", "*;solve*", "*"]


def stats(path):
    q = Question("stats", path)
    q.choose("by", "function path module line stream op loop inline file instruction".split(), always=True)
    q.choose("streams", STREAMS)
    q.choose("context", CONTEXTS, "contexts")
    q.choose("depth", [1, 2, 3, 4, 5, 6], "max_depth")
    q.choose("op", ["kernel", "k*", "*", "launch"], "ops")
    q.within()
    q.derive("$0 / $2", "100 * $time / @0", "$percent * 4 - $records", "$records / @records + max($0, $1)")
    return q, ["hpct-stats"], q.wants("key", "time_ns", "records"), True


def profile(path):
    q = Question("profile", path, word=pick.choice(["top-down", "bottom-up", "flat"]))
    q.choose("streams", STREAMS)
    q.choose("context", CONTEXTS, "contexts")
    q.choose("depth", [1, 2, 3, 4, 5, 6], "max_depth")
    q.within()
    q.derive("$0 * 4 - $1", "100 * $0 / @0", "$BLOCKED * 2", "100 * $BLOCKED:excl / @REALTIME")
    return q, ["hpct-profile", "--view", q.word], None, True


def blame(path):
    q = Question("blame", path, word=pick.choice(["gpu-idle", "all-idle", "cpu-idle", "cpu-idle-cause", "waiting", "serial"]))
    q.choose("by", "function path module line".split(), always=True)
    q.choose("streams", STREAMS)
    q.within()
    q.derive("$blame / 3", "100 * $0 / @0", "$percent + 1")
    return q, ["hpct-blame", "--of", q.word], q.wants("key", "blame_ns"), True


def gaps(path):
    q = Question("gaps", path)
    q.choose("min", ["1us", "100us", "1ms"], always=True)
    q.choose("by", "function path module".split())
    q.within()
    q.derive("$gap_ns / 1000", "$2 / @gap")
    return q, ["hpct-blame", "--gaps"], q.wants("begin_ns", "gap_ns", "stream", "cause", "key"), True


def late(path):
    q = Question("late", path)
    q.within()
    q.derive("$blame / $last", "$waited - $0", "$occasions / @3")
    return q, ["hpct-blame", "--late"], q.wants("key", "blame_ns", "last", "occasions", "waited_ns", "path"), True


def records(path):
    track = pick.choice(["samples", "spans", "values"])
    q = Question("records", path, track=track)
    q.choose("streams", STREAMS)
    wanted = ["stream", "begin_ns", "path", "metric", "weight" if track == "samples" else "value"]
    numbers = ["$weight * 2", "sqrt($3)", "$4 / 7", "$value + 1"]
    if track == "spans":
        numbers = ["$bytes / 3", "$2 + $3"] + (["$bytes / ($end - $begin)", "$1 - $0"] if path != "odd.hpct" else [])
    if pick.random() < 0.5:  # batches are copied whole
        if track == "spans":
            wanted = ["stream", "begin_ns", "end_ns", "path", "op", "bytes", "weight", "attributes"]
        q.derive(*numbers)
        return q, ["hpct-slice"], q.wants(*wanted), False
    q.choose("context", CONTEXTS, "contexts")
    if track == "spans":
        q.choose("op", ["kernel", "k*", "*", "launch", "nothing"], "ops")
        q.choose("min", ["1us", "100us", "1ms"])
        wanted = ["stream", "begin_ns", "end_ns", "path", "op", "bytes", "weight", "attributes"]
    else:
        q.choose("metric", ["CPUTIME", "*", "C*"], "metrics")
    q.within()
    q.derive(*numbers)
    return q, ["hpct-slice"], q.wants(*wanted), False


def streams(path):
    q = Question("streams", path)
    return q, ["hpct-info", "--streams"], ["stream", "kind", "rank", "pid", "tid", "name", "begin_ns", "end_ns",
                                           "samples", "spans", "values", "lost"], True


def modules(path):
    return Question("modules", path), ["hpct-info", "--modules"], ["kind", "path", "build_id", "frames", "named"], True


def of_reader(q, words):
    options = [word for name, value in q.options.items()
               for part in (value.split("; ") if name == "metric" else [value]) for word in ("--" + name, str(part))]
    code, answer = call(words + options + [q.path, "--format", "tsv"])
    if not code and q.track:
        place = answer[0].index("track")
        answer = answer[:1] + [row for row in answer[1:] if row[place] == q.track]
    return code, answer


def of_library(q):
    word = q.track or q.word
    options = [f"{name}={value}" for name, value in q.options.items()]
    return call([program, q.path, q.name + (f"={word}" if word else "")] + options)


def of_sql(q, wanted):
    where = " AND ".join(q.where)
    if q.name == "profile":
        where += f" AND view = {quoted(q.word)}"
    if q.name == "blame":
        where += f' AND "of" = {quoted(q.word)}'
    table, columns = q.track or q.name, ", ".join(
        f'formula AS "{name}"' if name == FORMULA else f'"{name}"' for name in wanted)
    code, answer = call(["hpct-sql", q.path, f'SELECT {columns} FROM "{table}" WHERE {where}', "--format", "tsv"])
    return code, answer


def of_python(q):
    # opened anew: of functions of one name the definition that is met first is shown
    run, options = hpct.open(q.path, frames=False), dict(q.options)
    question = getattr(run, {"records": "slice"}.get(q.name, q.name))
    if q.name == "profile":
        options["view"] = q.word
    words = [q.track or q.word] if q.name in ("records", "blame") else []
    if q.name == "stats" and "by" not in options:
        options["by"] = "function"
    try:
        table = question(*words, **options)
    except hpct.Error as error:
        return error.code, str(error)
    return 0, [table.names] + [list(row) for row in table]


FIXED = ["depth", "id", "parent", "kind", "name", "module", "file", "line"]


def wide(answer):
    """A profile of SQL, a row for each node and metric, as the readers have it."""
    names, nodes = FIXED[:], {}
    for row in answer[1:]:
        parts = (FORMULA,) if row[8] == FORMULA else (row[8] + ":incl", row[8] + ":excl")
        nodes.setdefault(row[1], row[:8]).extend(row[9:9 + len(parts)])
        for part in parts:
            if part not in names:
                names.append(part)
    return [names] + list(nodes.values())


def fail(q, what, want, got):
    print(f"seed {seed}: {q.say()}: {what}")
    for a, b in zip(want, got):
        if a != b:
            print(f"  {a}\n  {b}")
            break
    else:
        print(f"  {len(want)} and {len(got)}: {want if isinstance(want, str) else ''} {got if isinstance(got, str) else ''}")
    sys.exit(1)


def compare(kind, path):
    q, words, wanted, is_ordered = kind(path)
    code, answer = of_reader(q, words)
    names = FIXED + ["metric", "inclusive", "exclusive"] if q.name == "profile" else wanted
    forms = {"libhpct": of_library(q), "SQL": of_sql(q, names), "Python": of_python(q)}
    if code:
        for form, (other, sentence) in forms.items():
            if other != code:
                fail(q, f"its reader gives {code}, {form} {other}", answer, str(sentence)[:200])
            if sentence != answer:
                fail(q, f"another sentence in {form}", answer, sentence)
        return 1
    if q.name == "profile":
        wanted = answer[0]
        if not forms["SQL"][0]:
            forms["SQL"] = 0, wide(forms["SQL"][1])
    want = rows_of(answer[1:], answer[0], wanted)
    for form, (other, got) in forms.items():
        if other:
            fail(q, f"its reader answers, {form} gives {other}", "", got)
        if len(got) == 1 and not want:
            continue
        rows = rows_of(got[1:], got[0], wanted)
        if not is_ordered:
            rows, want = sorted(rows, key=repr), sorted(want, key=repr)
        if rows != want:
            fail(q, f"{form} answers otherwise", want, rows)
    return len(want)


kinds = [stats] * 5 + [profile] * 4 + [records] * 4 + [blame] * 3 + [gaps, late, streams, modules]
total = 0
for _ in range(count):
    total += compare(pick.choice(kinds), pick.choice(paths))
print(total)
