"""A model of a few thousand random weights, saved as an ordinary Hugging Face folder."""

from pathlib import Path
from typing import Any

WORDS = ["<end>", "<pad>", "<user>", "<assistant>", *"abcdefghijklmnopqrstuvwxyz0123456789", "?", "+", "=", "."]
TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'nobody' %}{{ raise_exception('nobody may speak') }}{% endif %}"
    "<{{ m.role }}>{{ m.content }}{% if m.role == 'assistant' %}<end>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def save_tiny(folder: Path, context: int = 64) -> Path:
    """A random Llama over single characters with its tokenizer, in float32."""
    tiny("llama", max_position_embeddings=context).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def tiny(kind: str, **options: Any):
    """A random model of the architecture `kind`, ready to be asked."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.set_num_threads(1)  # two threads on two busy cores wait for each other
    torch.manual_seed(0)
    sizes = {
        "vocab_size": len(WORDS),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "eos_token_id": 0,
        "pad_token_id": 1,
        "bos_token_id": None,
        "initializer_range": 0.5,  # so that the next token depends on all that came before
    }
    config = AutoConfig.for_model(kind, **{**sizes, **options})
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def tokenizer():
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="."))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    inner.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        pad_token="<pad>",
        additional_special_tokens=["<user>", "<assistant>"],
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )
