"""The page, really served on a port of this machine, and asked as a browser or something else would."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from hbench.view.serve import listening, server


@dataclass(frozen=True)
class Answer:
    """headers: by their names in small letters."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Page:
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """headers: with _ for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            given = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, given, answer.read().decode("utf-8", "replace"))
        finally:
            connection.close()

    def sql(self, query: str) -> Answer:
        return self.get("/sql?" + urlencode({"q": query}))

    def post(self, path: str, **form: str) -> Answer:
        """As the page's own form does it."""
        return self.get(path, "POST", urlencode(form), Origin=self.address, Content_Type="application/x-www-form-urlencoded")


@contextmanager
def served(folder: Path) -> Iterator[Page]:
    """The page over a results folder or a bundle, for as long as the block lasts."""
    bound = listening(0)
    running = server(folder, bound)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield Page(bound.getsockname()[1])
    finally:
        running.should_exit = True
        thread.join(20)
