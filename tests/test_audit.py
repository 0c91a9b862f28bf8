"""`make audit` never takes silence for good news."""

import sys

from tests.audit import audited, main

WELL = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}, {"id": "GHSA-2", "fix_versions": []}]}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (3)"}


def test_what_was_found_and_what_was_not_looked_at_is_told():
    assert audited({"dependencies": [WELL]}) == ("1 of 1 packages audited, no advisories", 0)
    text, code = audited({"dependencies": [WELL, BAD, UNKNOWN]})
    assert code == 1 and text.splitlines() == [
        "b 2: PYSEC-1, mended in 2.1",
        "b 2: GHSA-2, not mended yet",
        "2 of 3 packages audited, 2 advisories",
        "not audited, for the service does not know them: c",
    ]
    assert audited({"dependencies": [WELL, UNKNOWN]})[1] == audited({"dependencies": []})[1] == 2


def test_a_program_that_reaches_nothing_is_told_as_that(tmp_path, capsys):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('ConnectionError: no route')\n")
    program.chmod(0o755)
    assert main(str(program), "constraints.txt") == 2
    said = "nothing was audited: pip-audit reached no advisories, and said: ConnectionError: no route\n"
    assert capsys.readouterr().out == f"constraints.txt: {said}"
