"""The tests of a task on the databases that a world left. No student's code was ever run in this process."""


def evaluate(channel: int, order: dict) -> None:
    """order: task, experiment (the folder below experiments/outputs). Says success, num_tests, passes and failures."""
    from appworld import evaluate_task
    from inside import wire

    told = evaluate_task(order["task"], experiment_name=order["experiment"], save_report=False).to_dict()
    passes, failures = ([test["requirement"] for test in told[name]] for name in ("passes", "failures"))
    found = {"success": told["success"], "num_tests": told["num_tests"], "passes": passes, "failures": failures}
    wire.send(channel, {"evaluation": found})
