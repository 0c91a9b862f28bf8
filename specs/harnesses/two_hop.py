"""The seed for multi-hop questions: search, summarise, search again, summarise, answer from the two summaries."""

ROOM = 4500  # characters of passages in one prompt: a small model has room for 2,048 tokens in all


def run(question, tools):
    first = summarise(question, tools.search(question), tools)
    second = summarise(question, tools.search(next_query(question, first, tools)), tools)
    return answer(question, first + "\n" + second, tools)


def summarise(question, passages, tools):
    prompt = "Passages:\n%s\n\nQuestion: %s\nSummarise in at most three sentences what the passages say about it."
    return tools.lm(prompt % (shown(passages), question)).strip()


def next_query(question, summary, tools):
    prompt = "Summary: %s\n\nQuestion: %s\nWrite the next search query, for what is still missing, and nothing else."
    return first_line(tools.lm(prompt % (summary, question))) or question


def answer(question, summaries, tools):
    prompt = "Summaries:\n%s\n\nQuestion: %s\nAnswer the question with a name, a number, yes or no, and nothing else."
    return first_line(tools.lm(prompt % (summaries, question)))


def shown(passages):
    """The passages with their titles, each cut so that all of them fit."""
    each = ROOM // max(1, len(passages))
    cut = [(i, p["title"], p["text"][: each - len(p["title"])]) for i, p in enumerate(passages, 1)]
    return "\n".join("[%d] %s: %s" % passage for passage in cut)


def first_line(reply):
    lines = reply.strip().splitlines()
    return lines[0].strip().strip('"') if lines else ""
