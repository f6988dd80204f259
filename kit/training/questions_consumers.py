"""Lab 86, consumer groups: recordings of what goes wrong with them and their harmless twins, in no order."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.training.bench import Bench
from kit.training.question import Lab, Question
from kit.training.questions_mixed import facts, of_evidence

HINT: Final = T(
    "Which queues lag: all, some or none? Do their offsets move? Who pulls each of them, and what does that client subscribe to?"
)


def questions(bench: Bench) -> tuple[Question, ...]:
    return tuple(of_evidence(bench, n, 86, HINT) for n in range(1, len(bench.paths) + 1))


LAB: Final = Lab(86, T("What became of the messages?"), questions, facts, several=True)
