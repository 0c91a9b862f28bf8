"""Long lists by key: forwards and back, each row once, and the same rows however many there are."""

import json
from urllib.parse import parse_qsl

import pytest

from hbench.core.failure import HbenchError
from hbench.view.paging import Listing, shown
from hbench.view.reading import Reading
from tests.view.big import make_big


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    return Reading(make_big(tmp_path_factory.mktemp("big")))


NUMBERS = "select range // 10 as tens, 'n' || range % 10 as ones from range(95)"


def walk(reading, listing, way, asked):
    """Every row from there on, page by page, and the query of the last page."""
    rows = []
    while True:
        page = shown(reading, listing, asked, 10)
        rows += page.rows if way == "after" else reversed(page.rows)
        if not getattr(page, way):
            return rows, asked
        asked = dict(parse_qsl(getattr(page, way).removeprefix("?")))


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.slow
def test_pages_forwards_and_back_hold_every_row_once_in_order(reading, newest_first):
    listing = Listing(NUMBERS, ("tens", "ones"), newest_first=newest_first)
    there, last = walk(reading, listing, "after", {})
    assert [(row["tens"], row["ones"]) for row in there] == sorted(((n // 10, f"n{n % 10}") for n in range(95)), reverse=newest_first)
    back, first = walk(reading, listing, "before", last)
    assert list(reversed(back))[: len(there) - 5] == there[: len(there) - 5] and len(back) == 95
    assert shown(reading, listing, first, 10).before == ""


def test_the_first_page_has_none_before_it_and_other_filters_stay_in_the_address(reading):
    page = shown(reading, Listing(NUMBERS, ("tens", "ones")), {"arm": "a b"}, 10)
    assert page.before == "" and dict(parse_qsl(page.after[1:])) == {"arm": "a b", "after": json.dumps([0, "n9"])}


def test_values_of_a_filter_go_in_as_values(reading):
    listing = Listing("select i from (select unnest([1, 2, 3]) as i) where i > ?", ("i",), (1,))
    assert [row["i"] for row in shown(reading, listing, {"after": "[2]"}).rows] == [3]


@pytest.mark.parametrize("after", ["", "x", "[]", "[1]", "[1, 2, 3]", '[{}, "a"]', "[null, 1]", '{"tens": 1}'])
def test_an_address_that_names_no_place_is_told(reading, after):
    with pytest.raises(HbenchError, match="names no place in this list"):
        shown(reading, Listing(NUMBERS, ("tens", "ones")), {"after": after})


def test_page_2000_of_100_000_rollouts_costs_what_page_1_does(reading):
    listing = Listing("select step_key, question_id, score from rollouts", ("step_key", "question_id"))
    middle = reading.query("select step_key, question_id from rollouts order by all limit 1 offset 99900").rows[0]
    page = shown(reading, listing, {"after": json.dumps(middle)})
    assert len(page.rows) == 50 and page.before and page.after


def test_a_query_that_takes_too_long_is_stopped_and_told(reading, monkeypatch):
    monkeypatch.setattr("hbench.view.reading.LIMIT_S", 0.5)
    with pytest.raises(HbenchError, match="was stopped"):
        reading.query("select count(*) from range(1000000) a, range(1000000) b")
    assert reading.query("select 1").rows == [(1,)]
