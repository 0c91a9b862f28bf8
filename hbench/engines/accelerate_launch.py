"""`accelerate launch`, in this process."""

import os
from collections.abc import Sequence


def launch(module: str, words: Sequence[str], processes: int, config: str | None = None) -> None:
    """Runs `python -m module words…` in `processes` processes that know of each other, and waits for them.

    config: a file that `accelerate config` wrote: FSDP and DeepSpeed are its to say, and need GPUs. When one of them fails,
    the others are ended within half a minute, and what is raised names the first. Without a GPU they meet over gloo:
    accelerate's own `--cpu` would start a single one, so its launcher for GPUs is used, which starts processes and no more.
    """
    import torch
    from accelerate.commands.launch import launch_command, launch_command_parser

    gpu = torch.cuda.is_available()
    if not gpu:
        os.environ["ACCELERATE_USE_CPU"] = "true"
    launch_command(launch_command_parser().parse_args([*options(processes, config, gpu), module, *words]))


def options(processes: int, config: str | None, gpu: bool) -> list[str]:
    """Of `accelerate launch`. Any that names a way of sharing would outdo the file's own."""
    told = ["--num_processes", str(processes), "--main_process_port", "0", "--module"]
    told += ["--config_file", config] if config else ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    return told + ([] if config and gpu else ["--multi_gpu"])
