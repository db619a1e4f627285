"""Counts of topics."""

from __future__ import annotations

from linktopics.kernels._compile import kernel


@kernel
def add_up(start, words, assignments, doc_topic, word_topic, topic_total):
    """Add 1 to doc_topic[i, t], word_topic[w, t] and topic_total[t] for every token, of word w, document i and topic t.

    It equals ``np.add.at(doc_topic, (np.repeat(np.arange(len(start) - 1), np.diff(start)), assignments), 1)``,
    ``np.add.at(word_topic, (words, assignments), 1)`` and ``np.add.at(topic_total, assignments, 1)``, which would need
    arrays of 64-bit numbers as long as the tokens.
    """
    for i in range(len(start) - 1):
        for n in range(start[i], start[i + 1]):
            doc_topic[i, assignments[n]] += 1
            word_topic[words[n], assignments[n]] += 1
            topic_total[assignments[n]] += 1
