"""`dpaudit demo`: the whole story on one algorithm and bundled data."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending

_BOLD = 0.4
"""The false claim of the fourth chapter, as a share of the true one."""


@ending
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the reports.")] = Path(
        "dpaudit-demo"
    ),
) -> Exit:
    """Tell the whole story in under a minute and write a report.

    CAPRI, a contextual bandit, chooses insurance plans for groups of patients: its claim is proved, its noise
    is measured against the claim, its code is attacked, and the attack is tried on a claim that is false.
    """
    from dataclasses import replace

    import numpy as np

    from dpaudit.cli.output import output_folder, show
    from dpaudit.configuration.config import read_config
    from dpaudit.render import story
    from dpaudit.workflow import attack, audits_of, cases_of, certificate_of, write_report

    folder = output_folder(output)
    paper, tight = (_copied(name, folder) for name in ("paper.toml", "tight.toml"))
    published = read_config(paper)
    first = certificate_of(published, published.audit.seed)
    show(story.on_paper(first))

    needed = read_config(tight)
    settings, seed = needed.audit, needed.audit.seed or 0
    second = certificate_of(needed, seed)
    show(story.needed(first, second))

    cases = cases_of(needed, settings.view)
    audits = audits_of(cases, second, settings, seed)
    show(story.attacked(audits))

    bold = replace(second.claim, epsilon=_BOLD * second.claim.epsilon)
    place, case = cases[0]
    caught = attack(case, bold, float("inf"), settings, seed, np.random.default_rng([seed, place]))
    show(story.false_claim(caught))

    write_report(published, first, (), published.audit, published.audit.seed, output_folder(folder / "as-published"))
    files = write_report(needed, second, audits, settings, seed, folder)
    show(story.files((*files, folder / "as-published", paper, tight)))
    return Exit.PASS


def _copied(name: str, folder: Path) -> Path:
    """Return a bundled configuration's copy in `folder`, where its reader can change it and run it again."""
    from importlib.resources import files

    from dpaudit.cli.output import write

    write(folder / name, files("dpaudit").joinpath("demo", name).read_text(encoding="utf-8"))
    return folder / name
