"""Docstrings as the site shows them: labelled paragraphs set apart, examples as code."""

import re
from typing import Any

import griffe

_LABEL = re.compile(
    r"^(Parameters|Shape|Unit|Guarantee|Edge cases|Raises|Source|Memory|Proof|Side-condition): *", re.MULTILINE
)
_EXAMPLE = re.compile(r"^(?:>>>.*\n?(?:(?!>>>).+\n?)*)+", re.MULTILINE)


class Labelled(griffe.Extension):
    """Rewrites each docstring once it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of `obj`, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = labelled(obj.docstring.value)


def labelled(text: str) -> str:
    """Return a docstring with its labels in bold, each opening a paragraph, and its examples fenced."""
    fenced = _EXAMPLE.sub(lambda found: f"```pycon\n{found.group().rstrip()}\n```\n", text)
    spaced = _LABEL.sub(lambda found: f"\n**{found.group(1)}.** ", fenced)
    return re.sub(r"(?<=\S)\n {4}(?=\S)", "\n", spaced)
