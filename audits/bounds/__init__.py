"""Lower bounds on epsilon; each module states its evidence, its assumptions and its guarantee."""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports

if TYPE_CHECKING:
    from audits.bounds.area import area_under_roc as area_under_roc
    from audits.bounds.e_process import EProcess as EProcess
    from audits.bounds.error_rates import error_rate_bound as error_rate_bound
    from audits.bounds.guessing import guessing_bound as guessing_bound
    from audits.bounds.mu_process import MuProcess as MuProcess
    from audits.bounds.one_event import event_rho as event_rho
    from audits.bounds.one_run import one_run_guesses as one_run_guesses
    from audits.bounds.one_run import one_run_orthogonal_bound as one_run_orthogonal_bound
    from audits.bounds.one_run_trade_off import one_run_gaussian_bound as one_run_gaussian_bound
    from audits.bounds.rank_sums import block_wins as block_wins
    from audits.bounds.rank_sums import rank_sum_mu as rank_sum_mu
    from audits.bounds.renyi_cells import cells_renyi as cells_renyi
    from audits.bounds.renyi_region import RhoTradeOff as RhoTradeOff
    from audits.bounds.renyi_region import coin_divergence as coin_divergence
    from audits.bounds.renyi_region import rho_region as rho_region
    from audits.bounds.trade_off_curve import curve_mu as curve_mu
    from audits.bounds.trade_off_curve import curve_rho as curve_rho
    from audits.bounds.trade_off_curve import measured_curve as measured_curve
    from audits.bounds.trade_offs import GaussianTradeOff as GaussianTradeOff
    from audits.bounds.trade_offs import PrivateTradeOff as PrivateTradeOff
else:
    __getattr__, __dir__ = lazy_exports(__name__)
