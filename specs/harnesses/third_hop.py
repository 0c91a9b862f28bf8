"""Three searches: notes of each form the next query, and the passages of all three reach the answer."""

ROOM = 4500  # characters of passages in one prompt: a small model has room for 2,048 tokens in all
SEARCHES = 3


def run(question, tools):
    query, found, notes = question, [], ""
    for left in reversed(range(SEARCHES)):
        passages = tools.search(query, top_k=4)
        found = merged(passages, found)
        if left:
            notes += summarise(query, passages, tools) + "\n"
            query = next_query(question, notes, tools)
    return answer(question, found, tools)


def summarise(query, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nSummarise in at most three sentences what the passages say about it."
    return tools.lm(prompt % (shown(passages), query)).strip()


def next_query(question, summary, tools):
    prompt = "Summary: %s\n\nQuestion: %s\nWrite the next search query, for what is still missing, and nothing else."
    return first_line(tools.lm(prompt % (summary, question))) or question


def answer(question, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nAnswer the question with a name, a number, yes or no, and nothing else."
    return first_line(tools.lm(prompt % (shown(passages), question)))


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
