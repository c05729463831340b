"""Texts and bytes as numbers: each number in a text, the text around the numbers, and how the numbers are written."""

import re
import struct
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import copysign

from audits.outputs.fields import KIND, MARK, NUMBER, kind_of

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?|[-+]?\b(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
_MOST_NUMBERS, _MOST_BYTES, _MOST_DIGITS, _SHORT = 256, 64, 400, 128


def text_entries(text: str, path: str) -> Iterator[tuple[str, float]]:
    """Yield (column, value) for a text; it can be told from these, up to 256 numbers and the 52 bits of a digest.

    JSON, CSV and formatted numbers are texts around numbers. What follows the 256th number is one category.
    """
    parts = _parts(text) if len(text) <= _SHORT else _parts.__wrapped__(text)
    for word, inside, value in parts:
        yield f"{word}{path}{inside}", value


@lru_cache(maxsize=1 << 12)
def _parts(text: str) -> tuple[tuple[str, str, float], ...]:
    """Return the columns of a text, (first word, rest of the name, value); those of short texts are kept."""
    parts: list[tuple[str, str, float]] = []
    frame, end = [], 0
    for index, match in enumerate(_NUMBER.finditer(text)):
        if index == _MOST_NUMBERS:
            break
        written = match.group()
        frame.append(f"{text[end : match.start()]}\0{_style(written)}")
        end = match.end()
        parts += [(word, f"#{index}{inside}", value) for word, inside, value in _number_parts(written)]
    frame.append(text[end:])
    return (*parts, (KIND, " text", kind_of("".join(frame))), (MARK, " length", float(sum(map(len, frame)))))


def bytes_entries(data: bytes, path: str) -> Iterator[tuple[str, float]]:
    """Yield (column, value) for bytes: each byte, the number that 4 or 8 bytes spell, and the UTF-8 text."""
    yield f"{MARK}{path} length", float(len(data))
    for index, byte in enumerate(data[:_MOST_BYTES]):
        yield f"{NUMBER}{path}@{index}", float(byte)
    if len(data) > _MOST_BYTES:
        yield f"{KIND}{path} bytes", kind_of(data)
    if len(data) in (4, 8):
        for order in "<>":
            for code in ("f", "i") if len(data) == 4 else ("d", "q"):
                yield f"{NUMBER}{path}@{order}{code}", float(struct.unpack(order + code, data)[0])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if text.isprintable():
        yield from text_entries(text, f"{path}@text")


def _number_parts(written: str) -> Iterator[tuple[str, str, float]]:
    """Yield a written number as a double, how many decimals are written, and what the double leaves out."""
    value = float(written)
    yield NUMBER, "", value
    if decimals := len(re.split("[eE]", written)[0].partition(".")[2]):
        yield MARK, " decimals", float(decimals)
    if value == 0 and copysign(1.0, value) < 0:
        yield MARK, " negative zero", 1.0
    if len(written) > 15 and len(written) <= _MOST_DIGITS and abs(value) < float("inf"):
        yield MARK, " rest", float(Fraction(written) - Fraction(value))
        yield MARK, " last digit", float(written[-1]) if written[-1].isdigit() else -1.0


def _style(written: str) -> str:
    """Return how a number is written: a plus, needless zeros, a point, an exponent, the zero of its script.

    The one zero before a point is not counted, so that 0.5 and 1.5 are written alike.
    """
    mantissa, _, exponent = written.lower().partition("e")
    digits, point, _ = mantissa.partition(".")
    bare = digits.lstrip("+-")
    sign = "+" if digits.startswith("+") else ""
    zeros = len(bare) - len(bare.lstrip("0") or "0")
    letters = written if bare[:1].isalpha() else ""
    scripts = {chr(ord(digit) - int(digit)) for digit in written if digit.isdecimal() and not digit.isascii()}
    return f"{sign}{zeros}{point}{'e' if exponent else ''}{letters}{''.join(sorted(scripts))}"
