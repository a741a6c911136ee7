"""Who says something: one name for the program, one for the model."""

from __future__ import annotations

from py_agent.model.base import Record


class Identity(Record):
    """A speaker.

    Attributes:
        identifier: What the program compares: stable, ``snake_case``.
        representation: What a prompt calls the speaker.
    """

    identifier: str
    representation: str


#: The reader of the page.
READER = Identity(identifier="reader", representation="the reader")
#: The model.
ASSISTANT = Identity(identifier="assistant", representation="I")
#: The owner of the site: who wrote the agent's settings.
OWNER = Identity(identifier="owner", representation="the site's owner")
