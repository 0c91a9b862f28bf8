"""Every relation that the rule-based reader knows, and the patterns of the questions that ask for them."""

import re
from functools import cache

from hbench.engines.reading.relation import Relation
from hbench.engines.reading.relations_invented import INVENTED
from hbench.engines.reading.relations_real import REAL

RELATIONS = (*INVENTED, *REAL)
BY_NAME = {relation.name: relation for relation in RELATIONS}


@cache
def question_patterns(part: str) -> tuple[tuple[re.Pattern, Relation], ...]:
    """part: inside or whole. Each pattern fits a whole phrase and has the group x."""
    return tuple(
        (re.compile(line.replace("{x}", "(?P<x>.+)"), re.IGNORECASE), relation)
        for relation in RELATIONS
        for line in getattr(relation, part)
    )
