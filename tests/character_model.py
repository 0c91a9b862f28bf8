"""A student of some hundred thousand random weights that can read and write any text, character by character."""

import string
from pathlib import Path

from tests.smoke_model import SPECIAL, small_llama, word_tokenizer

CHARACTERS = [*string.printable[:95], "\n", "…"]


def save_character_model(folder: Path, context: int = 2048) -> Path:
    """An ordinary Hugging Face folder: Llama, 2 layers of 64 numbers, float32."""
    words = [*SPECIAL, *CHARACTERS]
    small_llama(len(words), 64, context).save_pretrained(folder)
    word_tokenizer(words, r"[\s\S]").save_pretrained(folder)
    return folder
