"""Paragraphs of the invented world: a lead, facts in one of several wordings, and sentences to be passed over."""

from functools import cache

from hbench.core.corpus import Document
from hbench.core.digest import derive_seed
from hbench.parts.families import _invented_names as names
from hbench.parts.families._invented_world import IN_GROUP, NUMBERS, RELATIONS, Entity, World, document_id

LEAST, MOST = 40, 100  # words of a paragraph

# {S}: the thing by name or as he, she, the town …, at the head of a sentence. {N}: by name. {o}, {O}: what is told.
FACTS = {
    "born_in": ("{S} was born in the town of {o}.", "The birthplace of {N} is {o}.", "{S} came into the world in {o}."),
    "taught_by": ("{S} was a pupil of {o}.", "{S} learned the trade from {o}.", "{O} taught {N} for several years."),
    "born_year": ("{S} was born in {o}.", "The parish book gives {o} as the year in which {N} was born.",
                  "{S} was born on a winter night of {o}."),
    "studied_at": ("{S} studied at {o}.", "{S} spent four years as a student of {o}.", "{S} took a degree at {o}."),
    "town_river": ("{S} lies on the river {o}.", "The river {o} flows through {N}.",
                   "{S} grew up along both banks of the {o}."),
    "town_founder": ("{S} was founded by {o}.", "{O} laid the first stone of {N}.", "{S} owes its foundation to {o}."),
    "population": ("{S} has {o} inhabitants.", "The last census counted {o} people in {N}.",
                   "{S} is home to {o} people."),
    "company_founder": ("{S} was set up by {o}.", "{O} started {N} with borrowed money.",
                        "The founder of {N} was {o}."),
    "company_year": ("{S} was established in {o}.", "{S} opened for business in {o}.",
                     "The books of {N} begin in {o}."),
    "company_seat": ("{S} has its head office in {o}.", "{S} is based in {o}.",
                     "The headquarters of {N} stand in {o}."),
    "author": ("{S} was written by {o}.", "{O} wrote {N} during a long illness.", "The author of {N} is {o}."),
    "publisher": ("{S} was published by {o}.", "{O} brought out {N} in a small edition.",
                  "{S} came out with the house of {o}."),
    "book_year": ("{S} first appeared in {o}.", "The first edition of {N} is dated {o}.",
                  "{S} reached the shops in {o}."),
    "inventor": ("{S} was invented by {o}.", "{O} devised {N} after years of trials.", "{S} is the invention of {o}."),
    "maker": ("{S} is made by {o}.", "{S} is built in the workshops of {o}.", "{O} manufactures {N} to this day."),
    "school_town": ("{S} stands in the town of {o}.", "{S} is located in {o}.", "{O} is home to {N}."),
    "rector": ("{S} is led by {o}.", "The rector of {N} is {o}.", "{O} has been head of {N} for a decade."),
    "school_year": ("{S} was opened in {o}.", "{S} took in its first pupils in {o}.",
                    "The first lesson at {N} was given in {o}."),
    "mouth": ("{S} flows into {o}.", "{S} ends in {o}.", "After many bends {N} reaches {o}."),
    "surveyor": ("{S} was first mapped by {o}.", "{O} drew the first map of {N}.",
                 "The first survey of {N} was made by {o}."),
    "length": ("{S} is {o} kilometres long.", "{N} measures {o} kilometres from source to mouth.",
               "{S} runs for {o} kilometres."),
    "festival_town": ("{S} is held every year in {o}.", "{S} takes place in {o}.", "{O} hosts {N} each summer."),
    "festival_founder": ("{S} was first organised by {o}.", "{S} goes back to an idea of {o}.",
                         "{O} called {N} into being."),
    "festival_year": ("{S} was first celebrated in {o}.", "{S} began in {o}.",
                      "The oldest poster of {N} is from {o}."),
}  # fmt: skip
LEADS = {
    ("person", 0): ("{N} was a {trade} of some renown.", "{N} is remembered as a {trade} and a lover of gardens."),
    ("person", 1): ("{N} worked as a {trade} for most of a long life.",
                    "The later years of {N} were spent as a {trade}."),
    ("town", 0): ("{N} is a market town in the {side}.", "{N} is a small town of the {side}, known for its {goods}."),
    ("company", 0): ("{N} is a company that deals in {goods}.", "{N} is a family firm known for its {goods}."),
    ("company", 1): ("{N} sells {goods} in most towns of the {side}.", "The firm {N} is a large buyer of {goods}."),
    ("book", 0): ("{N} is a novel set in the {side}.", "{N} is a book of tales about {goods}."),
    ("instrument", 0): ("{N} is a musical instrument with a soft tone.", "{N} is an instrument played in the {side}."),
    ("school", 0): ("{N} is a school with a large library.",
                    "{N} is an old school for sons and daughters of the {side}."),
    ("river", 0): ("{N} is a river of the {side}.", "{N} is a slow river with many mills that grind for the {side}."),
    ("festival", 0): ("{N} is a festival of music and {goods}.", "{N} is a yearly fair where {goods} are shown."),
    ("notice", 0): ("{N} is a hamlet in the {side}.", "{N} is a hill in the {side} where {goods} are found."),
}  # fmt: skip
# Near a fact and beside it: each names a thing of the world, and none tells one of its facts.
TRAPS = {
    ("person", 0): ("Some guidebooks wrongly name {town} as the place.", "A cousin, {minor}, was born in {town}.",
                    "{minor} claimed in vain to have been the first teacher."),
    ("person", 1): ("A portrait hangs in the town hall of {town}.",
                    "An offer from a school in {town} was turned down."),
    ("town", 0): ("A bridge to the road for {town} was washed away.",
                  "The rival town of {town} is older by a century."),
    ("company", 0): ("A plan to merge with {company} came to nothing.", "{minor} led the sales office for a time."),
    ("company", 1): ("A move of the works to {town} was planned and dropped.",
                     "Its rival {company} buys there as well."),
    ("book", 0): ("A play of the same name was written by {minor}.",
                  "{minor} drew the pictures of the second edition."),
    ("instrument", 0): ("A copy by {minor} never sold.", "One specimen is shown in the museum of {town}."),
    ("school", 0): ("The old building in {town} burned down long ago.", "{minor} gave money for the roof."),
    ("river", 0): ("Barges once went as far as {town}.", "{minor} wrote a song about its floods."),
    ("festival", 0): ("A rival event in {town} was given up.", "{minor} painted the first poster."),
    ("notice", 0): ("The next railway station is in {town}.", "{minor} once kept bees there."),
}  # fmt: skip
FILLERS = (
    "A letter of {year} that mentions {it} is kept in the state archive.",
    "Little is known about the years after the fire.",
    "Old photographs show {it} in a better light.",
    "Visitors often ask about {it} and are told the same three stories.",
    "A memorial plate of {year} can still be read.", "The records for this time are incomplete.",
    "A coin with a picture of {it} is in private hands.", "Critics have called {it} overrated, others disagree.",
    "Most of the older sources were lost in a flood.", "The spelling of the name varies in older documents.",
    "In {year} a local newspaper gave {it} a whole page.", "A song from the {side} mentions {it} twice.",
    "Children learn about {it} in the third year of school.", "There were quarrels about money, as so often.",
    "A stamp issued in {year} shows {it} in blue and grey.", "Several clubs in the {side} collect what is left.",
    "Much of what is told in taverns cannot be proved.", "A lecture about {it} is given each autumn.",
    "The winters were hard and the roads often closed.", "An almanac of {year} spends two lines on {it}.",
)  # fmt: skip
_WORDS = {
    "trade": "clockmaker painter botanist physician composer glazier printer weaver sculptor surveyor gardener".split(),
    "goods": ["wool, cheese and candles", "glass and paper", "oak barrels", "herbs and honey", "silk ribbons"],
    "side": [f"{where} lands" for where in "northern eastern southern western upper inner".split()],
}
_CALLED = {"town": "the town", "company": "the company", "book": "the book", "instrument": "the instrument",
           "school": "the school", "river": "the river", "festival": "the festival", "notice": "the place"}  # fmt: skip
_ARTICLE = ("instrument", "river", "festival")
_OF_PART = {place: tuple(r for r in RELATIONS.values() if (r.subject, r.part) == place) for place in LEADS}


def document(world: World, paragraph: int) -> Document:
    """Paragraph number `paragraph`, of 40 to 100 words."""
    entity, part = world.about(paragraph)
    return Document(document_id(paragraph), title_of(world, entity), _text(world, entity, part, paragraph))


def title_of(world: World, entity: Entity) -> str:
    return names.word("notice", entity.index, world.seed) if entity.kind == "notice" else world.title(entity)


def told(world: World, value: "Entity | int", target: str) -> str:
    """A thing or a number as an answer gives it."""
    return str(value) if target in NUMBERS else world.title(value)


def _text(world: World, entity: Entity, part: int, paragraph: int) -> str:
    dice = names.Dice(names.mix(_seed(world.seed), paragraph))
    title = title_of(world, entity)
    name = f"the {title}" if entity.kind in _ARTICLE else title
    plain = ("she" if names.is_she(title) else "he") if entity.kind == "person" else _CALLED[entity.kind]
    lead = _filled(world, dice, dice.pick(LEADS[entity.kind, part]), name, plain)
    relations = _OF_PART[entity.kind, part]
    first = dice.roll(max(1, len(relations)))
    facts = [_fact(world, entity, r, dice, (name, plain)) for r in relations[first:] + relations[:first]]
    beside = _beside(world, dice, (entity.kind, part), (name, plain), sum(map(_length, [lead, *facts])))
    return " ".join([lead, *_mixed(facts, beside, dice)])


def _mixed(facts: list[str], beside: list[str], dice: names.Dice) -> list[str]:
    """Both in one list, each in its own order."""
    count = len(facts) + len(beside)
    return [facts.pop(0) if facts and (not beside or dice.roll(2)) else beside.pop(0) for _ in range(count)]


def _fact(world: World, entity: Entity, relation, dice: names.Dice, called: tuple[str, str]) -> str:
    name, plain = called
    value = told(world, world.follow(entity, relation), relation.target)
    subject = name if dice.roll(3) == 0 else plain
    wording = dice.pick(FACTS[relation.name])
    return _headed(wording.format(S=subject, N=name, o=value, O=value))


def _beside(world: World, dice: names.Dice, place: tuple[str, int], called: tuple[str, str], words: int) -> list[str]:
    """Sentences without a fact, until the paragraph has enough words; perhaps one that looks like a fact."""
    wanted, made, first = 45 + dice.roll(40), [], dice.roll(len(FILLERS))
    if dice.roll(3) == 0:
        made.append(_filled(world, dice, dice.pick(TRAPS[place]), *called))
    for step in range(len(FILLERS)):
        if words + sum(map(_length, made)) >= wanted:
            break
        made.append(_filled(world, dice, FILLERS[(first + step * 7) % len(FILLERS)], *called))
    return made


def _filled(world: World, dice: names.Dice, wording: str, name: str, plain: str) -> str:
    values = {"N": name, "it": name if dice.roll(4) == 0 else {"he": "him", "she": "her"}.get(plain, plain)}
    for word, options in _WORDS.items():
        values[word] = dice.pick(options)
    values["year"] = 1700 + dice.roll(220)
    if "{town}" in wording or "{company}" in wording:
        kind = "town" if "{town}" in wording else "company"
        values[kind] = world.title(Entity(kind, dice.roll(world.groups * IN_GROUP[kind])))
    if "{minor}" in wording:
        values["minor"] = f"{dice.pick(names.FIRST_NAMES)} {names.word('minor', dice.roll(1 << 20), world.seed)}"
    return _headed(wording.format(**values))


def _headed(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _length(sentence: str) -> int:
    return sentence.count(" ") + 1


@cache
def _seed(world: int) -> int:
    return derive_seed("invented_hops", "texts", world)
