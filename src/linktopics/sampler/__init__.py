"""The chain: what it reads (Corpus), what changes (State), and the generator of states (Sampler)."""

from linktopics.sampler.corpus import Corpus, Seeds, tokens
from linktopics.sampler.partition import Partition
from linktopics.sampler.priors import Priors, learn_alpha, learn_beta
from linktopics.sampler.sampler import Sampler
from linktopics.sampler.settings import Settings
from linktopics.sampler.shard import Shard
from linktopics.sampler.state import State, count_topics, initial_state, random_states

__all__ = [
    "Corpus",
    "Partition",
    "Priors",
    "Sampler",
    "Seeds",
    "Settings",
    "Shard",
    "State",
    "count_topics",
    "initial_state",
    "learn_alpha",
    "learn_beta",
    "random_states",
    "tokens",
]
