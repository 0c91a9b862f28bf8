"""Requests and models as the tests of engines need them."""

from hbench.core.message import Message, Request, Sampling
from hbench.core.model import ModelRef


def ask(text: str = "2+2?", seed: int = 0, **sampling) -> Request:
    return Request((Message("user", text),), Sampling(**sampling), seed)


def model(weights: str = "tiny", name: str = "tiny", **identity) -> ModelRef:
    return ModelRef("solver", name, {"weights": weights, **identity})
