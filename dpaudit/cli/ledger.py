"""`dpaudit ledger`: bookings of certificates on the budget of a data set."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.groups import HELP_OPTIONS, WrappedGroup
from dpaudit.cli.common.options import Output, flag, number, option
from dpaudit.cli.common.results import Result, resulting
from dpaudit.errors import CertificateError, ConfigError, LedgerError
from dpaudit.wording.escaping import clean

_LARGEST_LEDGER = 2**30
"""How many bytes an export may have."""

ledger = typer.Typer(
    help="Keep budgets: book certificates against what a data set may spend in all.",
    cls=WrappedGroup,
    context_settings=HELP_OPTIONS,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Address: TypeAlias = Annotated[str, typer.Argument(metavar="LEDGER", help="A file (SQLite), or postgresql://...")]
Account: TypeAlias = Annotated[str, option("--account", "NAME", "The data set's account.")]

Neighbours = Literal["replace_one", "add_remove"]
Model = Literal["central", "joint", "local"]
Rule = Literal["either", "basic", "concentrated", "gaussian", "renyi"]
"""The choices of a budget, written here so that the help imports nothing; `Account` and `Claim` check them again."""

Head: TypeAlias = Annotated[
    str | None, option("--head", "DIGEST", "A digest kept elsewhere that must be in the chain.")
]


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The numbers of a budget: one of epsilon (with delta), rho, mu, Renyi divergences and points of a profile."""

    epsilon: Annotated[float | None, number("--epsilon", "E", "The budget's epsilon, for all releases together.")] = (
        None
    )
    delta: Annotated[float, number("--delta", "D", "The budget's delta.")] = 0.0
    rho: Annotated[float | None, number("--rho", "R", "A budget in rho, in place of epsilon.")] = None
    mu: Annotated[float | None, number("--mu", "M", "A budget in mu, in place of epsilon.")] = None
    renyi: Annotated[
        str | None, option("--renyi", "ORDER:EPSILON", "A budget in Renyi divergences; several are parted by ';'.")
    ] = None
    profile: Annotated[
        str | None, option("--profile", "EPSILON:DELTA", "A budget in points of a profile, parted by ';'.")
    ] = None

    def budget(self, **who: Any) -> Any:
        """Return the budget of `who` in the measure of the one number that is stated.

        Raises: ConfigError: none or several numbers, or a delta beside another measure. ValueError: out of range, or no
            points.
        """
        from dpaudit.cli.common.points import points
        from dpaudit.model.claim import Claim

        stated = {"epsilon": self.epsilon, "rho": self.rho, "mu": self.mu, "renyi": self.renyi, "profile": self.profile}
        numbers: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
        if len(numbers) != 1:
            *others, last = (f"--{name}" for name in stated)
            raise ConfigError(f"Expected one of {', '.join(others)} and {last}, got {' and '.join(numbers) or 'none'}.")
        ((name, value),) = numbers.items()
        if name == "epsilon":
            return Claim(epsilon=value, delta=self.delta, **who)
        if self.delta:
            raise ConfigError(f"Expected --delta={self.delta:g} beside --epsilon only: a budget in {name} has none.")
        made: dict[str, Any] = {name: points(name, value) if isinstance(value, str) else value}
        return Claim(**made, **who)


@ledger.command(name="open")
@ending
def open_account(
    address: Address,
    account: Account,
    unit: Annotated[str, flag("--unit", "What one person contributes, as in the certificates.")],
    amount: Amount,
    neighbours: Annotated[
        Neighbours, flag("--neighbours", "Which data sets the certificates compare.")
    ] = "replace_one",
    model: Annotated[Model, flag("--model", "The weakest model of the certificates.")] = "central",
    rule: Annotated[Rule, flag("--rule", "How spending is counted.")] = "either",
    refresh: Annotated[str, flag("--refresh", "When a new budget begins, and why, in words.")] = "",
) -> Exit:
    """Open an account: a budget for one data set. Prints the entry's number and digest, and what certificates state.

    A budget is one of --epsilon (with --delta), --rho, --mu, --renyi and --profile. Accounts that are not in epsilon
    count each certificate in their own measure, by the smallest cost that is proved, and say by which rule; of several
    orders or points each must hold.
    """
    from dpaudit.cli.common.output import say
    from dpaudit.ledger import Account as LedgerAccount
    from dpaudit.ledger import Ledger, store_at

    try:
        budget = amount.budget(neighbours=neighbours, model=model, unit=unit)
        opened = LedgerAccount(name=account, budget=budget, rule=rule, refresh=refresh)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    booking = Ledger(store_at(address, create=True)).open(opened, _now)
    say(f"{'already open' if booking.before else 'opened'}: entry {booking.sequence}, {booking.digest}")
    say(f"certificates must be about {budget.unit!r}, neighbours {budget.neighbours!r}, model {budget.model!r}")
    return Exit.PASS


@ledger.command()
@ending
def book(
    address: Address,
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate in JSON.")],
    account: Account,
    label: Annotated[str, flag("--label", "The release's name, once in an account.")],
    head: Head = None,
) -> Exit:
    """Book a certificate before its release; exit code 1 and nothing written where the budget does not allow it.

    The certificate is checked again first. Repeating a booking with the same label and certificate changes nothing.
    """
    from dpaudit.budgets.filters import Refusal
    from dpaudit.certification.certificate import Certificate
    from dpaudit.cli.common.output import say
    from dpaudit.ledger import Ledger, store_at

    store, text = store_at(address), _verified(certificate)
    result = Ledger(store).book(account, Certificate.from_json(text), label, _now, head=head)
    if isinstance(result, Refusal):
        say(f"refused: {result.reason}")
        return Exit.FINDING
    say(f"{'already booked' if result.before else 'booked'}: entry {result.sequence}, {result.digest}")
    for name, rule in result.counted.items():
        say(f"the {name} filter counts {rule}")
    return Exit.PASS


def _verified(certificate: Path) -> str:
    """Return the text of a certificate once the independent checker accepts it.

    Raises: CertificateError: it is no JSON, or does not verify.
    """
    from dpaudit.configuration.files import json_value, read_text
    from dpaudit.verifier import verify as verify_certificate

    text = read_text(certificate)
    try:
        json_value(text)
    except (ValueError, RecursionError) as error:
        raise CertificateError(
            f"{certificate}: no certificate in JSON ({error}); "
            "write it by `dpaudit certify CONFIG --format json -o FILE`."
        ) from None
    verification = verify_certificate(text)
    if not verification.accepted:
        raise CertificateError(
            f"{certificate}: {'; '.join(verification.complaints) or 'the certificate does not verify'}."
        )
    return text


@ledger.command()
@resulting
def show(
    address: Address,
    account: Annotated[str | None, option("--account", "NAME", "One account only.")] = None,
) -> Result:
    """Show what every account has spent and what is left, rule by rule; exit code 1 if the chain was altered."""
    from dpaudit.ledger import Ledger, store_at
    from dpaudit.render.budget import statement_data, statement_document

    statement = Ledger(store_at(address)).statement()
    if account is not None and account not in statement.accounts:
        raise LedgerError(f"There is no account {account!r}; there is: {', '.join(statement.accounts) or 'none'}.")
    return Result(
        document=lambda: statement_document(statement, account),
        data=lambda: statement_data(statement, account),
        code=Exit.FINDING if statement.findings else Exit.PASS,
    )


@ledger.command()
@ending
def verify(
    address: Address,
    head: Head = None,
) -> Exit:
    """Read the whole chain again: every digest, link, sum and price; exit code 1 where anything was altered.

    The certificates in the chain are checked again, and their prices derived again. A chain does not show what was cut
    off at its end: give the last digest that you know with --head.
    """
    from dpaudit.cli.common.output import say
    from dpaudit.ledger import recompute, store_at
    from dpaudit.ledger.entry import whole_digest
    from dpaudit.ledger.repricing import Repricing, reprice

    entries = store_at(address).entries()
    statement = recompute(entries)
    repricing = Repricing() if statement.findings else reprice(entries)
    for finding in (*statement.findings, *repricing.findings):
        say(f"{finding.rule} {finding.where}: {finding.message}")
    wanted = None if head is None else whole_digest(head)
    digests = {entry.data["digest"] for entry in entries} if wanted and not statement.findings else set()
    missing = wanted is not None and wanted not in digests
    if missing and not statement.findings:
        say(f"DPA501 the chain does not hold {head}; entries were cut off, or this is another ledger.")
    if statement.findings or repricing.findings or missing:
        return Exit.FINDING
    say(f"intact: {statement.entries} entries, last digest {statement.head}")
    say(f"prices derived again: {repricing.derived}; booked without a certificate of this version: {repricing.without}")
    return Exit.PASS


@ledger.command()
@ending
def export(address: Address, output: Output = None) -> Exit:
    """Write every entry as one line of JSON, to a file or to stdout."""
    from dpaudit.cli.common.output import write
    from dpaudit.ledger import Ledger, store_at

    text = "".join(f"{line}\n" for line in Ledger(store_at(address)).lines())
    if output is None:
        sys.stdout.write(clean(text))
    else:
        write(output, text)
    return Exit.PASS


@ledger.command(name="import")
@ending
def import_lines(
    address: Address, file: Annotated[Path, typer.Argument(metavar="FILE", help="Lines that `export` wrote.")]
) -> Exit:
    """Take over exported entries, once they are all found intact; entries that are here already must be equal.

    Exit code 1 where a line was altered, 2 where it is no JSON; then nothing is imported.
    """
    from dpaudit.cli.common.output import say
    from dpaudit.configuration.files import read_text
    from dpaudit.ledger import Ledger, store_at

    lines = read_text(file, _LARGEST_LEDGER).split("\n")
    if altered := _altered(file, lines):
        say(altered)
        return Exit.FINDING
    imported = Ledger(store_at(address, create=True)).take(lines)
    say(f"imported: {imported} entries")
    return Exit.PASS


def _altered(file: Path, lines: list[str]) -> str:
    """Return the first exported line that was altered, and what is wrong with it; an empty text where none was.

    Raises: LedgerError: a line that is no JSON, which cannot be read.
    """
    from dpaudit.ledger import recompute
    from dpaudit.ledger.entry import Entry
    from dpaudit.ledger.repricing import reprice

    places = [line_number for line_number, line in enumerate(lines, start=1) if line.strip()]
    for line_number in places:
        try:
            json.loads(lines[line_number - 1])
        except (ValueError, RecursionError):
            raise LedgerError("The line is no JSON. Nothing was imported.").at(str(file), line_number) from None
    entries = [Entry(text=lines[line_number - 1]) for line_number in places]
    statement = recompute(entries)
    faults = statement.findings or reprice(entries).findings
    if not faults:
        return ""
    line = places[faults[0].sequence - 1]
    said = f"{faults[0].rule} {faults[0].message} Faults in all: {len(faults)}. Nothing was imported."
    return f"{file}:{line}: {said}"


@ledger.command()
@ending
def report(
    address: Address, output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write.")]
) -> Exit:
    """Write a page for an officer: what each release cost, what is left, and when the budget ends at this pace.

    Prints the files it wrote, ledger.html and ledger.json; exit code 1 if the chain was altered.
    """
    from dpaudit.cli.common.output import output_folder, say, write_files
    from dpaudit.documents.page import page
    from dpaudit.ledger import Ledger, store_at
    from dpaudit.render.budget import statement_data, statement_document

    statement, folder = Ledger(store_at(address)).statement(), output_folder(output)
    data = json.dumps(statement_data(statement), indent=2, sort_keys=True)
    files = {"ledger.html": page(statement_document(statement, created=_now())), "ledger.json": f"{data}\n"}
    for path in write_files(folder, files):
        say(str(path))
    return Exit.FINDING if statement.findings else Exit.PASS


def _now() -> str:
    """Return the time of an entry, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
