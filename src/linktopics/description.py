"""How a fitted model describes itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics.network import DocumentNetwork
from linktopics.prediction import Predictor


class DescribesTopics:
    """What a fitted `RelationalTopicModel` tells of its topics and of how well it was sampled."""

    network_: DocumentNetwork
    doc_topic_: NDArray[np.float64]
    link_weights_: NDArray[np.float64]
    _predictor: Predictor

    def topics(self, n_words: int = 8) -> pd.DataFrame:
        """Return the topics, most frequent first.

        Parameters
        ----------
        n_words : int, default=8
            Words per topic.

        Returns
        -------
        DataFrame
            Indexed by topic, with columns ``share`` (of all tokens), ``words`` and ``attraction`` (of the topic to
            itself, the diagonal of the weights).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.topics(n_words=3).columns)
        ['share', 'words', 'attraction']
        """
        check_is_fitted(self)
        words = self._predictor.top_words(n_words)
        shares = self.network_.lengths @ self.doc_topic_ / self.network_.n_tokens
        table = pd.DataFrame(
            {"share": shares, "words": [", ".join(row) for row in words], "attraction": np.diag(self.link_weights_)},
            index=pd.RangeIndex(len(words), name="topic"),
        )
        return table.sort_values("share", ascending=False)
