"""Cells kept as files, one each, so that an interrupted study goes on where it stopped."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dpaudit.errors import ConfigError
from dpaudit.runtime.provenance import source_digest
from dpaudit.runtime.whole_files import replace_file
from dpaudit.study.cells import Cell
from dpaudit.study.measured import Measured
from dpaudit.study.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStore:
    """A folder of finished cells; a cell's file is named by the digest of all that its numbers depend on."""

    folder: Path

    def path(self, study: Study, cell: Cell) -> Path:
        """Return the file of a cell: by its algorithm, problem, horizon, seeds, runs and the source of the code."""
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
            "source": source_digest(),
        }
        text = json.dumps(key, sort_keys=True, default=str)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    def read(self, study: Study, cell: Cell) -> Measured | None:
        """Return a finished cell, or None where there is none that can be read."""
        try:
            measured = Measured.from_json(self.path(study, cell).read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return measured if measured.cell == cell and not measured.error else None

    def write(self, study: Study, measured: Measured) -> None:
        """Keep a cell, whole or not at all; one that failed keeps its error.

        Raises: ConfigError: nothing can be written there.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.path(study, measured.cell), measured.to_json().encode())
        except OSError as error:
            raise ConfigError(f"{self.folder}: cells cannot be kept there ({error.strerror}).") from None
