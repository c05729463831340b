"""A document as one HTML page without requests and scripts; every text is escaped."""

from importlib.resources import files

from dpaudit.documents import document as blocks
from dpaudit.wording.escaping import xml
from dpaudit.wording.numerals import unbroken


def style_sheet(*names: str) -> str:
    """Return style sheets of this folder, one after the other."""
    return "".join((files("dpaudit.documents") / name).read_text(encoding="utf-8") for name in names)


def page(document: blocks.Document) -> str:
    """Return the whole page, its title first; bars are left out."""
    body = "\n".join(shown for block in document.blocks if (shown := _written(block)))
    title = xml(document.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "img-src 'self' data:\">"
        f"<title>{title}</title><style>{style_sheet('colours.css', 'figure.css', 'page.css')}</style></head><body>\n"
        f"<h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _written(block: blocks.Block) -> str:
    """Return one block; an empty text for one that a page does not show."""
    match block:
        case blocks.Verdict():
            about = f" <span>{xml(block.subject)}</span>" if block.subject else ""
            return f'<p class="state {block.tone}">{xml(block.word)}{about}</p>\n<p>{xml(block.sentence)}</p>'
        case blocks.Heading():
            return f"<h2>{xml(block.text)}</h2>"
        case blocks.Paragraph():
            return f"<p{' class=quiet' if block.quiet else ''}>{xml(block.text)}</p>"
        case blocks.Items():
            sign = f"{block.sign} " if block.sign else ""
            lines = "".join(f"<li>{xml(sign + item.text)}{_list(item.below)}</li>" for item in block.lines)
            return f'<ul class="{block.tone}">{lines}</ul>'
        case blocks.Table():
            return _table(block)
        case blocks.Code():
            return f"<pre>{xml(block.text)}</pre>"
        case blocks.Picture():
            drawn = block.svg or f'<img src="{xml(block.file)}" alt="{xml(block.title)}">'
            return f"<figure>{drawn}<figcaption>{xml(block.title)}</figcaption></figure>"
        case blocks.Tree():
            return _list(tuple("; ".join((held.title, *held.details, *held.quiet)) for held in block.branches))
        case blocks.Bars():
            return ""


def _list(lines: tuple[str, ...]) -> str:
    """Return lines as a list; nothing without any."""
    return f"<ul>{''.join(f'<li>{xml(line)}</li>' for line in lines)}</ul>" if lines else ""


def _table(block: blocks.Table) -> str:
    """Return a table that may be scrolled where the page is narrow."""
    width = len(block.rows[0])
    classes = [f" class={look}" if look else "" for look in (*block.looks, *[""] * width)][:width]
    names = (f"<th scope=col{look}>{xml(name)}</th>" for name, look in zip(block.head, classes, strict=False))
    head = f"<thead><tr>{''.join(names)}</tr></thead>" if any(block.head) else ""
    labels = [f' data-label="{xml(name)}"' if name else "" for name in (*block.head, *[""] * width)][:width]
    opened = [f"<td{look}{label}>" for look, label in zip(classes, labels, strict=True)]
    rows = ("".join(f"{tag}{_cell(text)}</td>" for text, tag in zip(row, opened, strict=True)) for row in block.rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def _cell(cell: blocks.Cell) -> str:
    """Return the content of a cell."""
    return f"<b class={cell.tone}>{xml(cell.text)}</b>" if isinstance(cell, blocks.Mark) else xml(unbroken(cell))
