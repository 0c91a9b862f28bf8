"""What `accelerate launch` makes of a file for FSDP or DeepSpeed: its own words, since only GPUs can run it."""

import pytest

from hbench.engines.accelerate_launch import options

pytestmark = pytest.mark.slow  # accelerate's launcher brings torch along

DEEPSPEED = """
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
deepspeed_config: {zero_stage: 3, offload_optimizer_device: cpu, gradient_accumulation_steps: 1, zero3_save_16bit_model: true}
mixed_precision: bf16
num_machines: 1
num_processes: 2
"""
FSDP = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config: {fsdp_version: 2, fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP, fsdp_state_dict_type: FULL_STATE_DICT}
mixed_precision: bf16
num_machines: 1
num_processes: 2
"""


def understood(folder, config, processes=8):
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser

    (folder / "accelerate.yaml").write_text(config)
    words = [*options(processes, str(folder / "accelerate.yaml"), gpu=True), "hbench.runtime.training", "job.json"]
    return _validate_launch_command(launch_command_parser().parse_args(words))[0]


def test_a_deepspeed_file_is_obeyed_but_for_the_number_of_processes(tmp_path):
    told = understood(tmp_path, DEEPSPEED)
    assert told.use_deepspeed and not told.multi_gpu and not told.use_fsdp
    assert (told.zero_stage, told.offload_optimizer_device, told.mixed_precision) == (3, "cpu", "bf16")
    assert told.num_processes == 8 and told.module and told.training_script == "hbench.runtime.training"


def test_an_fsdp_file_is_obeyed_but_for_the_number_of_processes(tmp_path):
    from accelerate.utils.launch import prepare_multi_gpu_env

    told = understood(tmp_path, FSDP)
    assert told.use_fsdp and not told.multi_gpu and not told.use_deepspeed and told.num_processes == 8
    environment = prepare_multi_gpu_env(told)
    assert environment["ACCELERATE_USE_FSDP"] == "true" and environment["FSDP_STATE_DICT_TYPE"] == "FULL_STATE_DICT"
