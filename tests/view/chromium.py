"""A real browser without a window: Debian's Chromium, driven by Playwright. Where there is none, a test skips, saying so."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCHEMES, WIDTHS = ("light", "dark"), (1280, 390)


@contextmanager
def started() -> Iterator[Any]:
    """The browser. Skips where it is not installed; fails there where HBENCH_NEEDS_CHROMIUM says that it has to be."""
    missing = pytest.fail if os.environ.get("HBENCH_NEEDS_CHROMIUM") else pytest.skip
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing("Chromium is not installed (make test-view installs it)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the Python package playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Window:
    """One window. troubles: errors of its console and scripts. asked: every address that it asked something of."""

    page: Any
    troubles: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def runs_over(self) -> int:
        """Pixels by which the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)

    def picture(self, name: str) -> bytes:
        """A picture of the whole page; kept in the folder HBENCH_PICTURES, if that is set."""
        made = self.page.screenshot(full_page=True)
        if folder := os.environ.get("HBENCH_PICTURES"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / f"{name}.png").write_bytes(made)
        return made


@contextmanager
def window(browser: Any, scheme: str = "light", width: int = 1280) -> Iterator[Window]:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    opened = Window(context.new_page())
    opened.page.on("console", lambda said: opened.troubles.append(said.text) if said.type in ("error", "warning") else None)
    opened.page.on("pageerror", lambda error: opened.troubles.append(str(error)))
    opened.page.on("request", lambda request: opened.asked.append(request.url))
    try:
        yield opened
    finally:
        context.close()
