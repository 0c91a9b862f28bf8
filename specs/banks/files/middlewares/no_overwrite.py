"""A command that writes the file it reads would empty it first. Written by hand."""
import re


def before(call, history):
    command = call["command"] or ""
    for part in re.split(r"&&|;|\n", command):
        for target in re.findall(r"(?<!>)>(?!>)\s*([\w./-]+)", part):
            read = re.sub(r"(?<!>)>(?!>)\s*[\w./-]+", " ", part)
            if re.search(rf"(?<![\w./-])(?:\./)?{re.escape(target.removeprefix('./'))}(?![\w./-])", read):
                return f"That would empty {target} before it is read. Write to another name, then mv it to {target}."
    return None
