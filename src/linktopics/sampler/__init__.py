"""The chain: what it reads (Corpus), what changes (State), and the generator of states (Sampler)."""

from linktopics.sampler.chain import Sampler, Settings
from linktopics.sampler.corpus import Corpus, tokens
from linktopics.sampler.state import State, count_topics, initial_state

__all__ = ["Corpus", "Sampler", "Settings", "State", "count_topics", "initial_state", "tokens"]
