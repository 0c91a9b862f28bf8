"""Identity: canonical JSON, digests, and seeds derived from them."""

import hashlib
import json
from collections.abc import Callable
from functools import cached_property
from json.encoder import c_make_encoder, encode_basestring, encode_basestring_ascii
from typing import Any

Json = Any  # None, bool, int, float, str, list[Json], dict[str, Json]


def encoder(sort_keys: bool, item: str = ",", colon: str = ":", ascii: bool = False, nan: bool = False) -> Callable[[Json], str]:
    """What json.dumps gives by this one choice, which makes its encoder anew for each value; that takes longer than a row.

    nan: whether NaN and infinities go through; else they raise ValueError.
    """
    escaped = encode_basestring_ascii if ascii else encode_basestring
    pieces = c_make_encoder(None, json.JSONEncoder().default, escaped, None, colon, item, sort_keys, False, nan)
    return lambda value: "".join(pieces(value, 0))


json_text = encoder(sort_keys=True)
spaced_text = encoder(sort_keys=False, item=", ", colon=": ", nan=True)  # json.dumps(value, ensure_ascii=False)


def canonical_json(value: Json) -> bytes:
    """The one byte string that stands for `value`: sorted keys, no blanks, UTF-8.

    Raises ValueError for NaN and infinities, TypeError for what JSON cannot hold. Lone surrogates are
    kept (as WTF-8), so any text has a digest.
    """
    return json_text(value).encode("utf-8", "surrogatepass")


def digest(value: Json) -> str:
    """64 hex digits (SHA-256) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def digest_of_texts(*texts: str) -> str:
    """The digest of a list, from the canonical JSON of each of its items."""
    return hashlib.sha256(f"[{','.join(texts)}]".encode("utf-8", "surrogatepass")).hexdigest()


class Told(dict):
    """A JSON object that many others hold; its digest and texts are made once. Never changed."""

    @cached_property
    def digest(self) -> str:
        return digest(self)

    @cached_property
    def text(self) -> str:
        """Its canonical JSON."""
        return json_text(self)

    @cached_property
    def brief(self) -> str:
        """The same with [digest] in place of every value that is itself Told."""
        return json_text({name: [value.digest] if type(value) is Told else value for name, value in self.items()})


def text_digest(text: str) -> str:
    """32 hex digits of the text itself: the key of the `texts` table."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def derive_seed(*parts: Json) -> int:
    """A seed in [0, 2**63) from everything that should tell two draws apart.

    Never `seed + i`: neighbouring seeds share questions in reasoning-gym.
    """
    return int(digest(list(parts))[:16], 16) >> 1
