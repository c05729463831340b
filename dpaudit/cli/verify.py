"""`dpaudit verify`: check a certificate, or a witness of a violation, again."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpaudit.cli.exits import Exit, ending
from dpaudit.cli.options import Format, Output, OutputFormat, Seed

if TYPE_CHECKING:
    from dpaudit.verifier import Verification


@ending
def verify(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE|WITNESS", help="A certificate, or a witness of an audit, in JSON.")
    ],
    digest: Annotated[
        str | None, typer.Option("--digest", metavar="DIGEST", help="The digest that the certificate must have.")
    ] = None,
    expect_claim: Annotated[
        str | None,
        typer.Option(
            "--expect-claim",
            metavar="KEY=VALUE,...",
            help="What the certificate must claim, as in epsilon=1,delta=1e-5,neighbours=replace_one.",
        ),
    ] = None,
    seed: Seed = None,
    style: OutputFormat = Format.TEXT,
    output: Output = None,
) -> Exit:
    """Check a certificate again from its JSON alone, independently of what produced it.

    Passes if an independent reading comes to the same numbers and the verdict is certified. A certificate that was
    altered, or has another digest or claim than demanded, is a finding; a file that is no JSON cannot be read. A
    witness is counted again on fresh runs: a violation that stands is a finding, one that does not is inconclusive.
    """
    import json

    from dpaudit.cli.output import emit
    from dpaudit.cli.witness import is_witness
    from dpaudit.codec import encode
    from dpaudit.config import read_text
    from dpaudit.errors import CertificateError
    from dpaudit.render.verification import verification_markdown, verification_text
    from dpaudit.verifier import verify as read_again

    text, demands = read_text(certificate), _demands(expect_claim)
    held = _demanding(read_again(text), digest, demands)
    if held.verdict == "unreadable":
        raise CertificateError(f"{certificate}: {held.complaints[0]}.")
    if is_witness(text):
        return _witness(certificate, text, seed, style, output)
    emit(
        lambda: verification_text(held),
        lambda: verification_markdown(held),
        lambda: json.dumps({"accepted": held.accepted, **encode(held)}, indent=2, sort_keys=True),
        style,
        output,
    )
    return Exit.PASS if held.accepted and held.verdict == "certified" else Exit.FINDING


def _demanding(held: "Verification", digest: str | None, claim: dict[str, str | float]) -> "Verification":
    """Return a verification with complaints where the certificate has another digest, or claims something else.

    `claim` holds the fields of a claim that are demanded; the others may be anything.
    """
    said = held.claim or {}
    wrong = [f"the claim has {k}={said.get(k)}, and {k}={v} is demanded" for k, v in claim.items() if said.get(k) != v]
    if digest not in (None, held.digest):
        wrong.append(f"the digest is {held.digest or 'unknown'}, and {digest} is demanded")
    return replace(held, complaints=(*held.complaints, *wrong))


def _demands(expected: str | None) -> dict[str, str | float]:
    """Return the fields of a claim from `key=value,...`; a unit comes last, as it may hold commas.

    Raises: ConfigError: an unknown key, a key twice, or an epsilon or delta that is no number.
    """
    from dpaudit.errors import ConfigError

    found: dict[str, str | float] = {}
    rest = expected
    while rest:
        key, _, rest = rest.partition("=")
        if key not in ("epsilon", "delta", "neighbours", "model", "unit") or key in found:
            raise ConfigError(
                f"--expect-claim: {key!r} is unknown or given twice; write epsilon=1,delta=1e-5,neighbours=replace_one "
                "(and model=, unit=)."
            )
        value, _, rest = (rest, "", "") if key == "unit" else rest.partition(",")
        try:
            found[key] = float(value) if key in ("epsilon", "delta") else value
        except ValueError:
            raise ConfigError(f"--expect-claim: {key}={value!r} is no number.") from None
    return found


def _witness(file: Path, text: str, seed: int | None, style: Format, output: Path | None) -> Exit:
    """Count a witness again and say what came out."""
    import json

    from rich.text import Text

    from dpaudit.cli.output import emit
    from dpaudit.cli.steps import drawn_seed
    from dpaudit.cli.witness import check_witness, witness_sentence

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
