"""Forms of answers: a benchmark whose samples ask for more than one of their options, or in words of its own."""

from typing import Generic

from gigavqa.evaluation.capabilities.capability import DefaultCapability, OfferSampleT
from gigavqa.evaluation.closing_turns import ClosingForm, choice_form
from gigavqa.evaluation.truth_checks import AnswerForm, form_of_options


class AnswerForms(DefaultCapability, Generic[OfferSampleT]):
    """Says in which form a sample's answer is asked for, in the prompt and in a closing turn behind it."""

    def answer_form(self, sample: OfferSampleT) -> AnswerForm:
        """Return what the prompt asks a sample's answer to be, which every truth is held against.

        By default one of the options, by letter or text; else a text.
        """
        return form_of_options(sample)

    def closed_form(self, sample: OfferSampleT, protocol: str) -> ClosingForm | None:
        """In which form a sample's answer can be asked for alone, behind the free one; None where it is of none.

        By default one of the options, by the letter that the protocol shows.
        """
        letters = tuple(sample.options or ())
        return choice_form(letters, lambda letter: letter == sample.truth) if letters else None

    def weighed_answer(self, sample: OfferSampleT, protocol: str) -> str:
        """Return the text whose likelihood says how likely a sample's answer is; '' where there is none.

        By default the letter of the right option, as the protocol shows it, else the truth.
        """
        form = self.closed_form(sample, protocol) if sample.truth else None
        return (form.right_choice if form else None) or sample.truth
