"""The page of one trajectory, turn by turn."""

from typing import Any

from hbench.view.ids import rollout_address
from hbench.view.page import page
from hbench.view.rollouts import neighbours
from hbench.view.trajectory import HIDES, trajectory


def one(request: Any) -> Any:
    """hide in the address: what of a replacement is shown as hidden from the loss; else what its training hid."""
    reading, named = request.state.reading, request.path_params
    key = named["step"], named["question"], named["repeat"]
    record, asked = trajectory(reading, *key), request.query_params.get("hide")
    return page(
        request,
        "trajectory.html",
        record=record,
        hide=asked if asked in HIDES else record.hide,
        hides=HIDES,
        address=rollout_address(key[0], 0, *key[1:]),
        **neighbours(reading, record.row, "trajectories"),
    )


ROUTES = [("/trajectories/{step}/{question}/{repeat:int}", one)]
