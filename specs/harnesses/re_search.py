"""Searches again, up to four times more, as long as the draft answer stands in none of the passages."""

ROOM = 4500  # characters of passages in one prompt: a small model has room for 2,048 tokens in all
SEARCHES = 5


def run(question, tools):
    found, asked = tools.search(question, top_k=4), [question]
    draft = answer(question, found, tools)
    while len(asked) < SEARCHES and not stands_in(draft, found):
        query = next_query(question, found, tools)
        if query in asked:
            break  # nothing new would come of it
        asked.append(query)
        found = merged(tools.search(query, top_k=3), found)
        draft = answer(question, found, tools)
    return draft


def next_query(question, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nWrite the next search query, for what is still missing, and nothing else."
    return first_line(tools.lm(prompt % (shown(passages), question))) or question


def answer(question, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nAnswer the question with a name, a number, yes or no, and nothing else."
    return first_line(tools.lm(prompt % (shown(passages), question)))


def stands_in(draft, passages):
    """Whether a passage holds the draft, word for word; yes and no can stand in none, so they count as found."""
    said = draft.lower().strip(" .")
    texts = [(p["title"] + ": " + p["text"]).lower() for p in passages]
    return said in ("yes", "no") or (said != "" and any(said in text for text in texts))


def merged(passages, more):
    known = {p["id"] for p in passages}
    return passages + [p for p in more if p["id"] not in known]


def shown(passages):
    """The passages with their titles, each cut so that all of them fit."""
    each = ROOM // max(1, len(passages))
    cut = [(i, p["title"], p["text"][: each - len(p["title"])]) for i, p in enumerate(passages, 1)]
    return "\n".join("[%d] %s: %s" % passage for passage in cut)


def first_line(reply):
    lines = reply.strip().splitlines()
    return lines[0].strip().strip('"') if lines else ""
