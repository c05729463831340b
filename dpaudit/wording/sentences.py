"""The sentences of a report that hold computed numbers: a template each, filled in one place."""

from dpaudit.runtime.tables import table_of

SENTENCES: dict[str, str] = table_of("dpaudit.wording", "sentences.toml")
"""Each sentence by its name; a number is put in as text, rounded in the direction of its words."""


def say(name: str, /, **words: str) -> str:
    """Return one sentence with its numbers and names put in.

    >>> say("share", units="500", share="0.005")
    'The claim allows about 0.005 of 500 units to leak completely; it should be far below 1.'
    """
    return SENTENCES[name].format(**words)
