"""Fixtures shared by all tests."""

import os
import signal
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # such processes ignore Ctrl-C, and so would those that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
)
"""Tests that take longest, of which a quicker one is left beside most: the marker ``long``."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that take long; ``pytest -m long`` runs them."""
    for item in items:
        if item.nodeid.endswith(LONG):
            item.add_marker(pytest.mark.long)
