"""A study run by a command: its cells in order, their files, and a bar of progress."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dpaudit.certification.verdict import certify
from dpaudit.cli.common.output import progress
from dpaudit.runtime.plugins import load_package
from dpaudit.study.running import How, Outcome, run_study
from dpaudit.study.store import CellStore
from dpaudit.study.study import Study


def conduct(
    plan: Study, base: Path, folder: Path, *, jobs: int = 1, scheduler: str | None = None, resume: bool = False
) -> Outcome:
    """Return what a study found; `base` is the folder of its file, `folder` keeps its cells.

    None of `jobs`, `scheduler` and `resume` changes a number.
    """
    with progress(f"study {plan.settings.name}") as advance:
        how = How(
            perform=_performing(jobs, scheduler),
            certify=certify,
            store=CellStore(folder=folder / "cells", base=base),
            resume=resume,
            progress=advance,
        )
        return run_study(plan, base, how)


def _performing(jobs: int, scheduler: str | None) -> Callable[[Sequence[Callable[[], Any]]], Iterator[Any]]:
    """Return a function that runs tasks in `jobs` processes or on a dask cluster, and yields results in order."""
    workers = load_package("audits.experiment.workers")
    return lambda tasks: workers.perform(tasks, jobs, scheduler)
