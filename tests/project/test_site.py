"""The site that `make docs` builds: links and pictures are there, and nothing is loaded from elsewhere."""

from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
PAGES = sorted(page for page in SITE.rglob("*.html") if "_static" not in page.parts)

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
            elif url.fragment and there in pages and unquote(url.fragment) not in pages[there].anchors:
                missing[str(page.relative_to(SITE))].add(target)
    assert not missing
