"""A document as one HTML page without requests and without a script; every text is escaped."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files

from dpaudit.documents import document as blocks
from dpaudit.wording.escaping import xml
from dpaudit.wording.numerals import unbroken


def style_sheet(*names: str) -> str:
    """Return style sheets of this folder, one after the other."""
    return "".join((files("dpaudit.documents") / name).read_text(encoding="utf-8") for name in names)


def page(document: blocks.Document) -> str:
    """Return the whole page, its title first; bars are left out. A page of sections has contents."""
    sections = [block for block in document.blocks if isinstance(block, blocks.Heading) and block.ident]
    title, note = _words(document.title), f"<footer><p>{_words(document.note)}</p></footer>\n" if document.note else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';"
        " img-src 'self' data:\">"
        f'<link rel="icon" href="data:,"><title>{title}</title>'
        f"<style>{style_sheet('colours.css', 'figure.css', 'page.css')}</style></head>\n<body>\n"
        f"<header><h1>{title}</h1></header>\n<main>\n{chr(10).join(_body(document, sections))}\n</main>\n{note}"
        "</body></html>\n"
    )


def _body(document: blocks.Document, sections: list[blocks.Heading]) -> Iterator[str]:
    """Yield the blocks, the contents before the first section, and the tags of sections."""
    opened = False
    for block in document.blocks:
        if isinstance(block, blocks.Heading) and block.ident:
            yield "</section>" if opened else _contents(sections)
            yield f'<section id="{xml(block.ident)}" aria-labelledby="{xml(block.ident)}-title">'
            opened = True
        if shown := _written(block):
            yield shown
    if opened:
        yield "</section>"


def _contents(sections: list[blocks.Heading]) -> str:
    """Return links to the sections."""
    links = (f'<li><a href="#{xml(section.ident)}">{_numbered(section)}</a></li>' for section in sections)
    return f'<nav aria-label="Contents"><ol>{"".join(links)}</ol></nav>'


def _numbered(heading: blocks.Heading) -> str:
    """Return the text of a heading below its number."""
    number = f'<span class="no">{xml(heading.number)}</span> ' if heading.number else ""
    return f"{number}{_words(heading.text)}"


def _words(text: str) -> str:
    """Return escaped text, with powers of ten on one line."""
    return xml(unbroken(text))


def _written(block: blocks.Block) -> str:
    """Return one block; an empty text for one that a page does not show."""
    match block:
        case blocks.Verdict():
            about = f" <span>{_words(block.subject)}</span>" if block.subject else ""
            word = f'<p class="word">{_words(block.word)}{about}</p>'
            return f'<div class="verdict {block.tone}">{word}<p>{_words(block.sentence)}</p></div>'
        case blocks.Heading():
            name = f' id="{xml(block.ident)}-title"' if block.ident else ""
            return f"<h2{name}>{_numbered(block)}</h2>"
        case blocks.Paragraph():
            return f"<p{' class=quiet' if block.quiet else ''}>{_words(block.text)}</p>"
        case blocks.Items():
            return _items(block)
        case blocks.Table():
            return _table(block)
        case blocks.Lines():
            return _list(tuple(line.text for line in block.lines))
        case blocks.Code():
            return f"<pre>{xml(block.text)}</pre>"
        case blocks.Tree():
            return _list(tuple("; ".join((branch.title, *branch.details, *branch.quiet)) for branch in block.branches))
        case _:
            return _drawn(block)


def _drawn(block: blocks.Block) -> str:
    """Return a block of drawings or of details; an empty text for bars."""
    match block:
        case blocks.Picture():
            return _figure(block)
        case blocks.Pictures():
            return f'<div class="squares">{"".join(map(_figure, block.pictures))}</div>'
        case blocks.Folded():
            inside = "\n".join(_written(_named(shown, block.title)) for shown in block.blocks)
            return f'<details class="annex"><summary>{_words(block.title)}</summary>\n{inside}</details>'
        case _:
            return ""


def _named(block: blocks.Shown, title: str) -> blocks.Shown:
    """Return a block; a table without a caption has that of what folds it, for who does not see the page."""
    return replace(block, caption=title) if isinstance(block, blocks.Table) and not block.caption else block


def _items(block: blocks.Items) -> str:
    """Return a list; lines with tags have them in a column."""
    sign = f"{block.sign} " if block.sign else ""
    lines = "".join(f"<li>{_tagged(item, sign)}</li>" for item in block.lines)
    return f'<ul class="{"tagged" if any(item.tag for item in block.lines) else block.tone}">{lines}</ul>'


def _tagged(item: blocks.Item, sign: str) -> str:
    """Return a line of a list."""
    said = f"{_words(sign + item.text)}{_list(item.below)}"
    return f'<span class="tag {item.form}">{_words(item.tag)}</span><div>{said}</div>' if item.tag else said


def _list(lines: tuple[str, ...]) -> str:
    """Return lines as a list; nothing without any."""
    return f"<ul>{''.join(f'<li>{_words(line)}</li>' for line in lines)}</ul>" if lines else ""


def _figure(picture: blocks.Picture) -> str:
    """Return a drawing with its caption."""
    drawn = picture.svg or f'<img src="{xml(picture.file)}" alt="{_words(picture.title)}">'
    return f"<figure>{drawn}<figcaption>{_words(picture.caption or picture.title)}</figcaption></figure>"


def _table(block: blocks.Table) -> str:
    """Return a table that may be scrolled where the page is narrow; one without a head does not show its caption."""
    width = len(block.rows[0])
    classes = [f" class={look}" if look else "" for look in (*block.looks, *[""] * width)][:width]
    names = (f'<th scope="col"{look}>{_words(name)}</th>' for name, look in zip(block.head, classes, strict=False))
    head = f"<thead><tr>{''.join(names)}</tr></thead>" if any(block.head) else ""
    labels = [f' data-label="{xml(name)}"' if name else "" for name in (*block.head, *[""] * width)][:width]
    opened = [f"<td{look}{label}>" for look, label in zip(classes, labels, strict=True)]
    rows = (
        f'<th scope="row"{classes[0]}>{_cell(row[0])}</th>'
        + "".join(f"{tag}{_cell(text)}</td>" for text, tag in zip(row[1:], opened[1:], strict=True))
        for row in block.rows
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    named = f' role="region" tabindex="0" aria-label="{_words(block.caption)}"' if block.caption else ""
    caption = f"<caption>{_words(block.caption)}</caption>" if block.caption else ""
    kind = "" if any(block.head) else " class=facts"
    return f'<div class="scroll"{named}><table{kind}>{caption}{head}<tbody>{body}</tbody></table></div>'


def _cell(cell: blocks.Cell) -> str:
    """Return the content of a cell."""
    if isinstance(cell, blocks.Mark):
        hint = f' title="{xml(cell.hint)}"' if cell.hint else ""
        return f'<span class="mark {cell.tone}"{hint}>{_words(cell.text)}</span>'
    return _words(cell)
