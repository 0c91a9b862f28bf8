"""A results folder whose database holds 100,000 rollouts of one run, made by SQL alone: real tables, no steps."""

from pathlib import Path

from hbench.store.database import MAIN, TEXTS
from hbench.store.database_file import DatabaseFile
from hbench.store.schema import create

STEPS, QUESTIONS = 1000, 100
RUN, SPEC = "20260101-000000-00000000", "5" * 64

ROWS = f"""
insert into specs values ('{SPEC}', 'big', 'adaptation', 'specs/big.yaml', '{{}}', 'plan: adaptation');
insert into runs values ('{RUN}', '{SPEC}', '2026-01-01', '2026-01-02', 'finished', null, '{{}}', '{{}}', null);
create temp table made as
select i, md5(i::varchar) as step_id, sha256(i::varchar) as step_key, i % 10 as round, i // 10 % 10 as slot, 'arm ' || i // 100 as arm
from range({STEPS}) as t(i);
insert into plan_steps select '{SPEC}', step_id, 'evaluate' from made;
insert into plan_labels
select '{SPEC}', step_id, arm, 'family', 0, round, slot, 'candidate_scoring', 'round ' || round || ', score candidate ' || slot from made;
insert into run_steps select '{RUN}', step_id, step_key, 'ran', 1.5, null from made;
insert into steps select step_key, 'evaluate', 1, '{{}}', 'null', step_key, 1.5, '2026-01-01', '{{}}' from made;
insert into questions
select left(md5('q' || q), 16), left(md5('c' || q), 16), 'family', q, 'What is ' || q || '?', '"1"', '{{}}' from range({QUESTIONS}) as t(q);
insert into harnesses select left(md5('h' || i), 16), 'harness.py', repeat('# a line of a program' || chr(10), 100), 100 from range({STEPS}) as t(i);
insert into rollouts
select step_key, 0, left(md5('q' || q), 16), 0, left(md5('h' || i), 16), 'answer ' || q, (hash(i, q) % 2)::double, true, null, null, null,
  3, 500, 100, 0.5, null
from made, range({QUESTIONS}) as t(q) order by all;
insert into events
select step_key, 0, left(md5('q' || q), 16), 0, p, 'lm', 'solver', 'm', md5(concat(i, q, p)), false, 'stop', 100, 30, 0.1, md5(concat('s', q, p)), md5(concat('r', i, q, p))
from made, range({QUESTIONS}) as t(q), range(3) as u(p) order by all;
"""


def make_big(folder: Path) -> Path:
    """The folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    main, texts = DatabaseFile(folder / MAIN), DatabaseFile(folder / TEXTS)
    create(main, texts)
    with main.opened(read_only=False) as database:
        database.execute(ROWS)
    return folder
