"""An answer waits until the student has looked at what its last change left. Written by hand."""
import re

CHANGES = re.compile(r">|\b(?:mv|cp|rm|mkdir|rmdir|touch|tee|truncate)\b|\bsed\b[^\n]*\s-i")
CALL = re.compile(r"```(?:bash|sh|shell)[ \t]*\n(.*?)```|<tool_call>(.*?)</tool_call>", re.DOTALL)


def before(call, history):
    if call["answer"] is None:
        return None
    said = [message["content"] for message in history if message["role"] == "assistant"]
    calls = [next(part for part in found if part) for text in said for found in CALL.findall(text) if any(found)]
    if not calls:
        return "Nothing was done yet. Do the job with commands, then answer."
    if CHANGES.search(calls[-1]) and not re.search(r"(?:&&|;|\n)\s*(?:cat|ls|head|tail)\b[^>]*$", calls[-1]):
        return "Look at what the last command left (cat the file, or ls the folder), then answer."
    return None
