"""Training: prepare a run, sample and calibrate its chains, and continue with a changed network."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from linktopics.engines import Engine, resolve_engine
from linktopics.errors import ModelError, NetworkWarning
from linktopics.features import fit_features, resolve_features
from linktopics.model.run import TrainingRun, warm_start_state
from linktopics.model.seed_words import resolve_seed_words
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import check_sizes
from linktopics.network.pairs import sample_pairs
from linktopics.prediction.calibration import LinkCalibration, n_documents_to_hold_out
from linktopics.prediction.held_out_calibration import measure
from linktopics.sampler import Corpus, Priors, Sampler, Settings
from linktopics.sampler.runner import MAX_CHAIN_SWEEPS, Chain, Schedule, quantities, run_chains, start_chains
from linktopics.storage import Checkpoint, CheckpointWriter, ModelFolder, RunWriter

DEFAULT_LINK_COST = {"full": 4.0, "diagonal": 16.0}

CALIBRATION_SCHEDULE = Schedule(n_burn_in=20, n_samples=4, thin=5)
"""Schedule of the chains that continue without the held-out documents; they draw no more samples than the model."""

Parameters = Mapping[str, Any]
"""Parameters of `RelationalTopicModel` by name, as `get_params` returns them."""


def model_settings(parameters: Parameters, n_documents: int) -> Settings:
    """Return the settings of the sampler, as Python numbers: sums of short NumPy numbers may overflow."""
    weights, cost = parameters["weights"], parameters["link_cost"]
    return Settings(
        n_topics=int(parameters["n_topics"]),
        loss=parameters["loss"],
        weights=weights,
        exact=parameters["sampler"] == "exact",
        link_cost=float(DEFAULT_LINK_COST[weights] if cost is None else cost),
        weight_method="auto",
        n_shards=min(int(parameters["n_shards"]), n_documents),
        **{name: float(parameters[name]) for name in ("alpha", "beta", "weight_variance", "nonlink_cost", "margin")},
    )


def prepare_run(
    parameters: Parameters, network: DocumentNetwork, seed: np.random.SeedSequence, *, start: bool = True
) -> TrainingRun:
    """Return a run that is ready to begin; without `start` it has no chains yet."""
    given = resolve_features(parameters["pair_features"], parameters["intercept"])
    settings = model_settings(parameters, network.n_documents)
    seeds = resolve_seed_words(parameters["seed_words"], parameters["seed_weight"], settings.n_topics, network)
    check_sizes(network, seeds.amount.max(initial=0.0))
    for_pairs, for_inference, *for_chains, for_features = seed.spawn(3 + int(parameters["n_chains"]))
    rng, negatives = np.random.default_rng(for_pairs), parameters["negatives"]
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, rng)
    features, values = fit_features(given, network, pairs, settings, for_features, parameters["verbose"])
    corpus = Corpus.build(network.counts, pairs, not network.directed, values, seeds)
    schedule = Schedule(
        **{name: int(parameters[name]) for name in ("n_burn_in", "n_samples", "thin")},
        learn_alpha=parameters["learn_alpha"],
        learn_beta=bool(parameters["learn_beta"]),
    )
    return TrainingRun(
        network=network,
        settings=settings,
        schedule=schedule,
        features=features,
        chains=start_chains(corpus, settings, for_chains) if start else [],
        entropy=np.atleast_1d(np.asarray(seed.entropy, dtype=object)).tolist(),
        inference_seed=int(for_inference.generate_state(1, np.uint64)[0] >> np.uint64(1)),
        n_pairs=corpus.n_pairs,
        quantities=quantities(corpus, features.columns),
        corpus=corpus,
    )


def warm_started_run(
    parameters: Parameters,
    old: TrainingRun,
    chains: list[Chain],
    network: DocumentNetwork,
    seed: np.random.SeedSequence,
) -> TrainingRun:
    """Return a run over a changed network whose chains begin with the states of those of another run."""
    run = prepare_run(parameters, network, seed, start=False)
    corpus, settings = run.load_corpus(), run.settings
    for number, (chain, its_seed) in enumerate(zip(chains, seed.spawn(len(chains)), strict=True)):
        state = warm_start_state(old, corpus, run.network, chain.state, its_seed, settings.n_shards)
        if old.schedule.learn_alpha is None and not old.schedule.learn_beta:  # the parameters may have changed
            state.priors = Priors.even(settings.n_topics, settings.alpha, settings.beta)
        Sampler(corpus, settings, state).refresh()
        run.chains.append(Chain.at(number, state))
    return run


def extended_run(
    parameters: Parameters, old: TrainingRun, best_chain: int, network: DocumentNetwork, n_burn_in: int
) -> TrainingRun:
    """Return a run over a changed network that continues the old one and keeps its reference chain."""
    n_chains = int(parameters["n_chains"])
    seed = np.random.SeedSequence([*old.entropy, len(old.entropy)])
    chains = [old.chains[number % len(old.chains)] for number in range(n_chains)]
    reference = best_chain if best_chain < n_chains else 0
    chains[reference] = old.chains[best_chain]
    run = warm_started_run(parameters, old, chains, network, seed)
    run.reference_chain = reference
    run.schedule = replace(run.schedule, n_burn_in=n_burn_in)
    return run


def train(
    parameters: Parameters,
    run: TrainingRun,
    schedule: Schedule,
    checkpoint: Checkpoint | None,
    writer: Callable[[ModelFolder, TrainingRun], RunWriter],
    engine: str | Engine,
) -> CheckpointWriter | None:
    """Return the writer of checkpoints, after running the chains to the end of the schedule and calibrating the model.

    Parameters
    ----------
    parameters : mapping from str to object
        Parameters of the model.
    run : TrainingRun
        Changed in place.
    schedule : Schedule
        How long the chains run.
    checkpoint : Checkpoint or None
        How often to write checkpoints; None writes none.
    writer : callable
        Writes all of the run to a folder, and returns the `RunWriter` that saves its chains later.
    engine : {"threads", "ray"} or Engine
        What runs the shards of the chains.

    Returns
    -------
    CheckpointWriter or None
        Call its `finish` when the model is fitted; None without `checkpoint`.
    """
    if schedule.length > MAX_CHAIN_SWEEPS:
        raise ValueError(f"a chain would do {schedule.length:,} sweeps; at most {MAX_CHAIN_SWEEPS:,} are allowed.")
    corpus, checkpoints = run.load_corpus(), None
    # An engine that is not available is refused before anything is changed.
    runs_shards = resolve_engine(engine)
    with runs_shards or nullcontext():
        before, run.schedule = (run.schedule, run.calibration), schedule
        if not run.sampled:
            run.calibration = None  # it belongs to other samples
        if checkpoint is not None:
            try:
                checkpoints = CheckpointWriter(writer(checkpoint.folder, run))
            except BaseException:
                run.schedule, run.calibration = before
                raise
        try:
            run_chains(
                corpus,
                run.settings,
                run.chains,
                schedule,
                n_jobs=parameters["n_jobs"],
                verbose=parameters["verbose"],
                keep=None if checkpoints is None else checkpoints.save,
                keep_every=50 if checkpoint is None else checkpoint.every,
                keep_minutes=None if checkpoint is None else checkpoint.minutes,
                engine=runs_shards,
            )
            if run.calibration is None:
                run.calibration = calibrate(parameters, run)
        except KeyboardInterrupt:
            if checkpoints is not None:
                with suppress(ModelError):  # the writer has already warned
                    checkpoints.finish()
            raise
    return checkpoints


def calibrate(parameters: Parameters, run: TrainingRun) -> LinkCalibration:
    """Return the calibration: the map from the model's own probabilities to those of links in the network."""
    n_held_out = n_documents_to_hold_out(run.network)
    if parameters["calibration"] is None or run.n_pairs == run.network.n_links:
        return LinkCalibration()
    if parameters["calibration"] == "sampling" or not n_held_out:
        return LinkCalibration(run.sampling_offset)
    for_documents, for_chains = np.random.SeedSequence([*run.entropy, len(run.entropy), 1]).spawn(2)
    held_out = np.random.default_rng(for_documents).permutation(run.network.n_documents)[:n_held_out]
    held_out.sort()
    others = np.setdiff1d(np.arange(run.network.n_documents), held_out)
    n_jobs, verbose, schedule = parameters["n_jobs"], parameters["verbose"], CALIBRATION_SCHEDULE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # the whole network has given the same warnings
        reduced_run = warm_started_run(parameters, run, run.counted, run.network.subset(others), for_chains)
        reduced_run.schedule = replace(schedule, n_samples=min(schedule.n_samples, run.schedule.n_samples))
        reduced_run.calibration = LinkCalibration(reduced_run.sampling_offset)
        run_chains(
            reduced_run.load_corpus(),
            reduced_run.settings,
            reduced_run.chains,
            reduced_run.schedule,
            n_jobs=n_jobs,
            verbose=verbose,
            description="calibrating",
        )
        predictor = reduced_run.make_predictor(n_jobs=n_jobs)
        del reduced_run  # free the memory of its tokens, pairs and states
        return measure(run.network, held_out, others, run.sampling_offset, predictor)
