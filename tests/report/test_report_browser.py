"""In a real browser: the page asks nobody for anything and logs no error."""

import re
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dpaudit.report import Report, render

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
OWN_TALK = ("google", "gvt1", "gstatic", "chromium")
"""Hosts that the browser itself may ask, whatever the page is."""


@contextmanager
def proxy() -> Iterator[tuple[int, list[Any]]]:
    """Yield the port of a proxy that refuses everything, and the list of what it was asked for."""
    asked = []

    class Refuser(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            line = self.rfile.readline().decode("latin-1").split()
            if len(line) > 1 and not any(name in line[1] for name in OWN_TALK):
                asked.append(line[1])
            self.wfile.write(b"HTTP/1.1 502 Refused\r\nContent-Length: 0\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refuser) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], asked
        server.shutdown()


def opened(page: str, tmp_path: Path) -> tuple[list[Any], list[str]]:
    """Return what a page asked the network for, and what the browser's console said."""
    if not BROWSER:
        pytest.skip("no Chromium is installed")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with proxy() as (port, asked):
        command = [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--proxy-server=http://127.0.0.1:{port}",
            "--proxy-bypass-list=<-loopback>",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert "</html>" in ended.stdout
    return asked, [line for line in ended.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("story", ["paper", "hostile"])
def test_a_page_asks_nobody_and_logs_nothing(stories: dict[str, Report], story: str, tmp_path: Path) -> None:
    """No request leaves, and the console stays empty, whatever the names."""
    assert opened(render(stories[story])["report.html"], tmp_path) == ([], [])


def test_a_page_that_asks_somebody_is_caught(stories: dict[str, Report], tmp_path: Path) -> None:
    """The twin: with a weaker policy a picture from elsewhere is asked for, and a script is complained about."""
    page = render(stories["checked"])["report.html"]
    weak = page.replace("default-src 'none'", "default-src *").replace("img-src 'self' data:", "img-src *")
    planted = '<img alt="" src="http://example.org/probe.png"><script>1</script></body>'
    asked, said = opened(weak.replace("</body>", planted), tmp_path)
    assert any("example.org" in place for place in asked)
    assert said


def test_the_reference_story_is_printed_by_a_browser_on_eight_pages(
    story_pages: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    """Folded details are printed too; the twin with larger letters needs more pages."""
    page = story_pages["paper"]["report.html"]
    ruled, larger = printed(page, tmp_path), printed(page.replace("font-size: 10.2px", "font-size: 15px"), tmp_path)
    assert 4 <= ruled <= 8 < larger


def printed(page: str, tmp_path: Path) -> int:
    """Return on how many pages a browser prints a page."""
    if not BROWSER:
        pytest.skip("no Chromium is installed")
    source, target = tmp_path / "page.html", tmp_path / "page.pdf"
    source.write_text(page, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}")
    command = [BROWSER, *options, f"--print-to-pdf={target}", source.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))
