"""`dpaudit calibrate`: the smallest noise scale that certifies the claim, shown or written into the file."""

from typing import Annotated

from dpaudit.cli.common.options import Config, flag
from dpaudit.cli.common.results import Result, resulting


@resulting
def calibrate(
    config: Config,
    write_noise: Annotated[  # noqa: FBT002 - typer's flag
        bool, flag("--write", "Put the noise into CONFIG, rounded to six digits towards more noise.")
    ] = False,
) -> Result:
    """Find the smallest noise that certifies the claim, and what it saves.

    All noise is scaled by one factor, in the proportions of the declaration. --write changes these numbers and
    nothing else; it refuses where the noise is no number of the file.
    """
    from dpaudit.accounting.needed_noise import calibration_of
    from dpaudit.cli.common.noise_edits import edited
    from dpaudit.cli.common.output import doing, note, write
    from dpaudit.configuration.config import read_config
    from dpaudit.configuration.configuration import Configured
    from dpaudit.render.calibration import calibration_document

    configuration = read_config(config)
    subject = configuration.subject
    with doing("Finding the smallest noise"), configuration.locating():
        calibration = calibration_of(subject.declaration, subject.claim)
        text, edits = edited(configuration, calibration) if write_noise else (configuration.text, ())
    saves = calibration.factor < 1 - 1e-6
    has_tight = isinstance(subject, Configured) and getattr(subject.algorithm, "calibration", "tight") != "tight"
    advice = 'Set calibration = "tight" in [algorithm] to run with the smaller noise.' if saves and has_tight else ""

    def written() -> None:
        if edits:
            write(configuration.path, text)
        for line in map(str, edits) if edits else ["nothing to write"] * write_noise:
            note(f"{configuration.path}: {line}")

    return Result(document=lambda: calibration_document(calibration, advice), data=calibration.to_dict, then=written)
