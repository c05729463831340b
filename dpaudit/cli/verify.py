"""`dpaudit verify`: an independent check of a certificate, or of a witness of a violation."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat, Seed
from dpaudit.cli.output import emit, note
from dpaudit.cli.witness import check_witness, is_witness, witness_sentence
from dpaudit.configuration.files import json_value, read_text
from dpaudit.errors import CertificateError
from dpaudit.model.codec import encode
from dpaudit.render.verification import verification_markdown, verification_text
from dpaudit.verifier import verify as verify_text
from dpaudit.wording.markdown import cell
from dpaudit.workflow import drawn_seed


@ending
def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE|WITNESS", help="A certificate, or a witness of an audit, in JSON.")
    ],
    seed: Seed = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Check a certificate again from its JSON alone, independently of what produced it.

    Passes if an independent reading comes to the same numbers and the verdict is certified. A witness is counted again
    on fresh runs: a violation that stands is a finding, one that does not is inconclusive.
    """
    text = read_text(certificate)
    try:
        json_value(text)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{certificate}: {error}.") from None
    if is_witness(text):
        return _witness(certificate, text, seed, style, output)
    verification = verify_text(text)
    if verification.verdict == "unreadable":
        raise CertificateError(f"{certificate}: {'; '.join(verification.complaints)}.")
    emit(
        lambda: verification_text(verification),
        lambda: verification_markdown(verification),
        lambda: json.dumps({"accepted": verification.accepted, **encode(verification)}, indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.PASS if verification.accepted and verification.verdict == "certified" else Exit.FINDING


def _witness(file: Path, text: str, seed: int | None, style: Format, output: Path | None) -> Exit:
    """Repeat the count of a witness on fresh runs and write the result."""
    recheck = check_witness(file, text, drawn_seed(seed, note))
    sentence = witness_sentence(recheck)
    emit(
        lambda: Text(sentence),
        lambda: f"{cell(sentence)}\n",
        lambda: json.dumps(recheck, indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.FINDING if recheck["stands"] else Exit.INCONCLUSIVE
