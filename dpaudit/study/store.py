"""Cells kept as files, one each, so that an interrupted study goes on where it stopped."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit.runtime.content_address import content_address
from dpaudit.runtime.plugins import find_plugin
from dpaudit.runtime.whole_files import write_folder
from dpaudit.study.cells import Cell
from dpaudit.study.making import find_contender
from dpaudit.study.measured import Measured
from dpaudit.study.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStore:
    """A folder of finished cells; a cell's file is named by the content address of all that its numbers depend on.

    `base` is the folder of the study's file, against which paths in it are read.
    """

    folder: Path
    base: Path = Path()

    def path(self, study: Study, cell: Cell) -> Path:
        """Return the file of a cell: by its algorithm, problem, horizon, seeds, runs, code, versions and files.

        The code is that of dpaudit and of plug-ins, the files are those that the tables name.
        """
        settings = study.settings
        contender = study.contender(cell.label)
        key = {
            "algorithm": contender.algorithm,
            "role": contender.role,
            "tune": {name: contender.tune[name][number] for name, number in cell.tuning},
            "problem": study.problem,
            "cell": asdict(cell),
            "seed": settings.seed,
            "runs": study.runs(cell.label),
        }
        text = json.dumps(key, sort_keys=True, default=str)
        subjects = find_contender(contender.name), find_plugin("problems", str(study.problem.get("name")))
        stated = (*contender.algorithm.values(), *study.problem.values())
        files = (self.base / value for value in stated if isinstance(value, str | Path))
        return self.folder / f"{content_address(text, subjects=subjects, files=files)[:32]}.json"

    def read(self, study: Study, cell: Cell) -> Measured | None:
        """Return a finished cell, or None where there is none that can be read or a file that it read has changed."""
        try:
            measured = Measured.from_json(self.path(study, cell).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if measured.cell != cell or measured.error:
            return None
        return measured if content_address(files=map(Path, measured.files)) == measured.content else None

    def write(self, study: Study, measured: Measured) -> None:
        """Keep a cell, whole or not at all; one that failed keeps its error.

        Raises: ConfigError: nothing can be written there.
        """
        write_folder(self.folder, {self.path(study, measured.cell).name: measured.to_json().encode()})
