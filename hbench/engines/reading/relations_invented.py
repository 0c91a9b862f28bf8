"""Relations of the invented world, in the wordings of its questions and paragraphs, and some near them."""

from hbench.engines.reading.relation import Relation

_PLACE = r"(?:town|city|village|place|country)"

INVENTED = (
    Relation(
        "birthplace", "place", "born birthplace",
        (rf"the {_PLACE} (?:where|in which) {{x}} was born", r"the (?:birthplace|place of birth) of {x}"),
        (rf"(?:in (?:which|what) {_PLACE}|where) was {{x}} born", r"what is the (?:birthplace|place of birth) of {x}"),
        (r"{s}(?: \([^)]*\))? was born (?:on [\w ,]+ )?in (?:the town of )?{o}", r"birthplace of {s} is {o}",
         r"{s} came into the world in {o}", r"^.{0,60}?\([^()–]{0,40}(?:\d{4},| in) {o}",
         r"(?<!was )\bborn (?:on [\w ,]+ )?in {o}"),
    ),
    Relation(
        "teacher", "name", "taught pupil teacher",
        (r"the teacher of {x}", r"the person who taught {x}"), (r"who taught {x}", r"whose pupil was {x}"),
        (r"{s} was a pupil of {o}", r"{s} learned the trade from {o}", r"{o} taught {s}"),
    ),
    Relation(
        "birth year", "year", "born year",
        (r"the year of birth of {x}",),
        (r"in (?:which|what) year was {x} born", r"what is the year of birth of {x}"),
        (r"{s} was born in {o}", r"gives {o} as the year in which {s} was born",
         r"{s} was born on a winter night of {o}", r"^.{0,120}?\([^()]{0,60}?\b{o}"),
    ),
    Relation(
        "school", "name", "studied student degree",
        (r"the school (?:where|at which) {x} studied", r"the school attended by {x}"),
        (r"at (?:which|what) school did {x} study", r"(?:which|what) school did {x} attend"),
        (r"{s} studied at {o}", r"{s} spent \w+ years as a student of {o}", r"{s} took a degree at {o}"),
    ),
    Relation(
        "river", "name", "river banks flows",
        (r"the river that flows through {x}", r"the river on which {x} lies"),
        (r"which river flows through {x}", r"on which river does {x} lie"),
        (r"{s} lies on the river {o}", r"[Tt]he river {o} flows through {s}",
         r"{s} grew up along both banks of the {o}"),
    ),
    Relation(
        "founder", "name", "founded founder set up",
        (r"the founder of {x}", r"the person who (?:founded|set up) {x}"),
        (r"who (?:founded|set up) {x}", r"by whom was {x} founded", r"who is the founder of {x}"),
        (r"{s} was (?:founded|set up) by {o}", r"{o} laid the first stone of {s}", r"{s} owes its foundation to {o}",
         r"{o} started {s}", r"founder of {s} (?:was|is) {o}", r"{o} founded {s}"),
    ),
    Relation(
        "inhabitants", "number", "inhabitants census people",
        (), (r"how many people live in {x}", r"what is the (?:number of inhabitants|population) of {x}"),
        (r"{s} has {o} inhabitants", r"counted {o} people in {s}", r"{s} is home to {o} people"),
    ),
    Relation(
        "place", "name", "head office located home held",
        (rf"the {_PLACE} where {{x}} is (?:based|located|held)", rf"the {_PLACE} that holds the head office of {{x}}",
         rf"the {_PLACE} that is home to {{x}}", r"the host town of {x}"),
        (rf"in (?:which|what) {_PLACE} is {{x}} (?:based|located|held)",
         r"where does {x} (?:have its head office|stand|take place)", r"where is {x} (?:based|located|held)"),
        (r"{s} has its head office in {o}", r"{s} is (?:based|located|held every year) in {o}",
         r"headquarters of {s} stand in {o}", r"{s} stands in (?:the town of )?{o}", r"{o} is home to {s}",
         r"{s} takes place in {o}", r"{o} hosts {s}"),
    ),
    Relation(
        "beginning", "year", "established opened first",
        (),
        (r"(?:in (?:which|what) year|when) was {x} (?:established|opened|founded|first celebrated)",
         r"(?:in (?:which|what) year|when) did {x} (?:open for business|first appear|take in its first pupils|begin)",
         r"when was the first edition of {x} printed"),
        (r"{s} was (?:established|opened|first celebrated|founded|first published) in {o}",
         r"{s} opened for business in {o}", r"books of {s} begin in {o}", r"{s} first appeared in {o}",
         r"first edition of {s} is dated {o}", r"{s} reached the shops in {o}",
         r"{s} took in its first pupils in {o}", r"first lesson at {s} was given in {o}", r"{s} began in {o}",
         r"oldest poster of {s} is from {o}", r"^.{0,80}? is an? {o} \w+"),
    ),
    Relation(
        "author", "name", "author written wrote",
        (r"the (?:author|writer) of {x}", r"the person who wrote {x}"), (r"who wrote {x}", r"who is the author of {x}"),
        (r"{s} was written by {o}", r"{o} wrote {s}", r"author of {s} is {o}",
         r"{s} is an? [\w\- ]*(?:novel|book) by {o}"),
    ),
    Relation(
        "publisher", "name", "published publisher edition",
        (r"the publisher of {x}", r"the company that published {x}"),
        (r"which company published {x}", r"who is the publisher of {x}"),
        (r"{s} was published by {o}", r"{o} brought out {s}", r"{s} came out with the house of {o}"),
    ),
    Relation(
        "inventor", "name", "invented invention devised",
        (r"the inventor of {x}", r"the person who invented {x}"), (r"who invented {x}", r"whose invention is {x}"),
        (r"{s} was invented by {o}", r"{o} devised {s}", r"{s} is the invention of {o}"),
    ),
    Relation(
        "maker", "name", "made built manufactures",
        (r"the maker of {x}", r"the company that makes {x}"), (r"which company makes {x}", r"who is the maker of {x}"),
        (r"{s} is made by {o}", r"{s} is built in the workshops of {o}", r"{o} manufactures {s}"),
    ),
    Relation(
        "head", "name", "rector led head",
        (r"the (?:head|rector) of {x}", r"the person who leads {x}"), (r"who leads {x}", r"who is the head of {x}"),
        (r"{s} is led by {o}", r"rector of {s} is {o}", r"{o} has been head of {s}"),
    ),
    Relation(
        "mouth", "name", "flows lake",
        (), (r"into which lake does {x} flow", r"which lake does {x} end in"),
        (r"{s} flows into {o}", r"{s} ends in {o}", r"bends {s} reaches {o}"),
    ),
    Relation(
        "surveyor", "name", "mapped map survey",
        (r"the person who first mapped {x}", r"the first surveyor of {x}"),
        (r"who first mapped {x}", r"who drew the first map of {x}"),
        (r"{s} was first mapped by {o}", r"{o} drew the first map of {s}", r"first survey of {s} was made by {o}"),
    ),
    Relation(
        "length", "number", "kilometres long",
        (), (r"how many kilometres long is {x}", r"what is the length of {x} in kilometres"),
        (r"{s} is {o} kilometres long", r"{s} measures {o} kilometres", r"{s} runs for {o} kilometres"),
    ),
    Relation(
        "initiator", "name", "organised idea called into being",
        (r"the person who first organised {x}", r"the initiator of {x}"),
        (r"who first organised {x}", r"whose idea was {x}"),
        (r"{s} was first organised by {o}", r"{s} goes back to an idea of {o}", r"{o} called {s} into being"),
    ),
)  # fmt: skip
