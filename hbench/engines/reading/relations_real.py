"""Relations that chains of real benchmarks ask for most, told as encyclopedias tell them: a small, honest list."""

from hbench.engines.reading.relation import Relation

# What may stand before a name: 'by English singer NAME'.
_WHO = r"(?:(?:[A-Z]\w+(?:an|ish|ese|ch)|[a-z][\w/\-]*),? )*"
_CHILD = r"(?:son|daughter|child)"

REAL = (
    Relation(
        "date of birth", "date", "born birth date",
        (r"the date of birth of {x}",),
        (r"when was {x} born", r"what is the date of birth of {x}", r"when is {x}'s birthday"),
        (r"^.{0,120}?\([^()]{0,60}?{o}", r"^.{0,80}? was born (?:on |in )?{o}", r"{s} was born (?:on|in) {o}"),
    ),
    Relation(
        "date of death", "date", "died death date",
        (r"the date of death of {x}",), (r"when did {x} die", r"what is the date of death of {x}"),
        (r"^.{0,120}?\([^()]{0,60}? ?[–—-] ?{o}", r"died (?:[a-z]+ ){0,3}?(?:on |in )?{o}"),
    ),
    Relation(
        "place of death", "place", "died death",
        (r"the place of death of {x}",),
        (r"where did {x} die", r"(?:what|where) (?:is|was) the place of death of {x}"),
        (r"died (?:[^.]{0,60}? )?(?:in|at) {o}", r"^.{0,120}?\([^()]*[–—-][^()]*\d{4},? (?:in )?{o}"),
    ),
    Relation(
        "country", "name", "nationality country",
        (r"the (?:nationality|country) of {x}",),
        (r"what nationality is {x}", r"what is the nationality of {x}", r"(?:which|what) country is {x} from",
         r"(?:which|what) country {x} is from"),
        (r"^[^.]{0,200}? (?:is|was) an? (?:[a-z]+ )*{o}", r"^[^.]{0,300}(?:, | in | of )(?:the )?{o}\.$"),
    ),
    Relation(
        "director", "name", "directed director film",
        (r"the director of {x}",), (r"who (?:directed|is the director of) {x}",),
        (rf"directed(?: and \w+|, [\w, ]{{0,60}}?)? by {_WHO}{{o}}", r"{o} directed {s}"),
    ),
    Relation(
        "performer", "name", "song performed recorded singer",
        (r"the (?:performer|singer) of {x}",), (r"who (?:performed|sang|is the performer of) {x}",),
        (rf"(?:song|album|single|track|ballad)\b[^.]{{0,60}}? by {_WHO}{{o}}",
         rf"(?:performed|recorded|sung|released) by {_WHO}{{o}}"),
    ),
    Relation(
        "composer", "name", "composed composer music",
        (r"the composer of {x}",), (r"who (?:composed|is the composer of) {x}",),
        (rf"(?:composed|music|score|written)(?: (?:was|is|and|composed|written)){{0,3}} by {_WHO}{{o}}",),
    ),
    Relation(
        "mother", "name", "mother daughter son",
        (r"the mother of {x}", r"{x}'s mother"),
        (r"who (?:is|was) the mother of {x}", r"who (?:is|was) {x}'s mother"),
        (rf"{_CHILD} of [^.]{{0,90}}? (?:and|by|with) (?:his |her )?{_WHO}{{o}}",
         r"(?:[Hh]is|[Hh]er) mother,? (?:was )?{o}"),
    ),
    Relation(
        "father", "name", "father son daughter",
        (r"the father of {x}", r"{x}'s father"),
        (r"who (?:is|was) the father of {x}", r"who (?:is|was) {x}'s father"),
        (rf"{_CHILD} of {_WHO}{{o}}", r"(?:[Hh]is|[Hh]er) father,? (?:was )?{o}"),
    ),
    Relation(
        "spouse", "name", "married wife husband",
        (r"the (?:spouse|wife|husband) of {x}", r"{x}'s (?:spouse|wife|husband)"),
        (r"who (?:is|was) the (?:spouse|wife|husband) of {x}", r"who (?:is|was) {x}'s (?:spouse|wife|husband)",
         r"who did {x} marry", r"who married {x}"),
        (rf"(?:married|wife of|husband of|wife was|husband was|married to) {_WHO}{{o}}",),
    ),
)  # fmt: skip
