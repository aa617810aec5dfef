"""S0, direct question answering: question, options, and the form of the answer (section 4.3, appendix D.2)."""

from evaluation.ultravr.conditions import CONTEXT_VERSION, Showing
from evaluation.ultravr.prompts.texts import read_texts
from evaluation.ultravr.samples import Sample
from jobs.models import Turn

_TEXTS = read_texts("s0")


class DirectQuestion:
    """S0. Without an image the prompt says that abstaining is allowed (appendix D.1, V0)."""

    version = f"{_TEXTS['version']}+{CONTEXT_VERSION}"

    def turns(self, sample: Sample, showing: Showing) -> tuple[Turn, ...]:
        """One turn: context, question, options, form of the answer."""
        parts = [showing.context, _TEXTS["question"].format(question=sample.question.strip())]
        if sample.options:
            parts.append(_options(sample.options))
            parts.append(_TEXTS["answer_letter"].format(letters=_listed(list(sample.options))))
        else:
            parts.append(_TEXTS["answer_coordinate"])
        if not showing.views:
            parts.append(_TEXTS["abstention"])
        return (Turn(text="\n\n".join(parts)),)


def _options(options: dict[str, str]) -> str:
    lines = [_TEXTS["option"].format(letter=letter, text=text) for letter, text in options.items()]
    return "\n".join([_TEXTS["options_heading"], *lines])


def _listed(letters: list[str]) -> str:
    return f"{', '.join(letters[:-1])} or {letters[-1]}"
