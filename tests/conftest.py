"""Tests see no one's settings: no keys, no parts folder, a cache that they share."""

import os

os.environ.pop("HBENCH_PARTS", None)
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
