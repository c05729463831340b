"""Escaping of foreign text for pages, XML and Markdown."""

import re
import unicodedata

_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|file|data|javascript|mailto|xmpp):")
_HOST = re.compile(r"(?i)\b(www)\.")
_KEPT = "\n\t"
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
LONGEST_LINE = 4_000
"""How many characters a message on one line may have."""


def clean(text: str) -> str:
    r"""Return `text` with each invisible control, direction override and lone surrogate shown as U+FFFD.

    Line ends of other systems become plain ones.
    Such characters are invalid in XML, or can make one word look like another.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return "".join("\ufffd" if _hidden(letter) else letter for letter in text.replace("\r\n", "\n"))


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    r"""Return `text` cleaned, on one line of at most `longest` characters; a longer one is cut and says so.

    >>> one_line("a\n  b")
    'a b'
    """
    line = " ".join(clean(text[: 4 * longest]).split())
    if len(line) <= longest and len(text) <= 4 * longest:
        return line
    return f"{line[: longest - 40].rstrip()} ... ({len(text)} characters in all)"


def _hidden(letter: str) -> bool:
    """Return whether a character is a control, a format character, a surrogate or no character at all."""
    return letter not in _KEPT and (
        unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") or ord(letter) & 0xFFFE == 0xFFFE
    )


def xml(text: str) -> str:
    """Return `text` for the content of an XML element or of a quoted attribute."""
    return clean(text).translate(_XML)


def markdown(text: str) -> str:
    r"""Return `text` as plain words on one line of Markdown: no markup, no HTML, no link, no table cell's end.

    An address is shown and leads nowhere, also where a reader makes links of bare addresses.

    >>> markdown("<b>|x_1|</b>")
    '&lt;b&gt;\\|x\\_1\\|&lt;/b&gt;'
    """
    line = " ".join(clean(text).split())
    escaped = _MARKDOWN.sub(r"\\\1", line.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")
    unlinked = _HOST.sub(r"\1&#46;", _ADDRESS.sub(r"\1&#58;", escaped)).replace("](", "]\\(")
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", re.sub(r"^([-+=])", r"\\\1", unlinked))


def fenced(text: str, language: str = "") -> str:
    """Return `text` as a Markdown code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{clean(text).rstrip()}\n{fence}"
