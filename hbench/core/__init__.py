"""The words of hbench as types. Standard library only (jinja2 in `prompt.py`)."""
