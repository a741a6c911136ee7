"""A passage: the unit that is indexed, shown to the model, quoted and cited."""

from __future__ import annotations

from pydantic import Field

from py_agent.model.base import Record

#: Characters of text in one passage at most. Longer ones bury the quotable sentence, shorter ones (600) cost recall.
MAX_PASSAGE_CHARS = 1_600


class Passage(Record):
    """One heading-level piece of a documentation page.

    Attributes:
        id: Short and unique in its index (``p17``); what a model cites. Not shaped like a path: models copy paths.
        page: The page's file, relative to the site's root, with forward slashes (``guide/install.html``).
        anchor: The id of the element that the passage stands under, without ``#``; empty for the top of the page.
        url: Address relative to the site's root, as a reader's browser should open it: page, ``#anchor``, or a text
            fragment (``#:~:text=``) where there is no anchor.
        title: The page's title.
        path: The headings above and at the passage, outermost first.
        text: The passage as plain text; code keeps its lines.
        address: The page's public address, as its head or ``sitemap.xml`` gives it; empty if nothing does.
        facets: Version and language of the page, where the site has several, and what the site's rules say of it.
        previous: Id of the passage before this one on its page; empty for the page's first.
        next: Id of the passage after this one on its page; empty for the page's last.
    """

    id: str
    page: str
    anchor: str
    url: str
    title: str
    path: tuple[str, ...] = ()
    text: str
    address: str = ""
    facets: dict[str, str] = Field(default_factory=dict)
    previous: str = ""
    next: str = ""

    @property
    def link(self) -> str:
        """The public address of the passage; where the page has none, ``url``."""
        _, mark, fragment = self.url.partition("#")
        return f"{self.address.partition('#')[0]}{mark}{fragment}" if self.address else self.url
