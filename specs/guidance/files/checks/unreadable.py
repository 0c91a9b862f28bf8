"""A response in which no call can be read does nothing. Written by hand: no component of the bank stands behind it."""


def check(proposal, history):
    if proposal["unreadable"] is None:
        return None
    return {"evidence": proposal["unreadable"], "instruction": "Let it run one command, in one block."}
