"""The checks of an installation and of a plug-in as documents."""

from dpaudit.documents.document import Document, Mark, Table, document, judged, under
from dpaudit.gate.plugin_check import PluginCheck
from dpaudit.gate.self_check import InstallationCheck

_MARKS = {
    "ok": Mark("✓ ok", "good"),
    "absent": Mark("○ absent", "open"),
    "not looked at": Mark("○ open", "open"),
    "failed": Mark("✗ failed", "bad"),
}


def installation_document(checks: tuple[InstallationCheck, ...]) -> Document:
    """Return the state of an installation."""
    failed = sum(check.status == "failed" for check in checks)
    sentence = (
        f"{failed} failed; do not trust results of this installation."
        if failed
        else "The installation is complete and its numbers are right."
    )
    return document(judged("FINDING" if failed else "PASS", sentence), _table(checks))


def plugin_document(checks: tuple[PluginCheck, ...]) -> Document:
    """Return the checks of the contract of a plug-in, example by example."""
    failed = sum(check.status == "failed" for check in checks)
    looked = sum(check.status != "not looked at" for check in checks)
    sentence = (
        f"The contract is broken: {failed} of {looked} checks failed."
        if failed
        else f"{looked} checks found nothing wrong; that is no proof."
    )
    examples = dict.fromkeys(check.example for check in checks)
    return document(
        judged("FINDING" if failed else "PASS", sentence),
        *(under(example, _table(tuple(c for c in checks if c.example == example))) for example in examples),
    )


def _table(checks: tuple[InstallationCheck, ...] | tuple[PluginCheck, ...]) -> Table:
    """Return a row for each check."""
    return Table(tuple((_MARKS[check.status], check.what, check.says) for check in checks), looks=("", "", "quiet"))
