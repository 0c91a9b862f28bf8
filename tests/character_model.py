"""A student of some hundred thousand random weights that can read and write any text, character by character."""

import string
from pathlib import Path
from typing import Any

from tests.smoke_model import SPECIAL, TEMPLATE

CHARACTERS = [*string.printable[:95], "\n", "…"]


def save_character_model(folder: Path, context: int = 2048) -> Path:
    """An ordinary Hugging Face folder: Llama, 2 layers of 64 numbers, float32."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    words = [*SPECIAL, *CHARACTERS]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "llama",
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=context,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=None,
        initializer_range=0.1,
        tie_word_embeddings=False,
    )
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval().save_pretrained(folder)
    _tokenizer(words).save_pretrained(folder)
    return folder


def _tokenizer(words: list[str]) -> Any:
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="<unknown>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        pad_token="<pad>",
        additional_special_tokens=SPECIAL[2:],
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
