"""Long work in a notebook: a bar while somebody watches, an interrupt that stops it. And the box to paste into."""

import signal
from typing import Any

import pytest

import kit
from kit import notebook
from kit.case.progress import Progress
from kit.notebook.progress import watched


class Case:
    """What is watched of a case."""

    def __init__(self):
        self.progress = self.quiet = Progress()
        self.cancelled = 0

    def cancel(self):
        self.cancelled += 1

    def resume(self): ...


@pytest.mark.parametrize("interactive", [True, False])
def test_a_bar_only_where_somebody_watches(interactive, capsys):
    case: Any = Case()
    with watched(case, "en", interactive):
        case.progress.begin("reading")
        case.progress.begin("asking", 3)
        for _ in range(3):
            case.progress.step()
    said = capsys.readouterr()
    assert said.out == "" and ("Examining the causes" in said.err) is interactive
    assert case.progress is case.quiet


def test_an_interrupt_stops_the_jobs_and_leaves_everything_as_it_was():
    case: Any = Case()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), watched(case, "en", interactive=True):
        case.progress.begin("asking", 3)
        signal.raise_signal(signal.SIGINT)
    assert case.cancelled == 1 and case.progress is case.quiet
    assert signal.getsignal(signal.SIGINT) is before
    with watched(case, "en", interactive=False):
        pass  # and again
    assert case.cancelled == 1


def test_a_line_is_explained_in_a_table():
    text = "putMessage message topic length too long 149\n<b>x</b> CODE: 9999"
    table = notebook.explained(text)
    assert list(table.frame["meaning"]) == [row["meaning"] for row in kit.explain(text)]
    assert "<b>" not in table.as_html() and notebook.explained("", "zh").as_html()
