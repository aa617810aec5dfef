"""The ideal that measured work is compared with."""

from collections.abc import Iterable

from gigavqa.contract.models import InferenceRequest, Sampling, Turn
from gigavqa.tiling.views import View
from performance.ideal import Run, ideal

T = 1000
FULL, PART = View(image="a.png"), View(image="a.png", region="pct:0,0,50,50")


def tokens_of(part: str | View, num_images: int) -> Iterable[Run]:
    """A view of a whole image has T tokens and another one T / 4; a letter of text is one token, a role none."""
    if isinstance(part, View):
        return [(str(part), T if part.region == "full" else T // 4)]
    return [] if part.startswith("<") else [(letter, 1) for letter in part]


def request(name: str, *turns: Turn) -> InferenceRequest:
    """A request of these turns."""
    fields = {"request_id": name, "sample_id": name, "model": "m", "protocol": "P", "condition": "V2"}
    return InferenceRequest.model_validate({**fields, "turns": turns, "sampling": Sampling()})


def test_a_shared_beginning_is_prefilled_once() -> None:
    """A picture before two questions costs its tokens once; each question costs what follows the letters they share."""
    asked = [request(name, Turn(parts=(FULL, f"what {name}"))) for name in ("xyz", "xaa")]
    found = ideal(asked, tokens_of)
    assert (found.sent_tokens, found.prefilled_tokens) == (2 * T + 16, T + 8 + 2)
    assert (found.shown, found.rasters, found.encoded_tokens) == (2, 1, T)


def test_a_picture_behind_another_beginning_is_prefilled_again_and_encoded_once() -> None:
    """As local evidence is, alone and beside the full image."""
    asked = [request("alone", Turn(parts=(PART, "?"))), request("beside", Turn(parts=(FULL, PART, "?")))]
    found = ideal(asked, tokens_of)
    assert found.prefilled_tokens == T // 4 + 1 + T + T // 4 + 1
    assert (found.rasters, found.encoded_tokens) == (2, T + T // 4)


def test_later_turns_prefill_what_was_said_since() -> None:
    """Every turn is a prompt with all that came before; answers are those of the model, or given."""
    asked = [request("r", Turn(parts=(FULL, "one")), Turn(parts=("two",), given="GIVEN"), Turn(parts=("three",)))]
    found = ideal(asked, tokens_of, {"r": ("abcd", "not this", "nor this")})
    assert found.prompts == 3
    assert found.prefilled_tokens == T + 3 + 4 + 3 + 5 + 5
    assert found.sent_tokens == 3 * T + 3 * 3 + 2 * (4 + 3) + 5 + 5


def test_an_equal_prompt_costs_its_last_token() -> None:
    """No engine answers without computing anything."""
    asked = [request(name, Turn(parts=(FULL, "what"))) for name in ("a", "b")]
    assert ideal(asked, tokens_of).prefilled_tokens == T + 4 + 1


def test_only_whole_blocks_are_found_again() -> None:
    """Of a beginning of 1005 tokens that two prompts share, the second finds ten blocks of a hundred."""
    asked = [request(name, Turn(parts=(FULL, f"what {name}"))) for name in ("xyz", "abc")]
    found = ideal(asked, tokens_of, block_tokens=100)
    assert found.prefilled_tokens == 1008 + 3
    assert found.prefilled_in_blocks == 1008 + 8
