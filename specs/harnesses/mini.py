import math
import re


def run(question, tools):
    answer = None
    # code
    if answer is None:
        answer = ask(question, tools)
    return str(answer)


# helpers


def ask(question, tools):
    """What the solver puts between answer tags; its whole reply where there are none."""
    reply = tools.lm(question + "\nWrite the final answer inside <answer></answer>.")
    found = re.findall(r"<answer>(.*?)</answer>", reply, re.DOTALL)
    return (found[-1] if found else reply).strip()


NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[-+]?\d+)?"
VALUE = r"(?:0x[0-9a-f]+|\d+(?:\.\d+)?)"
EXPRESSION = rf"[-+( ]*{VALUE}(?:[ )]*(?:\*\*|//|<<|>>|[-+*/%])[-+( ]*{VALUE})+[ )]*|0x[0-9a-f]+"


def numbers(text):
    """Every number of the text, in order: whole ones as int, others as float."""
    found = [n.replace(",", "") for n in re.findall(rf"(?<![\w.])-?(?:{NUMBER})(?!\w|\.\d)", text)]
    return [int(n) if n.lstrip("-").isdigit() else float(n) for n in found]


def calc(text):
    """The value of the longest arithmetic expression in the text; a whole number comes as int."""
    found = max(re.findall(EXPRESSION, text.replace("×", "*").replace("÷", "/")), key=lambda e: sum(map(str.isalnum, e)))
    value = eval(balanced(found.strip()))
    if isinstance(value, float):
        value = float(f"{value:.12g}")
    return int(value) if value == int(value) else value


def balanced(expression):
    """The expression without brackets at its ends that have no partner."""
    while expression.count(")") > expression.count("(") and expression.endswith(")"):
        expression = expression[:-1].strip()
    while expression.count("(") > expression.count(")") and expression.startswith("("):
        expression = expression[1:].strip()
    return expression


def tail(text):
    """What stands after the last colon."""
    return text.rsplit(":", 1)[-1].strip()


def items(text):
    """The parts of the comma list that ends a line after a colon: of the last such line, else of the tail."""
    lists = re.findall(r":[ \t]*([^:\n]*,[^:\n]*)$", text.strip(), re.MULTILINE)
    return [item.strip(" .?") for item in (lists[-1] if lists else tail(text)).split(",")]


def last(text):
    """The last line that is not empty."""
    return text.strip().split("\n")[-1].strip()


def quoted(text):
    """The texts in double quotes; where there are none, those in single quotes."""
    return re.findall(r'"(.*?)"', text, re.DOTALL) or re.findall(r"'(.*?)'", text, re.DOTALL)
