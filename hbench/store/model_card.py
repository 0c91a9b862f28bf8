"""The README.md beside a trained model: base, recipe, lineage, and how it is loaded."""

import json
from pathlib import Path

from hbench.core.digest import Json

EMBEDDED = "embedded/"  # weights that ship in a package, unpacked by hbench alone


def model_card(card: Json, folder: Path) -> str:
    """Markdown with the YAML head that model hubs read. folder: of the model, where an adapter's own settings stand."""
    adapter = card["kind"] == "adapter"
    weights, sort = card["base"]["weights"], "LoRA adapter" if adapter else "model"
    head = ["---", f"base_model: {json.dumps(weights)}", f"library_name: {'peft' if adapter else 'transformers'}"]
    head += ["pipeline_tag: text-generation", "tags: [hbench]", "---", ""]
    about = [
        f"# A {sort} trained by hbench",
        "",
        "| | |",
        "| --- | --- |",
        f"| base model | {_identity(card['base'])} |",
        f"| trained by | {card['step']['kind']}, step {card['step']['key']} |",
        f"| updates | {card['updates'] if card['updates'] is not None else 'not recorded'} |",
        f"| SHA-256 of its files | {card['sha256']} |",
    ]
    about += [f"| merged from | adapter {card['merged_from']} |"] if card.get("merged_from") else []
    recipe = json.dumps(card["params"].get("recipe", card["params"]), indent=1, ensure_ascii=False, sort_keys=True)
    about += ["", "## Recipe", "", "```json", recipe, "```", "", "All that was hashed stands in checkpoint.json.", ""]
    return "\n".join([*head, *about, *_lineage(card["lineage"]), *_use(weights, adapter, folder)]) + "\n"


def _identity(base: Json) -> str:
    more = ", ".join(f"{key} {value}" for key, value in sorted(base.items()) if key not in ("weights", "kind"))
    return base["weights"] + (f" ({more})" if more else "")


def _lineage(steps: list[Json]) -> list[str]:
    if not steps:
        return []
    lines = ["## Lineage", ""]
    for step in steps:
        if "measured" in step:
            lines.append("1. " + ", ".join(f"{count} {kind}" for kind, count in step["measured"].items()))
            continue
        line = f"1. {step['kind']} {step['key'][:16]}"
        line += f": families {', '.join(step['families'])}" if "families" in step else ""
        lines.append(line + (f": SHA-256 {step['sha256'][:16]}" if "sha256" in step else ""))
    return [*lines, ""]


def _use(weights: str, adapter: bool, folder: Path) -> list[str]:
    if not adapter:
        return ["## Use", "", "A Hugging Face folder with its tokenizer: give its path to transformers or `vllm serve`."]
    lines = ["## Use", "", "```python"]
    lines += ["from peft import PeftModel", "from transformers import AutoModelForCausalLM", ""]
    lines += [f'model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("{weights}"), "FOLDER")', "```", ""]
    lora = f"--enable-lora --max-lora-rank {_rank(folder)} --lora-modules NAME=FOLDER"
    lines += ["```bash", f"vllm serve {weights} {lora}", "```"]
    lines += ["", f"In a spec of hbench: `proposer: {{weights: {weights}, adapter: FOLDER}}`."]
    if weights.startswith(EMBEDDED):
        lines += ["", "hbench alone unpacks this base; `hbench model export KEY DIR --merged` writes the whole model."]
    return lines


def _rank(folder: Path) -> int:
    """vLLM takes ranks of 8, 16, 32, 64, 128, 256, and wants to know the highest."""
    try:
        rank = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))["r"]
    except (OSError, ValueError, KeyError):
        return 16
    return next((most for most in (8, 16, 32, 64, 128, 256) if most >= rank), rank)
