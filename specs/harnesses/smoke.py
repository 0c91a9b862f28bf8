import re


def run(question, tools):
    answer = None
    # code
    if answer is None:
        answer = tools.lm(question)
    return str(answer)


def numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]
