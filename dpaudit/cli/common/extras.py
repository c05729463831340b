"""The inputs of a report beside certificate and audits; all files are read before a run starts."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpaudit.cli.common.options import ReportOptions
from dpaudit.configuration.configuration import Configuration
from dpaudit.configuration.deployment_file import read_deployment
from dpaudit.configuration.files import object_in, read_text
from dpaudit.errors import ConfigError
from dpaudit.ledger import Balance, Ledger, store_at
from dpaudit.model.deployment import Deployment
from dpaudit.workflow import Extras


def extras_of(configuration: Configuration, asked: ReportOptions) -> Extras:
    """Return the extras that the options ask for.

    Raises: ConfigError: a file that does not fit, or two places that declare the deployment. LedgerError: no such
        account.
    """
    deployment, ledger, account, previous = asked.deployment, asked.ledger, asked.account, asked.previous
    if deployment is not None and configuration.deployment != Deployment():
        raise configuration.error("[deployment] stands here and in --deployment; keep one of the two.", "deployment")
    if (ledger is None) != (account is None):
        raise ConfigError("Expected --ledger and --account together: the ledger, and the data set's account in it.")
    balance, head = _balance(ledger, account) if ledger and account else (None, "")
    return Extras(
        deployment=read_deployment(deployment) if deployment is not None else None,
        balance=balance,
        ledger_head=head,
        previous=_report(previous) if previous is not None else None,
        pdf=asked.pdf,
        options=(
            *_option("deployment", deployment),
            *_option("ledger", _without_password(ledger) if ledger else None),
            *_option("account", account),
            *_option("previous", previous),
            *(("--pdf",) if asked.pdf else ()),
        ),
    )


def _option(name: str, value: object) -> tuple[str, ...]:
    """Return an option as the user types it; nothing if it has no value."""
    return () if value is None else (f"--{name} {shlex.quote(str(value))}",)


def _without_password(address: str) -> str:
    """Return the address of a ledger without its password."""
    return re.sub(r"(://[^/@:]*):[^@]*@", r"\1@", address)


def _balance(address: str, account: str) -> tuple[Balance, str]:
    """Return an account's balance and the chain's last digest."""
    ledger = Ledger(store_at(address))
    return ledger.balance(account), ledger.statement().head


_READABLE = tuple(f"urn:dpaudit:schema:report:{version}" for version in range(2, 11))
"""Schemas of earlier reports that can be compared with: what is compared stands in both under the same keys."""


def _report(path: Path) -> Mapping[str, Any]:
    """Return an earlier report's JSON.

    Raises: ConfigError: it is none.
    """
    data = object_in(read_text(path))
    if data is None:
        raise ConfigError(f"{path}: not JSON; give the report.json of an earlier report.")
    needed = {"verdict", "created", "certificate", "audits", "config"}
    if not needed <= set(data) or data.get("schema") not in _READABLE:
        raise ConfigError(f"{path}: not a report of this version; give the report.json of an earlier report.")
    return data
