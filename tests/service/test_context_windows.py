"""What is refused because no engine could answer it, and that nothing else is."""

import pytest

from gigavqa.catalogue.entry import MAX_PROMPT_IMAGES, MIN_ANSWER_TOKENS
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.requests import InferenceRequest, Sampling, Turn
from gigavqa.service.submission.context_windows import ContextCheck
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.service.gateways import MODEL

SIZE = Size(640, 480)
ENTRY = load_catalogue()[MODEL]
VISUAL = ENTRY.visual_budget.plan(SIZE).visual_tokens


def chat(num_turns: int, words: int, num_views: int = 1, max_tokens: int = 16) -> InferenceRequest:
    """A chat about pictures of 640 x 480 pixels, whose questions have so many words together."""
    first = "word " * (words - num_turns + 1)
    return InferenceRequest(
        request_id="chat",
        sample_id="sample",
        model=MODEL,
        protocol="S4",
        condition="V2",
        turns=(
            Turn(parts=(*(View(image=f"town/{number}.png") for number in range(num_views)), first)),
            *(Turn(parts=("Next?",)) for _ in range(1, num_turns)),
        ),
        sampling=Sampling(max_tokens=max_tokens),
    )


@pytest.mark.parametrize(
    ("max_tokens", "answer"), [(16, 16), (MIN_ANSWER_TOKENS, MIN_ANSWER_TOKENS), (8192, MIN_ANSWER_TOKENS)]
)
@pytest.mark.parametrize("num_turns", [1, 2, 12])
def test_a_chat_is_refused_exactly_when_its_last_turn_cannot_fit(num_turns: int, max_tokens: int, answer: int) -> None:
    """Pictures, the words of all questions, one token for each earlier answer, and the least of the last one."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: SIZE)
    words = ENTRY.max_model_len - VISUAL - (num_turns - 1) - answer

    assert contexts.admits(chat(num_turns, words, max_tokens=max_tokens))
    assert not contexts.admits(chat(num_turns, words + 1, max_tokens=max_tokens))
    (refused,) = contexts.findings()
    assert refused.sample == "sample"
    assert f"{answer} of the answer exceed the context of {ENTRY.max_model_len} tokens" in refused.detail


def test_one_cause_is_one_finding_with_a_count_and_the_remedy() -> None:
    """Ninety requests that are too long for one cause are one line, which says what fits the longest of them."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: SIZE)
    words = ENTRY.max_model_len - VISUAL - 100
    for number in range(90):
        assert not contexts.admits(chat(1 + number % 3, words, max_tokens=1000))

    (finding,) = contexts.findings()
    longest = 100 - 2  # two earlier answers
    assert finding.requests == 90
    assert "90 requests" in finding.detail and f"max_tokens {longest} or less fits" in finding.detail
    assert contexts.admits(chat(3, words, max_tokens=longest))


def test_answers_that_the_context_bounds_are_told_with_the_tightest() -> None:
    """Those whose whole `max_tokens` fit are not counted; of a model's others the longest prompt is named."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: SIZE, repeats=5)
    room = ENTRY.max_model_len - VISUAL
    assert all(contexts.admits(chat(1, words, max_tokens=6000)) for words in (room - 6000, room - 5999, room - 2000))
    (told,) = contexts.remarks()
    assert told.startswith(f"{MODEL}: 10 prompts leave less of the context than max_tokens 6000")
    assert told.endswith("the longest, of 'sample', by 2000 tokens at most")


def test_earlier_answers_may_have_been_short() -> None:
    """A chat whose turns could together fill the context several times over is asked all the same."""
    assert ContextCheck({MODEL: ENTRY}, lambda _: SIZE).admits(chat(16, 40, max_tokens=ENTRY.max_model_len // 2))


def test_given_answers_count_with_their_words() -> None:
    """An answer that is put into the history is text as long as it is."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: SIZE)
    given = Turn(parts=("How many people?",), given="there are four of them")
    words = ENTRY.max_model_len - VISUAL - 8 - 16

    for more, fits in ((0, True), (1, False)):
        request = chat(1, words + more)
        assert contexts.admits(request.model_copy(update={"turns": (given, *request.turns)})) is fits


def test_every_picture_counts() -> None:
    """Visual tokens of all views together."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: SIZE)
    words = ENTRY.max_model_len - 2 * VISUAL - 16

    assert contexts.admits(chat(1, words, num_views=2))
    assert not contexts.admits(chat(1, words + 1, num_views=2))


def test_pictures_that_a_family_does_not_crop_count_as_it_shows_them() -> None:
    """Five pictures for DeepSeek-VL2 are 421 tokens each; as large as alone they would not fit its context."""
    entry = load_catalogue()["deepseek-vl2"]
    contexts = ContextCheck({entry.id: entry}, lambda _: Size(9000, 7000))
    request = chat(1, entry.max_model_len - 5 * 421 - 16, num_views=5).model_copy(update={"model": entry.id})

    assert contexts.admits(request)
    assert 5 * entry.visual_budget.plan(Size(9000, 7000)).visual_tokens > entry.max_model_len


def test_more_pictures_than_a_prompt_takes_are_refused_at_once() -> None:
    """All questions about one document are one finding, which names its first page, the count and the limit."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: Size(28, 28))
    for _ in range(3):
        assert not contexts.admits(chat(1, 16, num_views=MAX_PROMPT_IMAGES + 1))
    (finding,) = [one for one in contexts.findings() if "a prompt takes" in one.detail]
    assert finding.detail == "V2 shows 65 pictures, from 'town/0.png' on; a prompt takes 64 at most"
    assert (finding.sample, finding.requests) == ("sample", 3)


def test_pages_that_leave_no_room_are_told_of_the_thumbnails() -> None:
    """Pictures, tokens, context, and the condition that shows the same pages smaller."""
    contexts = ContextCheck({MODEL: ENTRY}, lambda _: Size(1700, 2200))
    count = ENTRY.max_model_len // ENTRY.visual_budget.plan(Size(1700, 2200)).visual_tokens + 1
    assert not contexts.admits(chat(1, 16, num_views=count))
    (finding,) = contexts.findings()
    assert f"of {count} pictures" in finding.detail
    assert finding.detail.endswith("there is no room for an answer of any length; ask V1, which shows them smaller")
