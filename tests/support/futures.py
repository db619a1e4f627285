"""Answers of queues and workers as futures."""

import asyncio


def answer_to(ask, question):
    """Return the answer to a question as a future."""
    future = asyncio.get_running_loop().create_future()
    ask(question, lambda answer: future.set_result(answer))
    return future
