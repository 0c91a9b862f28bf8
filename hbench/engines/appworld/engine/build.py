"""Files of a home-made task, and of what all of them share, in the layout of the published ones. Made in memory."""

import base64
import json

NOW = "2023-05-18T12:00:00"  # in every home-made world


def build(channel: int, order: dict) -> None:
    """order["task"]: see parts/domains/_appworld_home_made.py; None: what all tasks share. Says files: path -> base64."""
    from inside import wire

    files = _task(order["task"]) if order["task"] else _shared()
    wire.send(channel, {"files": {path: base64.b64encode(content).decode() for path, content in files.items()}})


def _apps() -> list[str]:
    from appworld.apps import get_all_apps

    return get_all_apps(skip_admin=True)


def _shared() -> dict[str, bytes]:
    """The documentation of every call, as files and as a database, and the other databases, empty."""
    from appworld.api_docs import prepare_api_docs
    from appworld.collections.models import ModelCollection

    apps, place = _apps(), ":memory:shared"
    models = ModelCollection.load(place, place, load_apps=[*apps, "admin"], create_db=True)
    files = {}
    for app in apps:
        docs = prepare_api_docs(app, format="standard")
        files[f"api_docs/standard/{app}.json"] = _json({doc["api_name"]: {**doc, "canary_string": ""} for doc in docs})
        models.api_docs.ApiDoc.save_all([_row(models.api_docs.ApiDoc, app, doc) for doc in docs])
    for app in [*apps, "admin"]:
        files[f"base_dbs/{app}.db"] = models[app].SQLModel.db.connection.serialize()
    return files


def _row(table, app: str, doc: dict):
    kept = ("api_name", "path", "method", "description", "parameters", "response_schemas")
    return table(app_name_=app, **{name: doc[name] for name in kept})


def _task(task: dict) -> dict[str, bytes]:
    """What makes this task's databases of the shared ones, its statement and its ground truth."""
    from appworld.common.constants import DB_VERSION
    from appworld.common.path_store import path_store

    folder = f"tasks/{task['task_id']}"
    changes = _changes(f"{path_store.data}/base_dbs", task)
    statement = {"instruction": task["instruction"], "supervisor": task["person"], "datetime": NOW, "db_version": DB_VERSION}
    files = {f"{folder}/specs.json": _json({**statement, "canary_string": ""})}
    for app, rows in changes.items():
        files[f"{folder}/dbs/{app}.jsonl"] = b"".join(_json(row) + b"\n" for row in rows)
    for name, content in task["ground_truth"].items():
        files[f"{folder}/ground_truth/{name}"] = content.encode() if name.endswith(".py") else _json(content)
    return files


def _changes(shared: str, task: dict) -> dict[str, list]:
    """app -> the statements that fill its database."""
    from datetime import datetime

    from appworld.collections.models import ModelCollection

    apps, now = [*_apps(), "admin"], datetime.fromisoformat(NOW)
    someone, born = task["person"], {"birthday": "1990-01-01", "sex": "female"}
    models = ModelCollection.load(f":memory:{task['task_id']}", shared, load_apps=apps)
    models.admin.MainUser(**someone, **born).save()
    supervisor = models.supervisor.Supervisor(**someone, **born)
    supervisor.save()
    password = task["password"]
    models.supervisor.AccountPassword(supervisor_id=supervisor.id, account_name="simple_note", password=password).save()
    models.supervisor.Task(supervisor_id=supervisor.id, instruction=task["instruction"]).save()
    known = {name: someone[name] for name in ("first_name", "last_name", "email")}
    user = models.simple_note.User(**known, password=password, created_at=now, last_logged_in=now, verified=True)
    user.save()
    for note in task["notes"]:
        models.simple_note.Note(user_id=user.id, **note, created_at=now, updated_at=now).save()
    return {app: models[app].SQLModel.db.tracker.changes for app in apps}


def _json(value) -> bytes:
    return json.dumps(value).encode()
