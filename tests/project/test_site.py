"""The site that `make docs` builds: pages load in a browser without an error, links and pictures are there, search finds."""

import functools
import http.server
import shutil
import subprocess
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = sorted(page for page in SITE.rglob("*.html") if "_static" not in page.parts)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="needs Chromium (Debian: apt-get install chromium)")
pytestmark = pytest.mark.skipif(not PAGES, reason="needs the site: make docs")


class References(HTMLParser):
    """Collect what a page refers to (href, src, srcset), and the anchors that it has."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.loaded, self.anchors = set(), set(), set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.add(value)
                if tag != "a":
                    self.loaded.add(value)
            elif name == "srcset":
                self.targets |= {each.split()[0] for each in value.split(",")}
            elif name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def test_links_and_pictures_of_the_site_are_there():
    pages = {page: References(page) for page in PAGES}
    missing = defaultdict(set)
    for page, references in pages.items():
        for target in references.targets:
            url = urlsplit(target)
            if url.scheme or target.startswith("//"):
                if target in references.loaded and url.scheme != "data":
                    missing[str(page.relative_to(SITE))].add(target)  # nothing is loaded from elsewhere
                continue
            there = (page.parent / unquote(url.path)).resolve() if url.path else page
            if not there.is_file():
                missing[str(page.relative_to(SITE))].add(target)
            elif url.fragment.startswith("/"):
                continue  # a view that a script of asv makes
            elif url.fragment and there in pages and unquote(url.fragment) not in pages[there].anchors:
                missing[str(page.relative_to(SITE))].add(target)
    assert not missing


@pytest.fixture(scope="module")
def address():
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def opened(url, profile):
    """The document of a page after its scripts, and what the browser's console shows of errors."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=8000",
               f"--user-data-dir={profile}", "--dump-dom"]
    done = subprocess.run([BROWSER, *options, url], capture_output=True, text=True, timeout=120)
    shown = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, [line for line in shown if any(word in line for word in ("Uncaught", "Failed to load", "rror", "efused"))]


@in_a_browser
def test_pages_load_without_an_error_in_a_browser(address, tmp_path):
    def errors(number):
        page = PAGES[number].relative_to(SITE).as_posix()
        document, shown = opened(f"{address}/{page}", tmp_path / str(number))
        shutil.rmtree(tmp_path / str(number), ignore_errors=True)
        return page, shown + ([] if "</html>" in document else ["no document"])

    with ThreadPoolExecutor(2) as pool:
        assert {page: shown for page, shown in pool.map(errors, range(len(PAGES))) if shown} == {}


@in_a_browser
def test_search_finds_a_class_by_its_name(address, tmp_path):
    document, _ = opened(f"{address}/search.html?q=AROWClassifier", tmp_path)
    assert "generated/onlinecls.AROWClassifier.html" in document.partition('id="search-results"')[2]
