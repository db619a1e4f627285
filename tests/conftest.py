"""Fixtures shared by all tests."""

import os
import signal
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # such processes ignore Ctrl-C, and so would those that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # which nohup ignores, for all that is started by it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the third-party data sets; tests that need them are skipped where it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LINKTOPICS_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}; set LINKTOPICS_DATA to the folder that holds them")
    return folder


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory) -> Path:
    """Folder for ``$LINKTOPICS_CACHE``, the same for all processes of this run: the library is read into it once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "linktopics-cache"


LONG = (
    "test_extremes.py::test_five_hundred_topics",
    "test_abuse.py::test_abuse_changes_nothing_for_the_others",
    "test_ray.py::test_a_killed_actor_is_replaced_and_the_model_is_the_same",
    "test_ray.py::test_too_few_cpus",
    "test_ray.py::test_two_chains_at_once",
    "test_ray.py::test_the_model_is_the_same[3]",
    "test_ray.py::test_other_losses_and_weights_and_priors_that_are_learned",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[hinge symmetric, features]",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[hinge full, features]",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[logistic symmetric]",
    "test_geweke.py::test_sampler_and_model_agree[symmetric, features, conjugate gradients]",
    "test_geweke.py::test_sampler_and_model_agree[symmetric]",
    "test_enumeration.py::test_frequencies_of_all_configurations[undirected, features]",
    "test_enumeration.py::test_frequencies_of_all_configurations[hinge diagonal]",
    "test_enumeration.py::test_frequencies_of_all_configurations[hinge undirected]",
    "test_enumeration.py::test_frequencies_of_all_configurations[seeds, no pairs]",
    "test_sampler.py::test_nothing_of_size_documents_squared[diagonal-features]",
    "test_serve.py::test_workers_are_replaced_and_end_with_the_server[2]",
    "test_serve.py::test_workers_are_replaced_and_end_with_the_server[15]",
    "test_examples.py::test_example[installed_packages]",
    "test_reproduce.py::test_finished_pieces_are_not_fitted_again[features]",
    "test_reproduce.py::test_weights_of_features",
    "test_without_jit.py::test_plain_python_equals_compiled[diagonal]",
    "test_without_jit.py::test_plain_python_equals_compiled[logistic]",
    "test_words_from_links.py::test_long_documents[hinge]",
    "test_shards.py::test_one_shard_by_default_and_no_more_than_documents",
    "test_geweke.py::test_sampler_and_model_agree[seeds and uneven alpha]",
    "test_enumeration.py::test_frequencies_of_all_configurations[logistic intercept]",
    "test_enumeration.py::test_frequencies_of_all_configurations[seeds and uneven alpha]",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[logistic diagonal, features]",
    "test_examples.py::test_example[see_also]",
    "test_serve.py::test_ends_cleanly[ctrl-c]",
    "test_lanes.py::test_a_worker_that_dies_unasked",
    "test_evaluate.py::test_a_table_in_a_pipe",
    "test_without_jit.py::test_plain_python_equals_compiled[diagonal without features]",
    "test_without_jit.py::test_plain_python_equals_compiled[shards]",
    "test_reproduce.py::test_experiment[features]",
    "test_evaluation.py::test_better_than_chance",
    "test_evaluate.py::test_errors_are_one_sentence[arguments5-linktopics, fold 1: The 'alpha' parameter]",
    "test_enumeration.py::test_frequencies_of_all_configurations[directed, features]",
    "test_reproduce.py::test_experiment[citeseer]",
    "test_reproduce.py::test_experiment[webkb]",
    "test_reproduce.py::test_experiment[sensitivity-alpha]",
    "test_reproduce.py::test_experiment[sensitivity-burnin]",
    "test_reproduce.py::test_experiment[defaults]",
    "test_reproduce.py::test_finished_pieces_are_not_fitted_again[weights]",
    "test_weights.py::test_conjugate_gradients_forget_where_they_start[none-0.0-full]",
    "test_weights.py::test_conjugate_gradients_forget_where_they_start[none-0.0-symmetric]",
    "test_weights.py::test_conjugate_gradients_forget_where_they_start[none-100.0-full]",
    "test_weights.py::test_conjugate_gradients_forget_where_they_start[none-100.0-symmetric]",
    "test_weights.py::test_heavy_tailed_hinge_weights[symmetric-cg-none]",
    "test_weights.py::test_heavy_tailed_hinge_weights[full-cg-none]",
    "test_geweke.py::test_sampler_and_model_agree[diagonal]",
    "test_words_from_links.py::test_topics_from_links[diagonal-logistic-1.0]",
    "test_baselines.py::test_the_ranks_measured_before[cora]",
    "test_enumeration.py::test_frequencies_of_all_configurations[hinge diagonal, features]",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[logistic diagonal]",
    "test_posterior.py::test_iterations_leave_the_posterior_alone[hinge diagonal]",
    "test_going_on.py::test_a_stopped_run_comes_to_the_same_end[learned alpha-2-2]",
    "test_going_on.py::test_a_stopped_run_comes_to_the_same_end[hinge-2-2]",
    "test_datasets.py::test_real_reading_is_deterministic",
    "test_formats.py::test_on_a_terminal[120]",
    "test_variational.py::test_planted_network_is_recovered[{'negatives': 1}]",
    "test_variational.py::test_planted_network_is_recovered[{'n_pseudo': 3000}]",
    "test_plots.py::test_names_of_topics_are_neither_cut_nor_over_each_other[16]",
    "test_plots.py::test_names_of_topics_are_neither_cut_nor_over_each_other[40]",
    "test_index.py::test_the_index_finds_nearly_all[hinge-both]",
    "test_sampler.py::test_nothing_of_size_documents_squared[diagonal-no features]",
)
"""Tests that take longest, of which a quicker one is left beside most: the marker ``long``."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that take long; ``pytest -m long`` runs them."""
    for item in items:
        if item.nodeid.endswith(LONG):
            item.add_marker(pytest.mark.long)
