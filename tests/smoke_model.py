"""A model of some hundred thousand random weights for `make train-smoke`: `python -m tests.smoke_model FOLDER`.

It knows the words of the smoke spec's prompt, harness and demonstrations, and nothing else; it is small enough to learn
its edits by heart in a minute of one core.
"""

import re
import sys
from pathlib import Path
from typing import Any

from hbench.core.places import find_file

SOURCES = (
    ("prompts", "proposer/search_replace_small.j2"),
    ("prompts", "report/small.j2"),
    ("specs", "harnesses/smoke.py"),
    ("specs", "replies/smoke.jsonl"),
)
SPECIAL = ["<end>", "<pad>", "<unknown>", "<system>", "<user>", "<assistant>"]
PIECE = r" {4}|[A-Za-z_]+|\d|\s|[^\w\s]"
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def save_smoke_model(folder: Path) -> Path:
    """An ordinary Hugging Face folder: Llama, 2 layers of 96 numbers, float32."""
    words = _words()
    model = small_llama(len(words), 96, 1024)
    model.lm_head.weight.data.normal_(std=0.3)  # it stays as it is: an adapter must be able to be sure of a word
    model.save_pretrained(folder)
    word_tokenizer(words, PIECE).save_pretrained(folder)
    return folder


def small_llama(words: int, width: int, context: int) -> Any:
    """A Llama of 2 layers of `width` numbers with random weights, the same ones each time, float32."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "llama",
        vocab_size=words,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=width // 4,
        max_position_embeddings=context,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=None,
        initializer_range=0.1,
        tie_word_embeddings=False,
    )
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def _words() -> list[str]:
    texts = [find_file(sort, name).read_text("utf-8").replace("\\n", "\n") for sort, name in SOURCES]
    return [*SPECIAL, *sorted({piece for text in texts for piece in re.findall(PIECE, text)} | set("0123456789"))]


def word_tokenizer(words: list[str], piece: str) -> Any:
    """A tokenizer of `words`, the first of which are SPECIAL; piece: the pattern that cuts a text into them."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unknown>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(piece), "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        pad_token="<pad>",
        additional_special_tokens=SPECIAL[2:],
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


if __name__ == "__main__":
    save_smoke_model(Path(sys.argv[1]))
