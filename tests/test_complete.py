"""<TAB> offers what there is, quickly, and never an error."""

import os
import subprocess
import sys

import pytest


HBENCH = [sys.executable, "-c", "import sys; sys.argv = ['hbench']; from hbench.cli import main; main()"]


def offered(line: str, folder=None) -> list[str]:
    """What bash would offer at the end of `line`."""
    at = len(line.split()) - (not line.endswith(" "))
    around = {**os.environ, "_HBENCH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(at)}
    done = subprocess.run(HBENCH, env=around, cwd=folder, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("hbench ev", "eval"),
        ("hbench run quick", "quickstart"),
        ("hbench plan distillation/mini_", "distillation/mini_distil"),
        ("hbench run quickstart --arm tool", "tool_loop"),
        ("hbench exhibit qa_r", "qa_rounds"),
        ("hbench sql --bundle mi", "mini"),
        ("hbench compare published/mi", "published/mini"),
        ("hbench compare quickstart --arm tool", "tool_loop"),
        ("hbench kinds strict", "strict_improvement"),
        ("hbench new tr", "training"),
        ("hbench eval se", "seed"),
        ("hbench eval seed maz", "maze"),
        ("hbench eval target fi", "files"),
        ("hbench eval seed maze smol", "smollm2_135m"),
        ("hbench export published/mi", "published/mini"),
    ],
)
def test_what_a_word_may_become_is_offered(line, there, tmp_path):
    assert there in offered(line, tmp_path)


@pytest.mark.parametrize("line", ["hbench run nosuch --arm x", "hbench run base", "hbench sql --results /nowhere --bundle x"])
def test_where_there_is_nothing_nothing_is_offered(line, tmp_path):
    assert offered(line, tmp_path) == []


def test_one_s_own_specs_are_offered_too(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/mine.yaml").write_text("plan: [broken\n")
    assert offered("hbench run mi", tmp_path) == ["mine"] and offered("hbench run specs/", tmp_path) == ["specs/mine.yaml"]
    assert offered("hbench run mine --arm x", tmp_path) == []


def test_offering_loads_nothing_heavy():
    code = (
        "import sys, typer\n"
        "from hbench.cli import complete\n"
        "class Line: params, args = {'harness': 'seed'}, ['quickstart']\n"
        "for offer in (complete.specs, complete.arms, complete.exhibits, complete.bundles, complete.words, complete.models, complete.families):\n"
        "    assert offer(Line, ''), offer\n"
        "print([m for m in ('torch', 'transformers', 'duckdb', 'numpy', 'reasoning_gym', 'aiohttp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
