"""A command that writes the file it reads would empty it first. Written by hand."""
import re


def check(proposal, history):
    command = proposal["command"] or ""
    for part in re.split(r"&&|;|\n", command):
        for target in re.findall(r"(?<!>)>(?!>)\s*([\w./-]+)", part):
            read = re.sub(r"(?<!>)>(?!>)\s*[\w./-]+", " ", part)
            if re.search(rf"(?<![\w./-])(?:\./)?{re.escape(target.removeprefix('./'))}(?![\w./-])", read):
                return {
                    "evidence": f"It writes {target} in the command that reads it, which empties it first.",
                    "instruction": "Let it write to the name that was asked for, or to another one and then mv it.",
                }
    return None
