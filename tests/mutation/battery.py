"""All checks by name: what has to catch the mutants. Most are tests of other folders, run with a defect planted."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

import tests.accounting.amplification.test_pure_samples as pure_samples
import tests.accounting.amplification.test_sampled_parts as sampled_parts
import tests.accounting.amplification.test_selection as selection
import tests.accounting.amplification.test_shuffling as shuffling
import tests.accounting.engines.test_few_outcomes as few_outcomes
import tests.accounting.test_budgets_of_rho as budgets_of_rho
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
import tests.noise.test_permute_and_flip as flips
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


def whole(test: Callable[..., None]) -> Callable[[], None]:
    """Return a check that runs every member of a test."""

    def check() -> None:
        for arguments in members(test):
            test(**arguments)

    return check


def words(test: Callable[..., None]) -> str:
    """Return the name of a test or of a check as a sentence."""
    return test.__name__.removeprefix("test_").replace("_", " ")


OF_TESTS = (
    folding.test_a_tree_protects_what_its_weakest_part_protects,
    conditions.test_conditions_merge_by_kind_and_what_they_are_about_whatever_their_words,
    claims.test_a_stronger_model_implies_a_weaker_one_and_never_the_reverse,
    of_losses.test_a_negative_distance_is_refused,
    folding.test_a_sensitivity_for_other_neighbours_is_refused_by_label,
    of_losses.test_reversing_twice_gives_the_loss_back,
    of_losses.test_group_of_a_black_box_is_the_textbook_geometric_sum,
    folding.test_dominance_prunes_within_a_family_only,
    traces.test_the_same_noise_under_two_labels_is_found_even_when_rescaled,
    of_losses.test_composition_counts_equal_losses_once_and_drops_harmless_ones,
    choices.test_two_records_of_one_person_meet_each_option_twice,
    conditions.test_every_condition_of_the_tree_is_there_once,
    matrices.test_joint_sensitivity_of_unit_records_has_its_known_values,
    engines.test_basic_epsilon_is_exact_at_the_accumulated_mass,
    folding.test_a_group_over_parts_of_mixed_noise_is_refused,
    certificates.test_an_unannotated_group_or_cell_array_costs_the_printed_argument_what_it_costs,
    traces.test_a_run_that_does_what_it_declares_has_no_findings,
    engines.test_renyi_moments_of_laplace_noise_have_their_known_epsilon,
    samples.test_no_pair_is_known_from_below_where_a_sample_of_an_ordered_loss_is_sampled,
    traces.test_each_difference_is_found_by_its_rule,
    folding.test_a_group_over_parts_of_bounded_loss_uses_the_group_property_of_the_whole,
    of_losses.test_a_discrete_loss_whose_probabilities_do_not_sum_to_one_is_refused,
    folding.test_pure_parts_add_up_exactly_at_delta_zero,
    folding.test_an_adaptive_choice_between_incomparable_parts_is_not_taken_for_the_worse_of_them,
    sampled_parts.test_what_is_not_proved_is_refused_by_name,
    folding.test_replacing_a_record_touches_two_cells_and_removing_it_one,
    of_losses.test_randomised_response_is_a_discrete_loss_with_two_atoms,
    folding.test_a_bad_node_cannot_exist,
    choices.test_a_gaussian_option_is_cut_into_as_many_pieces_as_the_other_has_parts,
    choices.test_unequal_numbers_of_options_pair_as_far_as_they_go,
    certificates.test_a_stated_budget_above_the_claim_is_not_proved_and_never_refuted,
    trees.test_a_gaussian_tree_costs_the_root_of_its_levels,
    trees.test_prefixes_are_sums_of_disjoint_nodes_and_can_be_taken_apart_again,
    interchange.test_replacing_without_the_factor_two_would_be_seen,
    curves.test_the_sampled_gaussian_has_its_divergence_both_ways,
    filters.test_the_gaussian_filter_loses_nothing_against_parts_fixed_in_advance,
    certificates.test_a_joint_proof_does_not_certify_a_central_claim,
    trees.test_an_element_touches_the_nodes_that_cover_it_and_the_first_touches_most,
    folding.test_gaussian_composition_matches_fifty_digit_values,
    choices.test_a_choice_that_is_made_once_costs_its_worst_option,
    certificates.test_noise_at_the_claim_is_certified_and_one_part_in_a_million_less_is_refuted,
    certificates.test_an_argument_that_ends_above_the_claim_is_not_valid,
    filters.test_each_filter_ends_where_its_theorem_says,
    odometers.test_at_the_boundary_the_mixture_of_supermartingales_has_reached_one_over_delta,
    witnesses.test_a_violated_condition_leaves_no_upper_bound,
    engines.test_a_thousand_black_boxes_cost_their_binomial_sum,
    pure_samples.test_a_stated_part_on_a_sample_is_known_atom_by_atom,
    certificates.test_slack_factors_of_ten_thousand_rounds,
    matrices.test_no_symmetric_direction_costs_more_than_the_stated_mu_and_the_worst_pair_costs_it,
    peer_bugs.test_b1_noise_given_as_an_integer_is_not_ignored,
    single.test_the_worst_alternative_counts_for_every_set_of_engines_wherever_it_stands,
    sampled_parts.test_several_releases_in_one_sample_are_composed_first,
    few_outcomes.test_every_end_of_random_atoms_is_on_its_side_of_the_sum_of_all_outcomes,
    interchange.test_two_hundred_events_survive_the_round_trip_exactly,
    folding.test_a_gaussian_group_is_one_gaussian_with_the_sensitivity_times_its_size,
    certificates.test_a_printed_argument_that_holds_is_valid_and_each_way_to_break_it_is_named,
    trees.test_the_dynamic_program_finds_what_enumeration_finds,
    engines.test_every_engine_brackets_delta_on_a_mixture,
    choices.test_no_adaptive_way_of_choosing_exceeds_the_bound,
    sampled_parts.test_a_person_of_several_records_meets_a_binomial_mixture,
    contract.test_the_stated_loss_of_a_number_is_that_of_its_density,
    choices.test_both_orders_of_a_choice_are_reversed,
    shuffling.test_the_worst_data_set_of_few_users_is_counted_out,
    shuffling.test_no_data_set_of_a_few_reports_exceeds_the_upper_side,
    shuffling.test_a_shuffled_table_rests_on_its_two_values,
    flips.test_no_scores_of_many_candidates_have_a_larger_divergence_than_two,
    budgets_of_rho.test_a_part_without_a_rho_and_a_budget_on_a_sample_are_refused,
    budgets_of_rho.test_a_budget_has_its_rho_and_what_follows_from_it,
    selection.test_divergences_of_gaussian_runs_have_an_upper_end,
)
"""Tests of other folders, the quick ones first."""

OWN = (
    laws.both_orders_of_the_neighbours_count,
    laws.many_masses_at_infinity_add_up,
    laws.what_dominates_is_not_taken_as_attained,
    laws.contradictions_are_reported,
    laws.samples_have_the_declared_law,
    laws.noise_is_calibrated_exactly,
    rules.rules_conclude_what_their_theorems_say,
    rules.rules_know_their_premises,
)
"""The checks that are no tests of other folders."""

CHECKS: dict[str, Callable[[], None]] = {words(test): whole(test) for test in (*OF_TESTS, *OWN)}
"""The checks by name, in the order in which they are asked."""
