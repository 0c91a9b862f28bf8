"""Long texts without their middles."""


def cut(text: str, chars: int) -> str:
    """`text`, or its head and tail, `chars` characters together, with the number left out between them."""
    if len(text) <= chars:
        return text
    head, tail = chars - chars // 2, chars // 2
    return f"{text[:head]}\n… {len(text) - chars} characters left out …\n{text[len(text) - tail :]}"
