"""From a question to the chain of relations that answers it."""

import re
from dataclasses import dataclass

from hbench.engines.reading.relation import Relation
from hbench.engines.reading.relations import BY_NAME, question_patterns


@dataclass(frozen=True)
class Chain:
    """Start from a name, follow each relation in turn."""

    start: str
    relations: tuple[Relation, ...] = ()

    def then(self, relation: Relation) -> "Chain":
        return Chain(self.start, (*self.relations, relation))


@dataclass(frozen=True)
class Comparison:
    """Two chains that end in a name each, and what of the two is compared.

    wants: smaller or larger (the answer is where that chain ends, or starts from if by_start), yes_no or same.
    """

    left: Chain
    right: Chain
    measure: Relation
    wants: str
    by_start: bool = False


_BORN, _BEGAN = BY_NAME["birth year"], BY_NAME["beginning"]
_BIRTH, _DEATH, _COUNTRY = BY_NAME["date of birth"], BY_NAME["date of death"], BY_NAME["country"]
_MANY, _LONG = BY_NAME["inhabitants"], BY_NAME["length"]
_BEGINNINGS = r"(?:established|opened|celebrated|founded|published|released|started)"
_EARLIER, _LATER = r"(?:earlier|first)", r"(?:later|last)"
_SIDES = r",? (?P<x>.+),? or (?P<y>.+)"
_COMPARISONS = tuple(
    (re.compile(line, re.IGNORECASE), measure, wants)
    for line, measure, wants in (
        (rf"(?:who|which .*?)(?: was)? born {_EARLIER}{_SIDES}", _BORN, "smaller"),
        (rf"(?:who|which .*?) is older{_SIDES}", _BORN, "smaller"),
        (rf"(?:who|which .*?)(?: was)? born {_LATER}{_SIDES}", _BORN, "larger"),
        (rf"(?:who|which .*?) is younger{_SIDES}", _BORN, "larger"),
        (rf"which .*?(?:was )?(?:{_BEGINNINGS}|appeared|came out) {_EARLIER}{_SIDES}", _BEGAN, "smaller"),
        (rf"which .*?(?:was )?(?:{_BEGINNINGS}|appeared|came out) {_LATER}{_SIDES}", _BEGAN, "larger"),
        (rf"which \w+ has fewer inhabitants{_SIDES}", _MANY, "smaller"),
        (rf"which \w+ has more inhabitants{_SIDES}", _MANY, "larger"),
        (rf"which \w+ is shorter{_SIDES}", _LONG, "smaller"),
        (rf"which \w+ is longer{_SIDES}", _LONG, "larger"),
        (r"was (?P<x>.+) born before (?P<y>.+)", _BORN, "yes_no"),
        (rf"was (?P<x>.+) {_BEGINNINGS} before (?P<y>.+)", _BEGAN, "yes_no"),
        (r"did (?P<x>.+) appear before (?P<y>.+)", _BEGAN, "yes_no"),
        (r"does (?P<x>.+) have fewer inhabitants than (?P<y>.+)", _MANY, "yes_no"),
        (r"is (?P<x>.+) shorter than (?P<y>.+)", _LONG, "yes_no"),
        (rf"was (?P<x>.+) or (?P<y>.+) born {_EARLIER}", _BIRTH, "smaller"),
        (rf"which film (?:came out|was released) {_EARLIER}{_SIDES}", _BEGAN, "smaller"),
        (rf"which film (?:came out|was released) (?:more recently|{_LATER}){_SIDES}", _BEGAN, "larger"),
        (r"(?:are|do) (?P<x>.+) and (?P<y>.+?)(?: both)? (?:located in|from|of|have|share) the same "
         r"(?:country|nationality)", _COUNTRY, "same"),
        (r"are both (?P<x>.+) and (?P<y>.+?) (?:located in|from) the same country", _COUNTRY, "same"),
        (r"does (?P<x>.+) have the same nationality as (?P<y>.+)", _COUNTRY, "same"),
    )
)  # fmt: skip
_FILMS = re.compile(
    r"which film (?:whose director|has the director)(?: who)?(?: was| is)? (?P<how>born earlier|born first|older|"
    rf"born later|younger|died earlier|died first|died later)(?: than the other)?{_SIDES}",
    re.IGNORECASE,
)
_LARGER = ("born later", "younger", "died later")
_CALLED = re.compile(
    r"^(?:the )?(?:(?:town|city|village) of|company|firm|book|novel|film|song|album|instrument|school|river|lake|"
    r"festival|magazine|band) (?=[A-Z“\"])|^the (?=[A-Z])"
)


def understood(question: str) -> Chain | Comparison | None:
    """None where the question has none of the known forms, or starts from something that is no name."""
    asked = question.strip().rstrip("?.! ")
    if found := _FILMS.fullmatch(asked):
        return _films(found)
    for pattern, measure, wants in _COMPARISONS:
        if found := pattern.fullmatch(asked):
            sides = _phrase(found["x"]), _phrase(found["y"])
            return Comparison(*sides, measure, wants) if all(sides) else None
    for pattern, relation in question_patterns("whole"):
        if found := pattern.fullmatch(asked):
            if chain := _phrase(found["x"]):
                return chain.then(relation)
    inner = re.fullmatch(r"(?:what|who|which) (?:is|was|are|were) (?P<x>the .+)", asked, re.IGNORECASE)
    chain = _phrase(inner["x"]) if inner else None
    return chain if chain and chain.relations else None


def _films(found: re.Match) -> Comparison | None:
    films = called(found["x"]), called(found["y"])
    if not all(films):
        return None
    how = found["how"].lower()
    measure, wants = _DEATH if "died" in how else _BIRTH, "larger" if how in _LARGER else "smaller"
    return Comparison(*(Chain(film, (BY_NAME["director"],)) for film in films), measure, wants, by_start=True)


def _phrase(phrase: str) -> Chain | None:
    """'the birthplace of the author of X' -> X, author, birthplace."""
    phrase = phrase.strip()
    for pattern, relation in question_patterns("inside"):
        if found := pattern.fullmatch(phrase):
            if chain := _phrase(found["x"]):
                return chain.then(relation)
    return Chain(name) if (name := called(phrase)) else None


def called(phrase: str) -> str | None:
    """The name in 'the town of NAME', 'the book “NAME”' or 'NAME'; None where there is none."""
    name = phrase.strip()
    for _ in range(2):  # 'the film “The …”' has two things before the name
        shorter = _CALLED.sub("", name, count=1) if not name.startswith("The ") else name
        name = shorter.strip()
    name = name.strip("“”\" ")
    return name if name[:1].isupper() or name[:1].isdigit() else None
