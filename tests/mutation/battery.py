"""All checks by name: what has to catch the mutants. Most are tests of other folders, run with a defect planted."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

import tests.accounting.amplification.test_pure_samples as pure_samples
import tests.accounting.amplification.test_sampled_parts as sampled_parts
import tests.accounting.engines.test_few_outcomes as few_outcomes
import tests.accounting.test_choices as choices
import tests.accounting.test_curves as curves
import tests.accounting.test_engines_truth as engines
import tests.accounting.test_peer_bugs as peer_bugs
import tests.accounting.test_samples as samples
import tests.accounting.test_single as single
import tests.budgets.test_filters as filters
import tests.budgets.test_interchange as interchange
import tests.budgets.test_odometers as odometers
import tests.checker.test_certificates as certificates
import tests.checker.test_claims as claims
import tests.checker.test_conditions as conditions
import tests.checker.test_folding as folding
import tests.checker.test_losses as of_losses
import tests.checker.test_traces as traces
import tests.checker.test_witnesses as witnesses
import tests.noise.test_contract as contract
import tests.noise.test_matrices as matrices
import tests.noise.test_trees as trees
from tests.mutation import laws, rules

ONE_ROW = type(pytest.param())
"""The type of a row of `parametrize` that has marks or a name of its own."""


def members(test: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """Yield the arguments of each member of a test, by its `parametrize` marks; those marked slow are left out."""
    tables = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0].split(", ") if isinstance(mark.args[0], str) else mark.args[0]
            rows = [row for row in mark.args[1] if not (isinstance(row, ONE_ROW) and row.marks)]
            plain = [row.values if isinstance(row, ONE_ROW) else row if len(names) > 1 else (row,) for row in rows]
            tables.append([dict(zip(names, row, strict=True)) for row in plain])
    for chosen in product(*tables):
        yield {name: value for table in chosen for name, value in table.items()}


def of(*tests: Callable[..., None]) -> Callable[[], None]:
    """Return a check that runs every member of some tests of other folders."""

    def check() -> None:
        for test in tests:
            for arguments in members(test):
                test(**arguments)

    return check


CHECKS: dict[str, Callable[[], None]] = {
    "impossible objects cannot exist": of(
        folding.test_a_bad_node_cannot_exist,
        claims.test_a_bad_claim_is_refused_by_name_and_value,
        of_losses.test_a_discrete_loss_whose_probabilities_do_not_sum_to_one_is_refused,
        of_losses.test_a_law_with_mass_missing_is_refused_until_the_mass_is_stated,
        of_losses.test_a_negative_distance_is_refused,
        contract.test_a_bad_parameter_is_refused_by_name_and_value,
    ),
    "repeat equals copies": of(
        folding.test_repeat_equals_that_many_copies,
        folding.test_gaussian_composition_matches_fifty_digit_values,
        folding.test_pure_parts_add_up_exactly_at_delta_zero,
        folding.test_epsilon_of_delta_of_epsilon_comes_back,
        of_losses.test_composition_counts_equal_losses_once_and_drops_harmless_ones,
        peer_bugs.test_b2_a_count_is_never_forgotten,
        engines.test_every_engine_brackets_delta_on_a_mixture,
        engines.test_a_thousand_black_boxes_cost_their_binomial_sum,
    ),
    "groups move every record": of(
        of_losses.test_group_of_a_black_box_is_the_textbook_geometric_sum,
        folding.test_a_gaussian_group_is_one_gaussian_with_the_sensitivity_times_its_size,
        folding.test_a_group_over_parts_of_bounded_loss_uses_the_group_property_of_the_whole,
        folding.test_a_group_over_parts_of_mixed_noise_is_refused,
        folding.test_what_is_stated_bounds_from_above_only,
        curves.test_two_records_of_a_laplace_release_are_one_of_twice_the_shift,
        sampled_parts.test_a_person_of_several_records_meets_a_binomial_mixture,
    ),
    "views are no stronger than their weakest part": of(
        folding.test_a_tree_protects_what_its_weakest_part_protects,
        claims.test_a_stronger_model_implies_a_weaker_one_and_never_the_reverse,
    ),
    "every node brings its conditions": of(
        conditions.test_conditions_merge_by_kind_and_what_they_are_about_whatever_their_words,
        conditions.test_every_condition_of_the_tree_is_there_once,
    ),
    "traces are admitted or not": of(
        traces.test_a_run_that_does_what_it_declares_has_no_findings,
        traces.test_each_difference_is_found_by_its_rule,
        traces.test_the_same_noise_under_two_labels_is_found_even_when_rescaled,
    ),
    "verdicts follow from the evidence": of(
        certificates.test_noise_at_the_claim_is_certified_and_one_part_in_a_million_less_is_refuted,
        certificates.test_a_joint_proof_does_not_certify_a_central_claim,
        certificates.test_a_violated_condition_or_a_finding_takes_the_certificate_away,
        certificates.test_a_stated_budget_above_the_claim_is_not_proved_and_never_refuted,
        witnesses.test_a_violated_condition_leaves_no_upper_bound,
    ),
    "certificates return and tampering shows": of(
        certificates.test_json_round_trip_keeps_every_field_and_the_digest,
        certificates.test_a_certificate_that_was_touched_is_refused,
    ),
    "events return": of(interchange.test_two_hundred_events_survive_the_round_trip_exactly),
    "printed arguments are replayed": of(
        certificates.test_a_printed_argument_that_holds_is_valid_and_each_way_to_break_it_is_named,
        certificates.test_an_argument_that_ends_above_the_claim_is_not_valid,
        certificates.test_an_unannotated_group_or_cell_array_costs_the_printed_argument_what_it_costs,
    ),
    "known values": of(
        engines.test_basic_epsilon_is_exact_at_the_accumulated_mass,
        engines.test_renyi_moments_of_laplace_noise_have_their_known_epsilon,
        few_outcomes.test_every_end_of_random_atoms_is_on_its_side_of_the_sum_of_all_outcomes,
    ),
    "gaussian distances are those of the densities": of(
        matrices.test_no_symmetric_direction_costs_more_than_the_stated_mu_and_the_worst_pair_costs_it,
        matrices.test_joint_sensitivity_of_unit_records_has_its_known_values,
        trees.test_a_gaussian_tree_costs_the_root_of_its_levels,
    ),
    "masses at infinity are kept": of(
        of_losses.test_reversing_twice_gives_the_loss_back,
        of_losses.test_randomised_response_is_a_discrete_loss_with_two_atoms,
        single.test_the_worst_alternative_counts_for_every_set_of_engines_wherever_it_stands,
    ),
    "amplification by sampling": of(
        samples.test_bounded_parts_are_amplified_as_black_boxes,
        samples.test_sampled_gaussian_takes_the_worse_order,
        samples.test_no_pair_is_known_from_below_where_a_sample_of_an_ordered_loss_is_sampled,
        samples.test_a_part_for_other_neighbours_than_its_scheme_needs_is_refused,
        sampled_parts.test_several_releases_in_one_sample_are_composed_first,
        sampled_parts.test_what_is_not_proved_is_refused_by_name,
        pure_samples.test_a_stated_part_on_a_sample_is_known_atom_by_atom,
        curves.test_the_sampled_gaussian_has_its_divergence_both_ways,
        curves.test_what_is_only_stated_has_no_lower_side,
        engines.test_hockey_stick_of_a_sampled_gaussian_is_the_integral_of_its_densities,
    ),
    "replacement is the right doubling": of(
        folding.test_replacing_a_record_touches_two_cells_and_removing_it_one,
        folding.test_a_sensitivity_for_other_neighbours_is_refused_by_label,
        interchange.test_replacing_without_the_factor_two_would_be_seen,
    ),
    "parallel is at most sequential": of(
        folding.test_parallel_is_the_worst_part_and_never_exceeds_the_sequence,
        folding.test_dominance_prunes_within_a_family_only,
        folding.test_an_adaptive_choice_between_incomparable_parts_is_not_taken_for_the_worse_of_them,
        choices.test_the_masses_of_a_choice_lie_above_every_option_and_near_the_largest,
    ),
    "choices cover every strategy": of(
        choices.test_no_adaptive_way_of_choosing_exceeds_the_bound,
        choices.test_a_choice_that_is_made_once_costs_its_worst_option,
        choices.test_a_gaussian_option_is_cut_into_as_many_pieces_as_the_other_has_parts,
        choices.test_unequal_numbers_of_options_pair_as_far_as_they_go,
        choices.test_two_records_of_one_person_meet_each_option_twice,
        choices.test_both_orders_of_a_choice_are_reversed,
    ),
    "integers and floats agree": of(peer_bugs.test_b1_noise_given_as_an_integer_is_not_ignored),
    "budgets are kept": of(
        filters.test_the_gaussian_filter_loses_nothing_against_parts_fixed_in_advance,
        filters.test_each_filter_ends_where_its_theorem_says,
        filters.test_the_conversion_of_rho_is_above_its_formula_and_within_a_billionth_of_the_best_order,
        odometers.test_a_reading_never_falls_and_never_exceeds_the_sum_of_the_largest_losses,
        odometers.test_at_the_boundary_the_mixture_of_supermartingales_has_reached_one_over_delta,
    ),
    "the smallest noise is smallest": of(
        certificates.test_slack_multiplies_to_claim_over_truth_and_to_noise_over_need,
        certificates.test_slack_factors_of_ten_thousand_rounds,
    ),
    "losses are those of the densities": of(contract.test_the_stated_loss_of_a_number_is_that_of_its_density),
    "trees are counted node by node": of(
        trees.test_the_dynamic_program_finds_what_enumeration_finds,
        trees.test_an_element_touches_the_nodes_that_cover_it_and_the_first_touches_most,
        trees.test_prefixes_are_sums_of_disjoint_nodes_and_can_be_taken_apart_again,
    ),
    **{
        check.__name__.replace("_", " "): check
        for check in (
            laws.both_orders_of_the_neighbours_count,
            laws.many_masses_at_infinity_add_up,
            laws.what_dominates_is_not_taken_as_attained,
            laws.contradictions_are_reported,
            laws.samples_have_the_declared_law,
            laws.noise_is_calibrated_exactly,
            laws.the_checker_accepts,
            rules.rules_conclude_what_their_theorems_say,
            rules.rules_know_their_premises,
        )
    },
}
"""The checks by name, in the order in which they are asked."""

OWN = [name for name, check in CHECKS.items() if check.__module__ != __name__]
"""The checks that are no tests of other folders."""
