"""A page as a reader sees it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags, attributes and visible text of a page, without scripts and styles; `own` and `apart`: outside and inside quotations."""

    def __init__(self, html):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = self.own = self.apart = ""
        self._silent = False
        self._quotes = 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")
        self._quotes += tag == "blockquote"

    def handle_endtag(self, tag):
        self._silent = False
        self._quotes -= tag == "blockquote"

    def handle_data(self, data):
        if self._silent:
            return
        self.text += data
        if self._quotes:
            self.apart += data
        else:
            self.own += data + " "
