"""Stop strings on the client's side: servers take at most four, and not all of them obey."""

from collections.abc import Sequence


def tidy_stops(stops: Sequence[str]) -> list[str]:
    """`stops` in order, each once, without the empty one (which would stop before the first token)."""
    return list(dict.fromkeys(s for s in stops if s))


def cut_at_stop(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """`text` up to the first place where any of `stops` begins, and whether there was one."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)
