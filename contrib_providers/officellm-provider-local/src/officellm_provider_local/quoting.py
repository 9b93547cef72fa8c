"""Answers from tool results by quoting them: the sentence that the question fits best, word for word. Writes nothing.

Which sentence that is, the model's own likelihood says: the one that the question makes more probable than any other.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

from officellm import ToolResult
from officellm_provider_local.model import Counts, Model

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?!\s|$)[^.!?\n]*)*[.!?]*")
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_QUOTED = re.compile(r'(?:[\w-]+: )?"(.+)"')
_WORD = re.compile(r"\w+")
#: Weighed at most, those that share the most words with the question; and how much of each and of the question.
_SENTENCES = 12
_CHARS = 300


def quoted(model: Model, question: str, results: Sequence[ToolResult], stop: threading.Event) -> tuple[str, Counts]:
    """One line a result: its best sentence in quotation marks, after the tool's name where there are several results.

    Blocks. Raises `FaultError` and `Stopped`.
    """
    lines: dict[str, str] = {}
    spent = Counts()
    for result in results:
        sentence, counts = _best(model, question[:_CHARS], sentences(result.content), stop)
        spent += counts
        if sentence and sentence not in lines:
            lines[sentence] = result.name
    if len(lines) < 2:
        return "".join(f'"{sentence}"' for sentence in lines), spent
    return "\n".join(f'{name}: "{sentence}"' for sentence, name in lines.items()), spent


def sentences(text: str) -> list[str]:
    """The sentences of a text; of one that is made of quotations, the quotations."""
    quotations = [_QUOTED.fullmatch(line) for line in text.splitlines() if line.strip()]
    if quotations and all(quotations):
        return [quotation[1] for quotation in quotations if quotation]
    found = [match.strip(" \t-*>|") for match in _SENTENCE.findall(_HEADING.sub("", text))]
    return list(dict.fromkeys(sentence for sentence in found if _WORD.search(sentence)))


def _best(model: Model, question: str, offered: Sequence[str], stop: threading.Event) -> tuple[str, Counts]:
    if len(offered) < 2:
        return (offered[0] if offered else ""), Counts()
    asked = set(_WORD.findall(question.casefold()))
    near = sorted(offered, key=lambda sentence: -len(asked & set(_WORD.findall(sentence.casefold()))))[:_SENTENCES]
    best, most, spent = "", float("-inf"), Counts()
    for sentence in near:
        shown = sentence[:_CHARS]
        asked_for, first = model.likelihood(f"Question: {question}\nAnswer: ", shown, stop)
        anyway, second = model.likelihood("Question: What is it?\nAnswer: ", shown, stop)
        spent += first + second
        if asked_for - anyway > most:
            best, most = sentence, asked_for - anyway
    return best, spent
