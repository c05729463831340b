"""What the site adds to the pages: the gallery, run while it is built, and references written from the code itself."""

import ast
import io
import re
import runpy
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "examples" / "gallery"
NOTEBOOKS = ROOT / "examples" / "notebooks"
NOTEBOOK_ORDER = ("first_certificate", "first_audit", "weekly_count", "dp_sgd", "digits", "reproduce_a_paper")
STUDIES = ROOT / "docs" / "measured" / "studies"
MARKER = re.compile(r"^<!-- figures of studies: (.*) -->$", re.MULTILINE)
OVERVIEW = (
    ("CAPRI", "capri_grid"),
    ("The noisy table of cells", "capri_rand_hie"),
    ("DP-EBS", "dp_ebs"),
    ("G-optimal", "g_optimal"),
    ("LPLR", "lplr"),
    ("UCRL-VTR", "ucrl_vtr"),
    ("LSVI-UCB", "lsvi_ucb"),
    ("PUCB and LDP-OBI", "tabular"),
)
"""The study whose front stands for each algorithm on the overview."""

ROOMS = {
    "dpaudit": (
        *("dpaudit.model.losses", "dpaudit.model.audit_result", "dpaudit.model.claim", "dpaudit.model.bracket"),
        *("dpaudit.training", "dpaudit.budgets", "dpaudit.report", "dpaudit.errors"),
    ),
    "audits": ("audits.bounds", "audits.scores"),
}
"""Below a package's root, the modules whose names its reference lists as well."""

sys.path.insert(0, str(ROOT))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site, with those that are written from the code."""
    scripts = sorted(GALLERY.glob("*.py"))
    pages: dict[str, str | bytes] = {"reference/commands.md": commands_page(), "reference/rules.md": rules_page()}
    for package in ("dpaudit", "mechanisms", "algorithms", "audits"):
        pages[f"reference/{package}.md"] = package_page(package)
    pages["gallery/index.md"] = gallery_index(scripts)
    for script in scripts:
        pages[f"gallery/{script.stem}.md"] = gallery_page(script)
        pages[f"gallery/{script.stem}.svg"] = drawn(script)
    pages |= study_pages() | notebook_pages()
    for place, content in pages.items():
        files.append(File.generated(config, place, content=content))
    return files


def study_pages() -> dict[str, str | bytes]:
    """Return the page of fronts and its figures, drawn from the tables of the shipped studies."""
    from dpaudit.study.figures import figures_of

    parts = ["# The fronts\n\nEvery figure is drawn from the tables beside it, each time this site is built.\n"]
    pages: dict[str, str | bytes] = {}
    for folder in sorted(path for path in STUDIES.iterdir() if path.is_dir()):
        tables = [(folder / f"{name}.csv").read_text(encoding="utf-8") for name in ("rows", "exponents")]
        parts.append(f"## {folder.name}\n\n`dpaudit study examples/studies/{folder.name}.toml`\n")
        for name, content in figures_of(*tables).items():
            if name.endswith(".svg") and (name != "exponents.svg" or folder.name == "capri_exponents"):
                pages[f"measured/studies/{folder.name}/{name}"] = content
                parts.append(f"![{folder.name}: {name}](studies/{folder.name}/{name})\n")
    return pages | {"measured/fronts.md": "\n".join(parts), "measured/overview.md": overview_page()}


def overview_page() -> str:
    """Return the page with one front for each algorithm, each on one problem."""
    parts = [
        "# All algorithms, one front each\n\nRegret a round against the epsilon of the certificate, on one problem for "
        "each algorithm. Problems differ, so levels of different figures do not compare. Filled marks: joint or "
        "central; hollow marks: local; a crossed point does not show learning.\n"
    ]
    for names, study in OVERVIEW:
        parts.append(f"## {names}\n\n![{names}: front](studies/{study}/front.svg)\n\n`examples/studies/{study}.toml`\n")
    return "\n".join(parts)


def with_figures(markdown: str) -> str:
    """Return a page in which each line `<!-- figures of studies: A, B -->` has become the fronts of these studies."""

    def drawn_of(match: re.Match[str]) -> str:
        """Return the images of one line."""
        names = [name.strip() for name in match[1].split(",")]
        images = (f"![{name}: front](../measured/studies/{name}/front.svg)\n" for name in names)
        return "\n".join(images)

    return MARKER.sub(drawn_of, markdown)


def notebook_pages() -> dict[str, str | bytes]:
    """Return a page for each notebook, with the outputs that its test compares, and the page that lists them."""
    page = runpy.run_path(str(ROOT / "docs" / "site" / "notebooks.py"))["page"]
    scripts = [NOTEBOOKS / f"{name}.py" for name in NOTEBOOK_ORDER]
    told = {script.stem: page(script.read_text(encoding="utf-8")) for script in scripts}
    lines = [f"- [{text.splitlines()[0].removeprefix('# ')}]({name}.md)" for name, text in told.items()]
    first = (
        "# Notebooks\n\nEach page is a script of `examples/notebooks`, which VS Code, PyCharm, Spyder and Jupytext "
        "open as a notebook. Every output is compared by a test.\n\n"
    )
    return {f"notebooks/{name}.md": text for name, text in told.items()} | {
        "notebooks/index.md": first + "\n".join(lines) + "\n"
    }


def gallery_index(scripts: list[Path]) -> str:
    """Return the page that shows every figure."""
    cards = (
        f"-   [![{title(script)}]({script.stem}.svg)]({script.stem}.md)\n\n"
        f"    **[{title(script)}]({script.stem}.md)**\n"
        for script in scripts
    )
    body = "\n".join(cards)
    return (
        "# Gallery\n\nEvery figure is drawn by the code beside it, each time this site is built.\n\n"
        f'<div class="grid cards" markdown>\n\n{body}\n</div>\n'
    )


def gallery_page(script: Path) -> str:
    """Return one example: what it shows, the figure, the code."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    _, _, story = text.partition("\n")
    _, _, code = script.read_text(encoding="utf-8").partition('"""\n\n')
    return (
        f"# {title(script)}\n\n{story.strip()}\n\n![{title(script)}]({script.stem}.svg)\n\n"
        f'```python title="examples/gallery/{script.name}"\n{code.strip()}\n```\n'
    )


def title(script: Path) -> str:
    """Return the first line of the script's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    return text.splitlines()[0].rstrip(".")


def drawn(script: Path) -> bytes:
    """Return the figure that `script` draws, as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    with plt.style.context(GALLERY / "gallery.mplstyle"):
        figure = runpy.run_path(str(script))["main"]()
        held = io.BytesIO()
        figure.savefig(held, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    return held.getvalue()


def commands_page() -> str:
    """Return the help of every command, as the terminal shows it."""
    from dpaudit.cli.app import COMMANDS

    parts = ["# Commands\n\nThe same text as `dpaudit COMMAND --help`.\n"]
    loaded = {entry.name: entry.load() for entry in COMMANDS}
    for name, command in sorted(_commands(loaded)):
        with command.make_context(f"dpaudit {name}", [], resilient_parsing=True) as context:
            parts.append(f"## dpaudit {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _commands(commands: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return (full name, command) of every command, those of groups included."""
    named: list[tuple[str, Any]] = []
    for name, command in commands.items():
        full = f"{prefix}{name}"
        named.extend(_commands(command.commands, f"{full} ") if hasattr(command, "commands") else [(full, command)])
    return named


def rules_page() -> str:
    """Return every theorem of the rule book, as `dpaudit explain RULE` tells it."""
    from dpaudit.documents.markdown import markdown
    from dpaudit.render.rule import rule_document
    from dpaudit.rules import RULES

    texts = "\n".join(markdown(rule_document(name)).replace("### ", "## ", 1) for name in sorted(RULES))
    return f"# Rules\n\nThe theorems that papers cite, as `dpaudit explain RULE` tells them offline.\n\n{texts}\n"


def package_page(package: str) -> str:
    """Return the reference of one package and of its rooms: every public name with its docstring."""
    from importlib import import_module

    module = import_module(package)
    if package in ("mechanisms", "algorithms"):
        names = [f"{entry.__module__}.{entry.__name__}" for entry in map(module.load, sorted(module.NAMES))]
    else:
        names = offered(package)
    parts = [f"# {package}", module.__doc__ or "", *(f"::: {name}" for name in names)]
    for room in ROOMS.get(package, ()):
        parts += [f"## {room}", import_module(room).__doc__ or "", *(f"::: {name}" for name in offered(room))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def offered(room: str) -> list[str]:
    """Return the public names of a package or module in the order of the alphabet, each with where it is defined."""
    from importlib import import_module

    from dpaudit.runtime.exports import exported

    homes: dict[str, str] = dict(exported(room))
    if not homes:
        things = vars(import_module(room)).items()
        homes = {name: str(getattr(thing, "__module__", "")) for name, thing in things if not name.startswith("_")}
    return [f"{home}.{name}" for name, home in sorted(homes.items(), key=lambda item: item[0].lower()) if room in home]


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Return the page's text; the pages on papers get the figures of their studies."""
    return with_figures(markdown)
