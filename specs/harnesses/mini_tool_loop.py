"""The tool loop in a context of 2,048 tokens: as tool_loop.py, with three turns and at most 300 characters of output."""

import re

TURNS = 3
INSTRUCTIONS = """Solve this with Python: write code in a ```python block and print what you need.
You are then shown what it printed.
When you know the answer, write no more code: put the final answer between <answer> and </answer>."""


def run(question, tools):
    messages = [{"role": "user", "content": question + "\n\n" + INSTRUCTIONS}]
    printed, tried = "", set()
    for left in reversed(range(TURNS)):
        reply = after_thought(tools.lm(messages))
        answer = tagged(without_code(reply))
        code = last_code(reply)
        if answer is not None or code is None or code in tried:
            return answer or last_line(printed) or reply.strip()  # nothing new would come of asking again
        tried.add(code)
        result = tools.python(code)
        printed = result["stdout"] if result["stdout"].strip() else printed
        messages.append({"role": "assistant", "content": reply})
        messages.append({"role": "user", "content": shown(result, left)})
    return tagged(printed) or last_line(printed) or reply.strip()


def shown(result, left):
    """What the solver is told of a run of its code."""
    output = (result["stdout"] + result["stderr"]).strip() or "(nothing: print what you need)"
    told = "It printed" if result["ok"] else "It failed"
    return f"{told}:\n{output[-300:]}\n" + ("" if left > 1 else "Now give the answer: <answer> … </answer>.")


def after_thought(reply):
    return reply.rsplit("</think>", 1)[-1].split("<think>", 1)[0]


def tagged(text):
    """The text of the last complete answer tag, or None."""
    found = re.findall(r"<answer>((?:(?!</?answer>).)*)</answer>", text, re.DOTALL | re.IGNORECASE)
    return found[-1].strip() if found else None


FENCE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def last_code(reply):
    """The last Python block, also one that was cut off; None where there is none."""
    found = [code for tag, code in FENCE.findall(reply) if tag.lower() in ("", "python", "py", "python3")]
    return found[-1] if found and found[-1].strip() else None


def without_code(reply):
    return FENCE.sub("\n", reply)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
