"""Every table, column and view is documented, here and in the database."""

from hbench.store.database import fold
from hbench.store.artifacts import Store
from hbench.store.query import query
from hbench.store.tables import TABLES, describe_tables
from hbench.store.views import views
from tests.store.made import put


def test_every_table_column_and_view_says_what_it_is():
    for table in TABLES.values():
        assert table.comment.endswith("."), table.name
        assert all(column.comment for column in table.columns), table.name
        assert set(table.key) <= {column.name for column in table.columns}, table.name
    assert all(view.comment for view in views())


def test_the_names_of_volatile_columns_are_no_keys():
    assert not [t.name for t in TABLES.values() if t.volatile & set(t.key)]


def test_the_description_names_every_table_and_column():
    text = describe_tables()
    for table in TABLES.values():
        assert f"{table.name}: {table.comment}" in text
        assert all(f"  {column.name}" in text for column in table.columns)
    assert all(f"{view.name} (a view): {view.comment}" in text for view in views())


def test_the_database_carries_the_comments(tmp_path):
    put(Store(tmp_path), "a")
    fold(tmp_path)
    tables = query(tmp_path, "select table_name from duckdb_tables() where comment is null").rows
    columns = query(
        tmp_path,
        "select table_name, column_name from duckdb_columns() where comment is null and not internal "
        "and (database_name, table_name) in (select (database_name, table_name) from duckdb_tables())",
    ).rows
    wanted = {view.name for view in views()}
    commented = query(tmp_path, "select view_name from duckdb_views() where comment is not null and not internal").rows
    assert (tables, columns) == ([], [])
    assert {name for (name,) in commented} == wanted
