"""An answer that comes before the student has looked at what its last change left. Written by hand."""
import re

CHANGES = re.compile(r">|\b(?:mv|cp|rm|mkdir|rmdir|touch|tee|truncate)\b|\bsed\b[^\n]*\s-i")
CALL = re.compile(r"```(?:bash|sh|shell)[ \t]*\n(.*?)```|<tool_call>(.*?)</tool_call>", re.DOTALL)


def check(proposal, history):
    if proposal["answer"] is None:
        return None
    said = [message["content"] for message in history if message["role"] == "assistant"]
    calls = [next(part for part in found if part) for text in said for found in CALL.findall(text) if any(found)]
    if not calls:
        return {"evidence": "It answers, and no command was run.", "instruction": "Let it run the first command of the job."}
    if CHANGES.search(calls[-1]) and not re.search(r"(?:&&|;|\n)\s*(?:cat|ls|head|tail)\b[^>]*$", calls[-1]):
        return {
            "evidence": "It answers right after a change that it did not look at.",
            "instruction": "Let it look at the file or folder that it changed, with cat or ls.",
        }
    return None
