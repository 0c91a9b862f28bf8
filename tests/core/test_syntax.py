"""Parsing Python from several threads."""

from concurrent.futures import ThreadPoolExecutor

from hbench.core.syntax import parse


def test_threads_that_parse_at_once_disturb_each_other_nowhere():
    """DuckDB calls our functions from its own threads: in CPython 3.11 a tree now and then came out as a SystemError."""
    source = "\n".join(f"def f{i}(a, b=[{i}]):\n    return [x for x in (a, b) if x]" for i in range(200))
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(lambda _: parse(source), range(64)))
    assert {len(tree.body) for tree in trees} == {200}
