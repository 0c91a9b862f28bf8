"""The whole chain of distillation on file jobs, with a tiny student of random weights: nothing is learnt, all is recorded."""

import pytest

from tests.character_model import save_character_model
from tests.runtime.distil_chain import SPEC, Chain, check_tables

pytestmark = pytest.mark.long  # `make thorough` runs it, and `make distil-smoke` the same with the embedded model
STUDENT = ("student.weights=student", "student.as_of=2026-11-01", "student.dtype=float32", "student.sampling.max_tokens=12")
TRAINED = ("train.max_length=1600", "train.sft.max_length=1600", "train.sft.updates=2", "machine.training.threads=1")


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    made = Chain(tmp_path_factory.mktemp("chain"))
    save_character_model(made.folder / "student")
    made.hbench("run", SPEC, "-q", *STUDENT, *TRAINED, timeout=900)
    return made


def test_every_table_of_the_chain_is_filled(chain):
    check_tables(chain)


def test_nothing_is_done_again(chain):
    done = chain.hbench("run", SPEC, *STUDENT, *TRAINED)
    assert " cached" in done.stdout + done.stderr and " ran" not in done.stdout + done.stderr


def test_what_was_replaced_stands_in_no_accepted_response(chain):
    replaced = chain.sql(
        "select count(*) as n from turns as t join texts as p on p.digest = t.proposal join texts as a on a.digest = t.accepted "
        "where t.verdict = 'replace' and length(trim(p.text)) > 3 and contains(a.text, trim(p.text))"
    )
    assert replaced == [{"n": 0}]
