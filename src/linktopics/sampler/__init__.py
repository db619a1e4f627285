"""The chain: what it reads (Corpus), what changes (State), and the generator of states (Sampler)."""

from linktopics.sampler.chain import Sampler, Settings
from linktopics.sampler.corpus import Corpus, Seeds, tokens
from linktopics.sampler.priors import Priors, learn_alpha, learn_beta
from linktopics.sampler.state import State, count_topics, initial_state

__all__ = [
    "Corpus",
    "Priors",
    "Sampler",
    "Seeds",
    "Settings",
    "State",
    "count_topics",
    "initial_state",
    "learn_alpha",
    "learn_beta",
    "tokens",
]
