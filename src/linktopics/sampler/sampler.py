"""Sampler: a generator of states."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from linktopics.errors import EngineError, SamplingError
from linktopics.sampler.corpus import Corpus
from linktopics.sampler.debug import check_shards, check_state, is_on
from linktopics.sampler.partition import slice_state, split, token_indices
from linktopics.sampler.settings import Settings
from linktopics.sampler.shard import Shard, log_rising_factorial
from linktopics.sampler.shard_pool import Engine, LocalShardPool, ShardPool, Threads, WorkersLostError
from linktopics.sampler.state import State, count_topics
from linktopics.sampler.weights import WeightSampler

RECOVERY_EVERY = 10
"""Iterations after which a chain whose workers may be lost fetches their states, to restart from there."""

MAX_WORKER_LOSSES = 5
"""How often workers may be lost before a chain gives up, without one state fetched in between."""


class Sampler:
    """Iterates over the states of a chain: ``for state in Sampler(corpus, settings, state)``.

    One state object is changed in place and yielded after every iteration; the loop around it decides when to stop,
    what to keep and what to show. An iteration draws the weights, the topics of all tokens and the augmented variables,
    in the paper's order.

    With several shards (``settings.n_shards``) the documents of a shard see the words and topics of other shards as of
    the end of the last iteration. Their states are collected by `gather`; until then only the state's scalars,
    weights and priors are up to date. The engine that runs the shards has no influence on the result.

    Parameters
    ----------
    corpus : Corpus
        Documents and pairs.
    settings : Settings
        The model.
    state : State
        The state to start from.
    engine : Engine, optional
        The engine that runs the shards; by default this thread.

    Attributes
    ----------
    seconds : dict of str to float
        Time spent on "topics", "augmented" variables and "weights" so far.
    pool : ShardPool
        The running shards.
    """

    def __init__(self, corpus: Corpus, settings: Settings, state: State, engine: Engine | None = None) -> None:
        self.corpus = corpus
        self.settings = settings
        self.state = state
        K, F, symmetric = settings.n_topics, corpus.n_features, corpus.symmetric
        kind, variance, method = settings.weights, settings.weight_variance, settings.weight_method
        self.weight_sampler = WeightSampler(K, F, kind, symmetric, variance, method)
        self.seconds = {"topics": 0.0, "augmented": 0.0, "weights": 0.0}
        self.parts = split(corpus, settings.n_shards)
        self.pool: ShardPool = (engine or Threads()).start(self.parts, settings, self._partition_states())
        self._in_one_partition = not self.pool.remote and len(self.parts) == 1
        self._snapshot = self._snapshot_values()  # with the state's arrays, to be restored if workers are lost
        self._stale = False  # whether the state's arrays are behind those of the shards
        self._n_losses = 0
        self._checks = is_on()
        self._recovering(self.pool.all_to_all, "send_topics", "receive_topics")

    def __iter__(self) -> Iterator[State]:
        while True:
            self.step()
            self.gather()
            yield self.state

    def step(self) -> None:
        """Do one iteration."""
        self._recovering(self._iterate)
        state = self.state
        if not np.isfinite(state.log_joint):
            raise SamplingError(
                f"the log joint is {state.log_joint} after iteration {state.iteration}: scores or weights "
                "overflowed, because costs, the weight variance or the margin are extreme; use smaller values."
            )
        if self._checks:
            self.check()
        if self.pool.remote and state.iteration - self._snapshot["iteration"] >= RECOVERY_EVERY:
            self.gather()

    def check(self) -> None:
        """Count everything again and compare; raise `SamplingError` where anything differs (see `debug`)."""
        self.gather()
        check_state(self.corpus, self.state, self.settings)
        snapshots = self._recovering(self.pool.call_all, "debug_snapshot")
        check_shards(self.corpus, self.state, self.settings, self.parts, snapshots)

    def gather(self) -> None:
        """Update the arrays of the state from those of all shards."""
        state = self.state
        if self._in_one_partition or not self._stale:
            return
        kept = self._recovering(self.pool.call_all, "snapshot")
        state.assignments = np.empty_like(state.assignments)
        state.augmented = np.empty_like(state.augmented)
        for part, (assignments, augmented, rng, stream) in zip(self.parts, kept, strict=True):
            state.assignments[token_indices(self.corpus.start, part.documents)] = assignments
            state.augmented[part.pairs[: part.n_own_pairs]] = augmented
            state.generators[part.number].bit_generator.state = rng
            state.streams[part.number] = stream
        counts = count_topics(self.corpus, state.assignments, self.settings.n_topics)
        state.doc_topic, state.word_topic, state.topic_total = counts
        self._snapshot = self._snapshot_values()
        self._stale = False
        self._n_losses = 0

    @property
    def shard(self) -> Shard:
        """The only shard of a chain that is not split."""
        assert isinstance(self.pool, LocalShardPool)
        (shard,) = self.pool.shards
        return shard

    def close(self) -> None:
        """Release the workers of the pool."""
        self.pool.close()

    def refresh(self) -> None:
        """Draw the augmented variables given all else, as at the end of an iteration."""
        if self.corpus.n_pairs:
            self.pool.cast("project")
            self.pool.call_all("augment")
            self.pool.all_to_all("send_sums", "receive_sums")
            self._stale = True
            self.gather()

    # ----------------------------------------------------------------------------------------------------------------
    # An iteration
    # ----------------------------------------------------------------------------------------------------------------

    def _iterate(self) -> None:
        state, pool = self.state, self.pool
        self._stale = True
        clock = time.perf_counter()
        if self.corpus.n_pairs:
            pool.cast("update_gaussian")
            self.draw_weights()
            clock = self._record_seconds("weights", clock)
        pool.call_all("sweep", state.weights, state.feature_weights, state.priors)
        pool.all_to_all("send_counts", "receive_counts")
        clock = self._record_seconds("topics", clock)
        if self.corpus.n_pairs:
            state.log_links = float(sum(pool.call_all("augment")))
            self._record_seconds("augmented", clock)
        pool.all_to_all("send_sums", "receive_sums")
        state.iteration += 1
        state.log_joint = self.log_joint()

    def draw_weights(self) -> None:
        """Redraw the weights of topics and of features given topics and augmented variables."""
        state, call = self.state, partial(self.pool.call_all, "sums")
        state.weights, state.feature_weights = self.weight_sampler.draw(call, state.weights, state.feature_weights)

    def log_joint(self) -> float:
        """Return log p(words, topics) + log p(weights) + the state's log pseudo-likelihood of the links."""
        corpus, state, settings = self.corpus, self.state, self.settings
        K, priors = settings.n_topics, state.priors
        parts, totals = zip(*self.pool.call_all("log_densities"), strict=True)
        value = float(np.sum(parts, axis=0).sum())
        mass = priors.beta * corpus.n_words + corpus.seeds.mass(K)
        state.topic_total = totals[0]
        value -= float(log_rising_factorial(state.topic_total[:K], mass).sum())
        if not corpus.n_pairs:
            return value
        if settings.weights == "diagonal":
            free = np.diag(state.weights)
        else:
            free = state.weights[np.triu_indices(K)] if corpus.symmetric else state.weights.reshape(-1)
        free = np.append(free, state.feature_weights)
        variance = settings.weight_variance
        value -= 0.5 * float(free @ free / variance + len(free) * np.log(2 * np.pi * variance))
        return value + state.log_links

    # ----------------------------------------------------------------------------------------------------------------
    # Workers that are lost
    # ----------------------------------------------------------------------------------------------------------------

    def _partition_states(self) -> list[State]:
        return [slice_state(self.state, part, self.corpus) for part in self.parts]

    def _snapshot_values(self) -> dict[str, Any]:
        state = self.state
        names = ("iteration", "weights", "feature_weights", "topic_total", "log_joint", "log_links")
        return {name: getattr(state, name) for name in names}

    def _recovering(self, run: Any, *args: Any) -> Any:
        """Return ``run(*args)``; if workers are lost, go back to the last gathered state and repeat what followed."""
        goal, lost = self.state.iteration, False
        while True:
            try:
                if lost:
                    self._restore_snapshot()
                while self.state.iteration < goal:
                    self._iterate()
                return run(*args)
            except WorkersLostError as error:  # noqa: PERF203
                lost = True
                self._n_losses += 1
                if self._n_losses > MAX_WORKER_LOSSES:
                    raise EngineError(
                        f"workers were lost {self._n_losses} times since iteration {self._snapshot['iteration']}, and "
                        f"the run was given up: {error}. Look at the logs of the cluster; memory is the usual reason."
                    ) from error

    def _restore_snapshot(self) -> None:
        """Go back to the last gathered state; priors have not changed since."""
        for name, value in self._snapshot.items():
            setattr(self.state, name, value)
        self.pool.restart(self._partition_states())
        self.pool.all_to_all("send_topics", "receive_topics")

    def _record_seconds(self, step: str, since: float) -> float:
        now = time.perf_counter()
        self.seconds[step] += now - since
        return now
