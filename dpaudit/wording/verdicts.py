"""The words of verdicts: one table, with the exit code of each and its meaning, for every place that prints one."""

from dataclasses import dataclass
from typing import Literal

from dpaudit.runtime.tables import table_of

Tone = Literal["good", "open", "bad", "plain"]
"""How a word is meant: nothing is wrong, something is open, something is wrong; or neither of them."""

CAVEATS = " WITH CAVEATS"
"""What follows CERTIFIED where a condition has no evidence, or where the owner or the audits left something out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWord:
    """What a word means, its tone, and the exit code of a command that ends with it."""

    tone: Tone
    exit_code: int
    meaning: str


VERDICTS: dict[str, VerdictWord] = {
    word: VerdictWord(**row) for word, row in table_of("dpaudit.wording", "verdicts.toml").items()
}
"""Every word, without the caveats of CERTIFIED."""

_WORDS = {"noise": "CONSISTENT", "more_noise": "CONSISTENT", "other noise": "VIOLATION", "unusable": "FINDING"}
"""The words of results that have a name of their own in data."""


def verdict_label(verdict: str) -> str:
    """Return the word of a verdict by its name in data.

    Raises: KeyError: no verdict.

    >>> verdict_label("not_refuted"), verdict_label("more_noise")
    ('NOT REFUTED', 'CONSISTENT')
    """
    word = _WORDS.get(verdict, verdict.upper().replace("_", " "))
    if word not in VERDICTS:
        raise KeyError(verdict)
    return word


def tone_of(word: str) -> Tone:
    """Return the tone of a word; caveats leave a claim open to whoever must confirm them.

    >>> tone_of("CERTIFIED"), tone_of("CERTIFIED WITH CAVEATS")
    ('good', 'open')
    """
    return "open" if word.endswith(CAVEATS) else VERDICTS[word].tone
