"""`dpaudit verify`: check a certificate again."""

from pathlib import Path
from typing import Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat


@ending
def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate in JSON.")],
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Check a certificate again from its JSON alone, independently of what produced it.

    Passes if an independent reading comes to the same numbers and the verdict is certified.
    """
    import json

    from dpaudit.cli.output import emit
    from dpaudit.codec import encode
    from dpaudit.config import read_text
    from dpaudit.errors import CertificateError
    from dpaudit.render.verification import verification_markdown, verification_text
    from dpaudit.verifier import verify as read_again

    held = read_again(read_text(certificate))
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
