"""The page answers this machine's own browser, and nobody who only pretends to be it."""

import asyncio
import contextlib
import socket

import pytest

from hbench.view.app import application
from hbench.view.reading import Reading

ELSEWHERE = "http://evil.example"


@pytest.mark.attack
@pytest.mark.control
def test_a_page_is_answered_under_each_name_of_this_machine(toy_page):
    for name in ("127.0.0.1", "localhost"):
        assert toy_page.get("/runs", Host=f"{name}:{toy_page.port}").status == 200


@pytest.mark.attack
@pytest.mark.control
def test_control_the_page_s_own_requests_are_answered(toy_page, toy):
    """With its own origin, by the methods that it uses, and for its own files."""
    same = {"Origin": toy_page.address, "Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"}
    assert [toy_page.get(path, **same).status for path in ("/runs", "/static/page.css", "/sql?q=select+1")] == [200] * 3
    assert toy_page.get("/runs", "HEAD").status == 200
    assert toy_page.post("/sql/saved", name="own", q="select 1").status == 303 and (toy / "queries/own.sql").exists()
    assert toy_page.post("/sql/saved", name="own", forget="1").status == 303 and not (toy / "queries/own.sql").exists()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.evil.example:{port}", "localhost:1", ""])
@pytest.mark.attack
def test_another_host_name_is_refused_so_that_no_name_of_a_stranger_may_resolve_to_this_page(toy_page, host):
    answer = toy_page.get("/runs", Host=host.format(port=toy_page.port))
    assert (answer.status, answer.text) == (403, "refused: the request names another host\n")


@pytest.mark.parametrize("path", ["/runs", "/sql?q=select+1", "/static/page.css", "/nowhere"])
@pytest.mark.parametrize("origin", [ELSEWHERE, "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", "http://localhost.evil.example:{port}"])
@pytest.mark.attack
def test_a_request_from_another_origin_is_refused(toy_page, path, origin):
    assert toy_page.get(path, Origin=origin.format(port=toy_page.port)).status == 403


@pytest.mark.attack
def test_a_form_that_another_origin_posts_is_refused_and_saves_nothing(toy_page, toy):
    answer = toy_page.get("/sql/saved", "POST", "name=evil&q=select+1", Origin=ELSEWHERE)
    assert answer.status == 403 and not (toy / "queries/evil.sql").exists()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.attack
def test_what_another_site_loads_or_frames_is_refused_though_it_sends_no_origin(toy_page, site):
    for mode, target in (("no-cors", "image"), ("navigate", "iframe"), ("cors", "empty")):
        named = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": target}
        assert toy_page.get("/runs", **named).status == 403


def test_a_link_that_somebody_follows_opens_a_page_but_runs_no_query(toy_page):
    followed = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert toy_page.get("/runs", **followed).status == 200
    answer = toy_page.get("/sql?q=select+42+as+told", **followed)
    assert answer.status == 200 and "came with a link from elsewhere" in answer.text and "<th>told</th>" not in answer.text
    assert toy_page.get("/sql.csv?q=select+42", **followed).status == 400


@pytest.mark.attack
def test_other_methods_are_refused(toy_page):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        assert toy_page.get("/runs", method).status in (403, 405)
    assert toy_page.get("/runs", "POST").status == 405


@pytest.mark.parametrize("path", ["/runs", "/static/page.css", "/nowhere", "/sql?q=selec"])
@pytest.mark.attack
def test_every_answer_forbids_scripts_frames_and_sniffing(toy_page, path):
    headers = toy_page.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"] and "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers and headers["cache-control"] == "no-store"


def test_a_page_that_breaks_is_answered_under_the_same_headers(toy, monkeypatch):
    """Starlette answers for a bug outside of all middleware; its page came without them."""
    monkeypatch.setattr("hbench.view.reading.Reading.catch_up", lambda self, wait_s=0.0: 1 / 0)
    answers = []

    async def asked(app):
        scope = {"type": "http", "method": "GET", "path": "/runs", "query_string": b"", "headers": [(b"host", b"127.0.0.1:1")]}

        async def receive():
            return {"type": "http.request"}

        async def send(message):
            answers.append(message)

        with contextlib.suppress(ZeroDivisionError):
            await app(scope, receive, send)

    asyncio.run(asked(application(Reading(toy), 1)))
    assert answers[0]["status"] == 500 and dict(answers[0]["headers"])[b"content-security-policy"].startswith(b"default-src 'none'")


@pytest.mark.attack
def test_it_listens_on_the_loopback_address_alone(toy_page):
    others = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1", "127.0.1.1"}
    for address in others:
        with pytest.raises(OSError):
            socket.create_connection((address, toy_page.port), 2)


@pytest.mark.attack
def test_no_file_but_those_of_the_page_is_served(toy_page):
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/exhibits/qa_rounds/../../../etc/passwd", "/static/"):
        assert toy_page.get(path).status == 404
