"""Names of accounts and labels of releases: what may be one, and which two look alike."""

import unicodedata

from dpaudit.errors import LedgerError
from dpaudit.wording.escaping import clean

_LONGEST = 200
_LOOK_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u04cf\u051b\u051d"
    "\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f201|!",
    "abekmhopctyxijsdhlqwabeikvoptuxcolli",
)
"""Letters of other alphabets, and four digits and marks, that are drawn like a Latin letter."""


def require_name(what: str, text: str) -> None:
    """Refuse a name that is empty, longer than 200 characters, or holds what nobody sees.

    Raises: LedgerError: one of the three.
    """
    if not text.strip():
        raise LedgerError(f"Expected {what}={text!r:.40} to name something; it is empty.")
    if len(text) > _LONGEST:
        raise LedgerError(f"Expected {what} to have at most {_LONGEST} characters, not {len(text)}.")
    if clean(text) != text or any(letter in text for letter in "\n\t"):
        raise LedgerError(f"Expected {what}={text!a:.80} without control, format and direction characters.")
    if text != text.strip() or "  " in text:
        raise LedgerError(f"Expected {what}={text!r:.80} without spaces at its ends and two in a row.")


def skeleton(name: str) -> str:
    r"""Return what a name looks like: equal for names that differ in case, spaces, accents and look-alike letters.

    Guarantee: none that every pair that looks alike is found; the letters of Cyrillic and Greek that are drawn like
    Latin ones are.

    >>> skeleton("Survey 1") == skeleton("survey l") == skeleton("\u0455urvey_1")
    True
    """
    folded = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(letter for letter in folded if letter.isalnum() or letter in "|!")
    return letters.translate(_LOOK_ALIKE).replace("l", "i")
