"""Escaping of foreign text for pages, XML and Markdown."""

import re
import unicodedata
from xml.sax.saxutils import escape

_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")
_KEPT = "\n\t"


def clean(text: str) -> str:
    r"""Return `text` with each invisible control, direction override and lone surrogate shown as U+FFFD.

    Line ends of other systems become plain ones.
    Such characters are invalid in XML, or can make one word look like another.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return "".join("\ufffd" if _hidden(letter) else letter for letter in text.replace("\r\n", "\n"))


def _hidden(letter: str) -> bool:
    """Return whether a character is a control, a format character, a surrogate or no character at all."""
    return letter not in _KEPT and (
        unicodedata.category(letter) in ("Cc", "Cf", "Cs") or ord(letter) & 0xFFFE == 0xFFFE
    )


def xml(text: str) -> str:
    """Return `text` for the content of an XML element or of a quoted attribute."""
    return escape(clean(text), {'"': "&quot;", "'": "&#39;"})


def markdown(text: str) -> str:
    r"""Return `text` as plain words on one line of Markdown: nothing in it is markup, HTML or a table cell's end.

    >>> markdown("<b>|x_1|</b>")
    '&lt;b&gt;\\|x\\_1\\|&lt;/b&gt;'
    """
    line = " ".join(clean(text).split())
    escaped = _MARKDOWN.sub(r"\\\1", line.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", re.sub(r"^([-+=])", r"\\\1", escaped))


def fenced(text: str, language: str = "") -> str:
    """Return `text` as a Markdown code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{clean(text).rstrip()}\n{fence}"
