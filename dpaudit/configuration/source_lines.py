"""The line of each key of a TOML or JSON file, so that a message can name it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""The keys and list places from the root of a file to one of its values."""

_TOKEN = re.compile(
    r'''(?P<text>"""[\s\S]*?"""+|\'\'\'[\s\S]*?\'\'\'+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')'''
    r"|(?P<comment>\#[^\n]*)|(?P<newline>\n)|(?P<mark>[\[\]{},=:])|(?P<bare>[^\s\[\]{},=:\"'#]+)"
)


def key_lines(text: str) -> dict[Path, int]:
    r"""Return the line, from 1, on which each key, table and list item of `text` starts.

    `text` must be valid TOML or JSON.

    >>> key_lines('[claim]\nepsilon = 1')
    {('claim',): 1, ('claim', 'epsilon'): 2}
    """
    reader = _Reader()
    for lexeme, kind, line in _tokens(text):
        reader.read(lexeme, kind, line)
    return reader.lines


def with_values(text: str, values: Mapping[Path, str]) -> str:
    r"""Return `text` with other single values at some keys; comments, order and spaces stay as they are.

    `text` must be valid TOML or JSON, and so must each value.
    Raises: KeyError: the first path at which no single value stands.

    >>> with_values('[noise]\nscale = 10.0 # for a sum', {("noise", "scale"): "8.5"})
    '[noise]\nscale = 8.5 # for a sum'
    """
    reader = _Reader()
    for match in _TOKEN.finditer(text):
        reader.span = match.span()
        if match.lastgroup != "comment":
            reader.read(match.group(), str(match.lastgroup), 1)
    spans = sorted(((reader.spans[path], value) for path, value in values.items()), reverse=True)
    for (start, end), value in spans:
        text = text[:start] + value + text[end:]
    return text


def longest_key(text: str) -> int:
    """Return how many parts the longest dotted key of `text`, or of a table's header, has; `text` may be invalid.

    >>> longest_key("a.b = 0.5")
    2
    """
    most = dots = 0
    for lexeme, kind, _ in _tokens(text):
        if kind in ("mark", "newline"):
            dots = 0
        elif kind == "bare":
            dots += lexeme.count(".")
            most = max(most, dots)
    return most + 1


def nearest_line(lines: dict[Path, int], path: Path) -> int:
    """Return the line of the longest known beginning of `path`, or 1."""
    lines_found = (lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines)
    return next(lines_found, 1)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield (lexeme, kind, line) without comments."""
    line = 1
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind != "comment":
            yield match.group(), kind, line
        line += match.group().count("\n")


@dataclass(slots=True)
class _Frame:
    """One open table or list, and how far its reading has come."""

    path: Path
    index: int | None = None
    awaits: str = "key"


class _Reader:
    """Follows tables, lists and headers through the tokens of a valid file."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}
        self.span: tuple[int, int] = (0, 0)
        self.spans: dict[Path, tuple[int, int]] = {}
        self._frames = [_Frame(())]
        self._key: Path = ()
        self._key_line = 0
        self._header: str = ""
        self._tables: dict[Path, int] = {}

    def read(self, lexeme: str, kind: str, line: int) -> None:
        """Take in one lexeme."""
        frame = self._frames[-1]
        if self._header:
            self._read_header(lexeme, kind, line)
        elif kind == "newline":
            if len(self._frames) == 1:
                frame.awaits = "key"
        elif frame.index is not None:
            self._read_item(frame, lexeme, line)
        elif frame.awaits == "key":
            self._read_key(frame, lexeme, kind, line)
        elif frame.awaits == "value":
            self._read_value(lexeme, frame.path + self._key)
        elif lexeme == ",":
            frame.awaits = "key"
        elif lexeme == "}":
            self._close()

    def _read_header(self, lexeme: str, kind: str, line: int) -> None:
        """Take in a lexeme of `[table]` or `[[table]]`, which ends with its line."""
        if kind in ("text", "bare"):
            self._key += _words(lexeme, kind)
        elif lexeme == "[":
            self._header = "[["
        elif kind == "newline" or lexeme == "]":
            path = self._resolved(self._key[:-1]) + self._key[-1:]
            if self._header == "[[":
                self._tables[path] = self._tables.get(path, -1) + 1
                path = (*path, self._tables[path])
            if lexeme == "]" and path:
                self.lines.setdefault(path, line)
                self._frames[0] = _Frame(path, awaits="end")
            self._header, self._key = "", ()

    def _resolved(self, path: Path) -> Path:
        """Return `path` with the current place in every list of tables on its way."""
        resolved: Path = ()
        for word in path:
            resolved += (word,)
            if resolved in self._tables:
                resolved += (self._tables[resolved],)
        return resolved

    def _read_key(self, frame: _Frame, lexeme: str, kind: str, line: int) -> None:
        """Take in a lexeme where a key, a header or the end of a table may stand."""
        if kind in ("text", "bare"):
            self._key_line = self._key_line if self._key else line
            self._key += _words(lexeme, kind)
        elif lexeme in ("=", ":"):
            for length in range(1, len(self._key) + 1):
                self.lines.setdefault(frame.path + self._key[:length], self._key_line)
            frame.awaits = "value"
        elif lexeme == "}":
            self._close()
        elif lexeme == "[":
            self._header = "["
        elif lexeme == "{":
            self._frames.append(_Frame(()))

    def _read_value(self, lexeme: str, path: Path) -> None:
        """Take in the first lexeme of a value."""
        self._frames[-1].awaits = "end"
        self._key = ()
        if lexeme == "{":
            self._frames.append(_Frame(path))
        elif lexeme == "[":
            self._frames.append(_Frame(path, index=0))
        else:
            self.spans.setdefault(path, self.span)

    def _read_item(self, frame: _Frame, lexeme: str, line: int) -> None:
        """Take in a lexeme inside a list."""
        path = (*frame.path, frame.index or 0)
        if lexeme == ",":
            frame.index = (frame.index or 0) + 1
        elif lexeme == "]":
            self._close()
        else:
            self.lines.setdefault(path, line)
            if lexeme == "{":
                self._frames.append(_Frame(path))
            elif lexeme == "[":
                self._frames.append(_Frame(path, index=0))

    def _close(self) -> None:
        """Leave the innermost table or list."""
        if len(self._frames) > 1:
            self._frames.pop()


def _words(lexeme: str, kind: str) -> Path:
    """Return the words of a key lexeme: a quoted one is one word, a bare one may be dotted."""
    if kind == "bare":
        return tuple(word for word in lexeme.split(".") if word)
    if lexeme.startswith('"'):
        try:
            return (str(json.loads(lexeme)),)
        except ValueError:
            return (lexeme.strip('"'),)
    return (lexeme.strip("'"),)
