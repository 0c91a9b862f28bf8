"""The AppWorld engine, which runs in a Python environment of its own beside ours (it pins pydantic 1)."""
