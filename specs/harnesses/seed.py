"""The seed: one call, and what stands in the last answer tag."""

import re

INSTRUCTION = "Put the final answer between <answer> and </answer>."


def run(question, tools):
    reply = tools.lm(question + "\n\n" + INSTRUCTION)
    return final_answer(reply)


def final_answer(reply):
    """The text of the last complete tag after any thought; where there is none, the whole reply."""
    said = reply.rsplit("</think>", 1)[-1].split("<think>", 1)[0]
    found = re.findall(r"<answer>((?:(?!</?answer>).)*)</answer>", said, re.DOTALL | re.IGNORECASE)
    return found[-1].strip() if found else said.strip()
