"""What a model sums up for the board: one text, or many that do not fit in one question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from officellm_team.board.errors import BoardError
from officellm_team.board.helpers import Summarizer
from officellm_team.board.store import Board
from officellm_team.board.texts import MAX_CONTENT, searchable

#: A question to a model has at most so many characters of what is summed up.
PIECE = 40_000


def summarizer(board: Board, what: str) -> Summarizer:
    """The model. Raises `BoardError`."""
    if board.helpers.summarizer is None:
        raise BoardError(
            "not_configured",
            f"{what} needs a model.",
            hint="Run it in a team whose board was given a model; nothing was changed.",
        )
    return board.helpers.summarizer


def sum_up(ask: Summarizer, instruction: str, texts: Sequence[str]) -> str:
    """One summary; of summaries, where the texts are too long for one question. Raises `BoardError` if it is empty."""
    pieces = list(_pieces(texts))
    summaries = [ask(f"{instruction} Answer with the summary only.\n\n{piece}").strip() for piece in pieces]
    while len(summaries) > 1:
        pieces = list(_pieces([one[: PIECE // 4] for one in summaries]))
        summaries = [ask(f"{instruction} These are summaries of its parts.\n\n{piece}").strip() for piece in pieces]
    summary = searchable("".join(summaries))[:MAX_CONTENT]
    if not summary:
        raise BoardError("invalid_state", "the model answered with an empty summary; nothing was changed.")
    return summary


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    piece = ""
    for text in texts:
        for start in range(0, max(1, len(text)), PIECE):
            part = text[start : start + PIECE]
            if piece and len(piece) + len(part) > PIECE:
                yield piece
                piece = ""
            piece += f"{part}\n\n"
    if piece:
        yield piece
