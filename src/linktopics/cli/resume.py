"""Continue a run, or add sweeps or samples."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from linktopics.cli import options
from linktopics.cli.options import count
from linktopics.cli.output import print_lines
from linktopics.errors import DataError

EXAMPLE = "linktopics resume my-model --burn-in 500"

BURN_IN_HELP = "Sweeps of burn-in to add; samples drawn so far are then replaced by new ones."
SAMPLES_HELP = "Samples per chain to add; with --burn-in, to draw (default as many as there were)."


def resume(
    model: options.Model,
    burn_in: Annotated[int, count(BURN_IN_HELP, min=0)] = 0,
    samples: Annotated[int | None, count(SAMPLES_HELP)] = None,
    jobs: options.Jobs = None,
    engine: options.Engine = None,
    address: options.Address = None,
    checkpoint_every: options.CheckpointEvery = None,
    checkpoint_minutes: options.CheckpointMinutes = None,
    quiet: options.Quiet = False,
    check: options.Check = False,
    debug: options.Debug = False,
) -> None:
    """Continue a run that was stopped, or add burn-in or samples to one that is finished.

    If the last checkpoint is damaged, the one before it is loaded, with
    a warning; the finished model is the same.
    """
    from linktopics.cli.runs import check_settings, is_finished, reporting_interrupts, show_fit, training_options
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.sampler.debug import debug_checks
    from linktopics.storage.folder import ModelFolder

    chosen = options.given(
        engine=engine, address=address, checkpoint_every=checkpoint_every, checkpoint_minutes=checkpoint_minutes
    )
    options.check_values(chosen)
    folder, more = ModelFolder(model), bool(burn_in or samples)
    training = training_options(chosen, folder)
    if not more and is_finished(folder):
        folder.remove_leftovers()
        raise _finished(model)
    with debug_checks(check), folder.locked(overwrite=True, make=False), reporting_interrupts(folder):
        fitted = RelationalTopicModel.load(model, unfinished=True)
        fitted.set_params(n_jobs=-1 if jobs is None else jobs, verbose=False if quiet else "auto")
        check_settings(fitted)
        if not more and fitted.training_run.finished:  # the checkpoint before a damaged one
            raise _finished(model)
        done = min(chain.state.iteration for chain in fitted.training_run.chains)
        print_lines(f"{model}: {options.describe_size(fitted.training_run.network)}, from sweep {done:,} on")
        started = time.perf_counter()
        fitted.resume(burn_in, samples, **training)
    show_fit(fitted, model, time.perf_counter() - started)


def _finished(model: Path) -> DataError:
    return DataError(
        f"{model}: the run is finished; add burn-in with --burn-in N, or samples with --samples N, to continue."
    )
