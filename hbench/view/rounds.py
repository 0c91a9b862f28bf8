"""The rounds of one arm, family and seed: as a curve, as a tree of harnesses, and one by one."""

from typing import Any

from hbench.core.failure import HbenchError
from hbench.view.chart import Chart, Curve, chart
from hbench.view.harness_tree import Tree, tree
from hbench.view.page import NotFound, page
from hbench.view.tree_drawing import Drawing, drawing


def rounds(request: Any) -> Any:
    """The rounds that the address names. Without family or seed, the first there is."""
    reading, digest, asked = request.state.reading, request.path_params["spec_digest"], request.query_params
    wanted = [digest, asked.get("arm", ""), asked.get("family", ""), _number(asked.get("seed", ""))]
    alike = reading.rows(ALIKE, [digest])
    found = next((row for row in alike if _fits(row, wanted)), None)
    if found is None:
        raise NotFound(f"no arm {wanted[1] or 'with rounds'} of spec {digest[:8]} has rounds of {wanted[2] or 'any family'}")
    of_arm = (digest, found["arm"], found["family"], found["seed"])
    made = tree(reading, of_arm)
    place = [row for row in alike if row["arm"] == found["arm"] or row["family"] == found["family"]]
    values = {"tree": made, "drawing": _drawn(made), "curve": curve(made)}
    return page(request, "rounds.html", found=found, digest=digest, place=place, run=reading.rows(RUN, [digest]), **values)


def _drawn(made: Tree) -> Drawing | None:
    """The changes of an evolver have no scores of their own: they make no tree."""
    return drawing(made) if any(each.sort == "selection" for each in made.rounds) else None


def curve(made: Tree) -> Chart | None:
    """Scores by round: of the parent, of the best candidate, and held out; the last harness stands behind the last round."""
    beyond = [(made.rounds[-1].number + 1, made.last)] if made.rounds and made.last is not None else []
    parents = [(each.number, each.score) for each in made.rounds if each.score is not None]
    held_out = [(each.number, each.held_out) for each in made.rounds if each.held_out is not None]
    tried = [(each.number, [leaf.score for leaf in each.leaves if leaf.score is not None]) for each in made.rounds]
    best = [(number, max(scores)) for number, scores in tried if scores]
    evolved = any(each.sort == "evolution" for each in made.rounds)
    curves = [Curve("bank, on the questions it is evolved on" if evolved else "parent, scoring", parents), Curve("best candidate, scoring", best), Curve("held out", held_out + beyond)]
    return chart(curves, "round", "score")


def _fits(row: dict, wanted: list) -> bool:
    return all(asked in ("", None, row[name]) for name, asked in zip(("arm", "family", "seed"), wanted[1:], strict=True))


def _number(text: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        raise HbenchError(f"seed: expected a whole number, got {text!r}") from None


ALIKE = """
select
  arm,
  family,
  seed,
  any_value(s.name) as spec
from plan_labels
join specs as s using (spec_digest)
where spec_digest = ? and purpose in ('select', 'evolve')
group by all
order by arm, family, seed
"""

RUN = "select run_id from runs where spec_digest = ? order by outcome = 'finished' desc, run_id desc limit 1"

ROUTES = [("/rounds/{spec_digest}", rounds)]
