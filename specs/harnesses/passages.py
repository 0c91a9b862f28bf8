"""As the two-hop seed, but the passages themselves reach the answer; the summary only forms the next query."""

ROOM = 4500  # characters of passages in one prompt: a small model has room for 2,048 tokens in all


def run(question, tools):
    found = tools.search(question, top_k=5)
    summary = summarise(question, found, tools)
    found = merged(found, tools.search(next_query(question, summary, tools), top_k=5))
    return answer(question, found, tools)


def summarise(question, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nSummarise in at most three sentences what the passages say about it."
    return tools.lm(prompt % (shown(passages), question)).strip()


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
