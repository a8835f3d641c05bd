#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sqlite3: one thread, a virtual machine's deep stacks, a script on stdin.
. "$(dirname -- "$0")/expect.sh"
event=CPUTIME@2000 # as often as the kernel's tick lets it
need sqlite3
cat >in <<'END'
create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000000)
insert into t select i, (i * 7919) % 104729, printf('%x', i * 2654435761 % 4294967296) from n;
create index tb on t(b);
select count(*), sum(x.b * y.b % 97) from t x join t y on x.a = y.b where x.c < y.c;
select substr(c, 1, 2), count(*), max(b) from t group by 1 order by 2 desc, 1 limit 5;
END
both sqlite sqlite3 :memory:
weights_agree sqlite
pool sqlite
