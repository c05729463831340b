"""`dpaudit verify`: check a certificate, or a witness of a violation, again."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat, Seed


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
    import json

    from dpaudit.cli.output import emit
    from dpaudit.cli.witness import is_witness
    from dpaudit.configuration.files import read_text
    from dpaudit.errors import CertificateError
    from dpaudit.model.codec import encode
    from dpaudit.render.verification import verification_markdown, verification_text
    from dpaudit.verifier import verify as read_again

    text = read_text(certificate)
    if is_witness(text):
        return _witness(certificate, text, seed, style, output)
    held = read_again(text)
    if held.verdict == "unreadable":
        raise CertificateError(f"{certificate}: {'; '.join(held.complaints)}.")
    emit(
        lambda: verification_text(held),
        lambda: verification_markdown(held),
        lambda: json.dumps({"accepted": held.accepted, **encode(held)}, indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.PASS if held.accepted and held.verdict == "certified" else Exit.FINDING


def _witness(file: Path, text: str, seed: int | None, style: Format, output: Path | None) -> Exit:
    """Count a witness again and say what came out."""
    import json

    from rich.text import Text

    from dpaudit.cli.output import emit
    from dpaudit.cli.witness import check_witness, witness_sentence
    from dpaudit.workflow import drawn_seed

    found = check_witness(file, text, drawn_seed(seed))
    sentence = witness_sentence(found)
    emit(
        lambda: Text(sentence),
        lambda: f"{sentence}\n",
        lambda: json.dumps(found, indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.FINDING if found["stands"] else Exit.INCONCLUSIVE
