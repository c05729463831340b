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


@dataclass(frozen=True, slots=True)
class _Token:
    """One lexeme of a file, with its line and its place in the text."""

    lexeme: str
    kind: str
    line: int
    span: tuple[int, int]


def key_lines(text: str) -> dict[Path, int]:
    r"""Return the line, from 1, on which each key, table and list item of `text` starts.

    `text` must be valid TOML or JSON.

    >>> key_lines('[claim]\nepsilon = 1')
    {('claim',): 1, ('claim', 'epsilon'): 2}
    """
    return _Reader(text).lines


def with_values(text: str, values: Mapping[Path, str]) -> str:
    r"""Return `text` with other single values at some keys; comments, order and spaces stay as they are.

    `text` must be valid TOML or JSON, and so must each value.
    Raises: KeyError: the first path at which no single value stands.

    >>> with_values('[noise]\nscale = 10.0 # for a sum', {("noise", "scale"): "8.5"})
    '[noise]\nscale = 8.5 # for a sum'
    """
    reader = _Reader(text)
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
    for token in _tokens(text):
        if token.kind in ("mark", "newline"):
            dots = 0
        elif token.kind == "bare":
            dots += token.lexeme.count(".")
            most = max(most, dots)
    return most + 1


def nearest_line(lines: dict[Path, int], path: Path) -> int:
    """Return the line of the longest known beginning of `path`, or 1."""
    lines_found = (lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines)
    return next(lines_found, 1)


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the lexemes of a file without comments."""
    line = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "comment":
            yield _Token(match.group(), str(match.lastgroup), line, match.span())
        line += match.group().count("\n")


class _Reader:
    """The lines of all keys, tables and list items of a valid file, and the spans of single values."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.spans: dict[Path, tuple[int, int]] = {}
        self._tokens = [*_tokens(text)]
        self._end = _Token("", "newline", 0, (0, 0))
        self._at = 0
        self._tables: dict[Path, int] = {}
        table: Path = ()
        while self._at < len(self._tokens):
            if self._next.lexeme == "{":  # JSON
                self._value(())
            elif self._next.lexeme == "[":
                table = self._header()
            elif self._next.kind != "newline":
                self._value(self._key(table))
            else:
                self._at += 1

    @property
    def _next(self) -> _Token:
        """The token that is to be read."""
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _take(self) -> _Token:
        """Return the token that is to be read, and go on to the one after it."""
        self._at += 1
        return self._tokens[self._at - 1]

    def _words_before(self, *ends: str) -> Path:
        """Return the words of a key, and read what ends it."""
        words: Path = ()
        while self._next.lexeme not in (*ends, ""):
            words += _words(self._take())
        self._at += 1
        while self._next.lexeme == "\n":  # JSON may go on a line further down
            self._at += 1
        return words

    def _header(self) -> Path:
        """Return the path of the table that `[table]` or `[[table]]` opens."""
        line = self._take().line
        is_list = self._next.lexeme == "["
        self._at += is_list
        *above, own = self._words_before("]")
        self._at += is_list
        path = (*self._resolved(tuple(above)), own)
        if is_list:
            self._tables[path] = self._tables.get(path, -1) + 1
            path = (*path, self._tables[path])
        self.lines.setdefault(path, line)
        return path

    def _resolved(self, path: Path) -> Path:
        """Return `path` with the current place in every list of tables on its way."""
        resolved: Path = ()
        for word in path:
            resolved += (word,)
            if resolved in self._tables:
                resolved += (self._tables[resolved],)
        return resolved

    def _key(self, table: Path) -> Path:
        """Return the path of a key in a table; each part of a dotted key has the line on which the key starts."""
        line, words = self._next.line, self._words_before("=", ":")
        for length in range(1, len(words) + 1):
            self.lines.setdefault(table + words[:length], line)
        return table + words

    def _value(self, path: Path) -> None:
        """Read a value with all that is inside it, at one depth of calls for each bracket."""
        opening, index = self._take(), 0
        if opening.lexeme not in ("[", "{"):
            self.spans.setdefault(path, opening.span)
            while self._next.lexeme not in ("]", "}", ",", "\n", ""):  # the rest of a time, as 07:32
                self._at += 1
            return
        while self._next.lexeme not in ("]", "}", ""):
            if self._next.lexeme in (",", "\n"):
                index += self._take().lexeme == ","
            elif opening.lexeme == "[":
                self.lines.setdefault((*path, index), self._next.line)
                self._value((*path, index))
            else:
                self._value(self._key(path))
        self._at += 1


def _words(token: _Token) -> Path:
    """Return the words of a lexeme of a key: a quoted one is one word, a bare one may be dotted, a line end is none."""
    lexeme = token.lexeme
    if token.kind == "bare":
        return tuple(word for word in lexeme.split(".") if word)
    if token.kind == "newline":
        return ()
    if lexeme.startswith('"'):
        try:
            return (str(json.loads(lexeme)),)
        except ValueError:
            return (lexeme.strip('"'),)
    return (lexeme.strip("'"),)
