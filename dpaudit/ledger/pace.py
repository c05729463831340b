"""The history of an account: what each release cost, what was spent after it, and when the budget ends at this pace."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dpaudit.accounting.additive_costs import Cost
from dpaudit.ledger.balance import Balance
from dpaudit.ledger.booking_body import is_on_trust
from dpaudit.ledger.pricing import decode_prices, share_of

_FARTHEST = timedelta(days=365_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """One release: its share of the limit, and the share that is spent with it and all before; both in [0, 1]."""

    sequence: int
    label: str
    day: date
    share: float
    total: float
    on_trust: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The releases of an account, counted by the filter that ends the budget.

    `ends` is the day on which the budget is spent if it goes on as since the first release; None without two releases
    on different days, or without any spending. It is an extrapolation, and no promise.
    """

    theorem: str
    releases: tuple[Spending, ...]
    ends: date | None

    @property
    def spent(self) -> float:
        """The share of the budget that is spent."""
        return self.releases[-1].total if self.releases else 0.0


def history_of(balance: Balance) -> History:
    """Return the history of an account."""
    best = balance.binding
    releases: list[Spending] = []
    spent = Cost()
    for booking in balance.bookings:
        cost = decode_prices(booking["prices"])[best.name]
        spent = spent + cost
        releases.append(
            Spending(
                sequence=booking["sequence"],
                label=booking["label"],
                day=_day(booking),
                share=float(share_of(cost, best.limit)),
                total=float(share_of(spent, best.limit)),
                on_trust=is_on_trust(booking),
            )
        )
    return History(theorem=best.name, releases=tuple(releases), ends=_end(releases))


def _day(booking: dict[str, Any]) -> date:
    """Return the day of a booking in UTC."""
    moment = datetime.fromisoformat(booking["created"])
    return moment.astimezone(UTC).date() if moment.tzinfo else moment.date()


def _end(releases: list[Spending]) -> date | None:
    """Return the day on which the budget is spent at the pace between the first release and the last.

    The first release only starts the clock: n releases have n - 1 times between them.
    """
    if len(releases) < 2 or releases[-1].day <= releases[0].day:
        return None
    first, last = releases[0], releases[-1]
    spent, days = last.total - first.total, (last.day - first.day).days
    if spent <= 0:
        return None
    left = timedelta(days=min((1 - last.total) * days / spent, _FARTHEST.days))
    return last.day + left if left < _FARTHEST else None
