"""Local data for lm-eval's tasks: JSON Lines that lie beside a task, here, or in $HBENCH_DATA. Nothing is fetched or cached."""

from hbench.core.failure import HbenchError
from hbench.parts.families._lm_eval_files import data_file
from hbench.parts.families._qa_files import rows_of, shown_folders


def rows(data_files, **_):
    """Split -> its rows: what a task's `custom_dataset` gives."""
    from datasets import Dataset

    return {split: Dataset.from_list(list(rows_of(_found(name)))) for split, name in data_files.items()}


def _found(name):
    file = data_file(name)
    if file is None:
        raise HbenchError(f"no file {name!r}, neither here nor in {shown_folders('.')}")
    return file
