"""What ships is confirmed by the checker: the declaration of every shipped configuration, as it is claimed."""

from pathlib import Path

import pytest

from dpaudit import certify, verify
from dpaudit.configuration.config import read_config

FILES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_the_certificate_of_a_shipped_configuration_is_confirmed(path: Path) -> None:
    subject = read_config(path).subject
    certificate = certify(subject.declaration, subject.claim, effort="quick")
    verified = verify(certificate.to_json())
    assert (verified.complaints, verified.unconfirmed) == ((), ())
    assert certificate.verdict == ("refuted" if path.stem == "lplr_paper" else "certified")
