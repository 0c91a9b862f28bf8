"""A world: code in, text out, and beside it what each call changed in the databases.

Nothing that tells the right answer is here: the ground truth is not loaded, and its files are not within reach.
"""

MOST_CHARS = 200_000  # of one call's output


def play(channel: int, order: dict) -> None:
    """Opens the world of order["task"], then answers calls until the driver goes."""
    from inside import wire

    world = _open(order["task"])
    apps = list(world.models.keys())
    models = {app: list(world.models[app].SQLModel.model_names()) for app in apps}
    seen = {app: len(_changes(world, app)) for app in apps}
    wire.send(channel, {"models": models})
    while True:
        code = wire.receive(channel)["code"]
        text = _cut(_said(world, code))
        new = {app: _changes(world, app)[seen[app] :] for app in apps}
        seen = {app: seen[app] + len(new[app]) for app in apps}
        wire.send(channel, {"text": text, "changes": {app: rows for app, rows in new.items() if rows}})


def _open(task: str):
    from appworld import AppWorld

    class World(AppWorld):
        """Writes nothing to disk: the driver keeps what is to be kept."""

        def _prepare_directories(self) -> None: ...

        def _save_state(self, directory: str) -> None: ...

        def save_logs(self) -> None: ...

    return World(task_id=task, load_ground_truth=False)


def _changes(world, app: str) -> list:
    return world.models[app].SQLModel.db.tracker.changes


def _said(world, code: str) -> str:
    try:
        return world.execute(code)
    except BaseException as trouble:  # the engine itself stumbles over some code, such as one that leaves the shell
        return f"Execution failed. Traceback:\n{type(trouble).__name__}: {trouble}"


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    half = MOST_CHARS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
