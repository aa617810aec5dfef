"""What the simulated engine's caches and scheduler do, step by step, and what its steps cost."""

from dataclasses import replace

import pytest

from gigavqa.workers.engines.simulation.encoder_cache import EncoderCache
from gigavqa.workers.engines.simulation.kv_pool import KvPool
from gigavqa.workers.engines.simulation.prompts import SimulatedPrompt, count_tokens
from gigavqa.workers.engines.simulation.roofline import Roofline, StepWork
from gigavqa.workers.engines.simulation.scheduler import Scheduler, SimulatedSequence
from tests.workers.published import PUBLISHED, PublishedMeasurement, T, cold_first_token, decode_rate

ROOFLINE = Roofline.of("h100", "8b")
HYBRID = Roofline.of("h100", "27b")


def prompt(roofline: Roofline, *parts: str | tuple[str, int]) -> SimulatedPrompt:
    """Lay out texts and pictures (key, tokens)."""
    made = SimulatedPrompt(roofline.model.match_tokens)
    for part in parts:
        if isinstance(part, str):
            made.add_text(part)
        else:
            made.add_picture(*part)
    return made


class Asked:
    """A scheduler that is asked one prompt after the other, each in time with what was asked before."""

    def __init__(self, roofline: Roofline) -> None:
        self.roofline = roofline
        self.scheduler = Scheduler(roofline)
        self.now = 0.0
        self._arrivals = 0

    def add(self, *parts: str | tuple[str, int], priority: int = 0, answer: int = 1) -> SimulatedSequence:
        """Let a prompt wait."""
        self._arrivals += 1
        sequence = SimulatedSequence(priority, self._arrivals, prompt(self.roofline, *parts), answer)
        self.scheduler.add(sequence)
        return sequence

    def step(self) -> list[SimulatedSequence]:
        """Take one step; returns what is answered after it."""
        self.now += self.scheduler.step(self.now, 0)
        return self.scheduler.finish(self.now)

    def run(self) -> list[SimulatedSequence]:
        """Answer everything; returns it in the order in which it was done."""
        done: list[SimulatedSequence] = []
        while self.scheduler.waiting or self.scheduler.running:
            done += self.step()
        return done

    def ask(self, *parts: str | tuple[str, int]) -> SimulatedSequence:
        """Answer one prompt."""
        sequence = self.add(*parts)
        self.run()
        return sequence


def test_a_large_picture_costs_more_than_its_parts() -> None:
    """Attention in the vision encoder is quadratic within a picture, and linear over pictures."""
    whole, quarters = ROOFLINE.encoder_seconds((T,)), ROOFLINE.encoder_seconds((T // 4,) * 4)
    assert whole == pytest.approx(1.30, rel=0.02)
    assert quarters == pytest.approx(4 * 0.10, rel=0.02)


def test_small_pictures_share_one_run_of_the_encoder() -> None:
    """A run has a least duration, whatever is in it."""
    assert ROOFLINE.encoder_seconds((64,)) == ROOFLINE.encoder_seconds((64, 64)) == pytest.approx(0.008)


def test_decode_is_bound_by_memory_and_prefill_by_arithmetic() -> None:
    """One token costs a read of all weights and of its context; thirty thousand cost their operations."""
    model = ROOFLINE.model
    read = model.weight_bytes + 1000 * model.kv_bytes
    assert ROOFLINE.seconds(StepWork(decoding=1, context=1000)) == pytest.approx(read / 2.3e12)
    operations = 2 * model.parameters * 30_000 + model.attention * 30_000 * 15_000
    assert ROOFLINE.seconds(StepWork(30_000, 30_000 * 15_000.0)) == pytest.approx(operations / 5.45e14)


def test_chunks_of_a_prompt_cost_what_the_whole_costs() -> None:
    """Attention over what was prefilled before is counted."""
    halves = StepWork(8000, 8000 * (8000 - 4000.0)), StepWork(8000, 8000 * (16_000 - 4000.0))
    whole = StepWork(16_000, 16_000 * (16_000 - 8000.0))
    assert sum(map(ROOFLINE.seconds, halves)) == pytest.approx(ROOFLINE.seconds(whole))


@pytest.mark.parametrize("block", [16, 32, 784])
def test_prompts_share_names_of_blocks_up_to_where_they_differ(block: int) -> None:
    """Whatever the blocks' size: equal tokens have equal names, and no block after the first difference has."""
    roofline = replace(ROOFLINE, model=replace(ROOFLINE.model, block_tokens=block, match_tokens=block))
    one, other = (prompt(roofline, "Look: ", ("k", T), f"{word} " + "many words " * 500) for word in ("One", "Two"))
    shared = sum(a == b for a, b in zip(one.blocks, other.blocks, strict=True))
    assert one.blocks[:shared] == other.blocks[:shared]
    assert shared == (count_tokens("Look: ") + T) // block
    assert len(one.blocks) == one.tokens // block


def test_another_picture_has_other_blocks() -> None:
    """A block is named by what lies before it, too."""
    one, other = (prompt(ROOFLINE, (key, 64), "What is this?" * 20) for key in ("a", "b"))
    assert not set(one.blocks) & set(other.blocks)


def test_a_shared_block_takes_room_once() -> None:
    """Two sequences hold the same blocks; they are used until both have let go, and cached after that."""
    pool = KvPool(10)
    pool.reserve(4)
    assert pool.name([1, 2, 3, 4]) == [1, 2, 3, 4]
    pool.hold([1, 2, 3, 4])
    assert pool.used == 4
    pool.release([1, 2, 3, 4])
    assert pool.used == 4
    pool.release([1, 2, 3, 4])
    assert (pool.used, pool.count_prefix([1, 2, 3, 4, 5], 5)) == (0, 4)


def test_the_end_of_what_was_let_go_first_is_evicted_first() -> None:
    """No block stays without those before it."""
    pool = KvPool(6)
    pool.reserve(6)
    pool.name([1, 2, 3])
    pool.name([11, 12, 13])
    pool.release([1, 2, 3])
    pool.release([11, 12, 13])
    pool.reserve(2)
    assert [pool.count_prefix(names, 3) for names in ([1, 2, 3], [11, 12, 13])] == [1, 3]


def test_embeddings_are_evicted_by_tokens_the_oldest_first_and_never_while_held() -> None:
    """Two pictures of half the room fit; the third takes the place of the one that nobody holds."""
    cache = EncoderCache(100)
    for key in ("a", "b"):
        assert cache.make_room(50)
        cache.add(key, 50)
    assert not cache.make_room(50)
    cache.release("a")
    assert cache.make_room(50)
    assert "a" not in cache
    assert "b" in cache


def test_prompts_of_one_step_share_a_prefix() -> None:
    """Blocks are found as soon as they are scheduled, before they are computed."""
    asked = Asked(ROOFLINE)
    first, second = (asked.add(("k", T), f"{word} question?") for word in ("First", "Second"))
    asked.step()
    assert (first.cached, second.cached) == (0, T)
    assert asked.scheduler.counts.encoder_runs == 1
    assert asked.scheduler.counts.prefilled_tokens == first.prompt.tokens + second.prompt.tokens - T


def test_a_picture_in_the_prefix_cache_is_not_encoded_again() -> None:
    """Even when its embeddings are gone."""
    asked = Asked(ROOFLINE)
    asked.ask(("k", T), "First?")
    for key in ("x", "y"):
        asked.ask((key, T), "What?")
    asked.ask(("k", T), "Second?")
    assert asked.scheduler.counts.encoder_runs == 3


def test_a_picture_behind_other_text_is_encoded_again_when_its_embeddings_are_gone() -> None:
    """The prefix cache is of no help there."""
    asked = Asked(ROOFLINE)
    asked.ask("One.", ("k", T))
    for key in ("x", "y"):
        asked.ask((key, T), "What?")
    asked.ask("Two.", ("k", T))
    assert asked.scheduler.counts.encoder_runs == 4


def test_a_step_encodes_no_more_than_its_budget() -> None:
    """A third picture of half the budget waits for the next step, and so does the prompt from there on."""
    asked = Asked(replace(ROOFLINE, batched_tokens=100, encoder_tokens=1000))
    sequence = asked.add(("a", 40), ("b", 40), ("c", 40))
    asked.step()
    assert (sequence.computed, asked.scheduler.counts.encoder_runs) == (80, 2)


def test_sequences_on_one_picture_fit_where_as_many_pictures_do_not() -> None:
    """What is shared takes room once, so the batch is larger."""
    running = []
    for keys in (["k"] * 8, list("abcdefgh")):
        asked = Asked(replace(ROOFLINE, kv_tokens=4 * T))
        for key in keys:
            asked.add((key, T), f"{key} is what?", answer=1000)
        for _ in range(12):
            asked.step()
        running.append(len(asked.scheduler.running))
    assert running == [8, 3]


def test_lower_priority_goes_first_and_then_the_earlier_one() -> None:
    """As in vLLM."""
    asked = Asked(replace(ROOFLINE, sequences=1))
    names = {asked.add(name, priority=priority).arrival: name for name, priority in (("a", 1), ("b", 0), ("c", 1))}
    assert [names[sequence.arrival] for sequence in asked.run()] == ["b", "a", "c"]


def test_steps_that_only_decode_are_taken_together_and_cost_the_same() -> None:
    """One long step ends when one by one would have ended."""
    together, apart = Asked(ROOFLINE), Asked(ROOFLINE)
    for asked in (together, apart):
        asked.add("What?", answer=500)
    apart.run()
    while together.scheduler.waiting or together.scheduler.running:
        together.now += together.scheduler.step(together.now)
        together.scheduler.finish(together.now)
    assert together.now == pytest.approx(apart.now, rel=1e-6)
    assert together.scheduler.counts.generated_tokens == 500


def test_a_dropped_sequence_leaves_its_prefix_and_nothing_else() -> None:
    """Its room is free, and what was computed can be found."""
    asked = Asked(replace(ROOFLINE, kv_tokens=T + 4096))
    sequence = asked.add(("k", T), "What?", answer=4000)
    asked.step()
    asked.scheduler.drop(sequence)
    assert asked.ask(("k", T), "What else?").cached == T


def test_a_recurrent_model_finds_a_prefix_the_third_time() -> None:
    """A state is kept where a prompt ends, and where a shared prefix was found to end: the first two are in vain."""
    asked = Asked(HYBRID)
    question = "how many are there? " * 100
    cached = [asked.ask(("k", T), word, question).cached for word in ("One", "Two", "Three", "Four")]
    assert cached == [0, 0, T // 784 * 784, T // 784 * 784]


def test_a_primer_lets_a_recurrent_model_find_a_prefix_at_once() -> None:
    """A prompt that ends where the shared prefix ends leaves its state there."""
    asked = Asked(HYBRID)
    asked.ask(("k", T))
    assert asked.ask(("k", T), "One: how many?").cached == (T - 1) // 16 * 16


def test_a_recurrent_model_goes_on_from_the_last_unit_of_a_prompt() -> None:
    """Of sixteen tokens, where vLLM matches those; else from its last whole block."""
    question = "how many are there? " * 100
    length = T + count_tokens(question)
    for unit in (16, 784):
        asked = Asked(replace(HYBRID, model=replace(HYBRID.model, match_tokens=unit)))
        asked.ask(("k", T), question)
        assert asked.ask(("k", T), question, "and now?").cached == (length - 1) // unit * unit


def test_a_state_is_found_in_the_step_after_it_was_copied() -> None:
    """Prompts that come together wait for it instead of computing what it stands for."""
    asked = Asked(HYBRID)
    first = asked.add(("k", 4000), "how many are there? " * 100, answer=10)
    second = asked.add(("k", 4000), "how many are there? " * 100, "and now?")
    asked.run()
    assert second.cached == (first.prompt.tokens - 1) // 16 * 16
    assert first.first_token is not None
    assert second.first_token is not None
    assert second.first_token > first.first_token


def test_steps_of_a_recurrent_model_end_where_states_are_kept() -> None:
    """At the last whole block of a prompt, and at its last unit."""
    asked = Asked(HYBRID)
    sequence = asked.add("many words " * 500, answer=10)
    ends = []
    while not sequence.is_decoding:
        asked.step()
        ends.append(sequence.computed)
    assert ends == [784, 1488, 1500]


def test_a_watermark_keeps_room_for_what_nobody_uses_now() -> None:
    """Of sixty blocks, a view and eight short prompts with all their states take more, and a few at once do not."""
    found = []
    for watermark in (0.0, 0.6):
        asked = Asked(replace(HYBRID, kv_tokens=784 * 60, watermark=watermark))
        asked.ask(("k", 4000))
        for word in "abcdefgh":
            asked.add(word * 1200, answer=100)
        asked.run()
        found.append(asked.ask(("k", 4000), "How many?").cached)
    assert found == [0, 3984]


def test_recurrent_states_take_room() -> None:
    """Three blocks for each sequence that runs."""
    assert HYBRID.model.state_blocks == 3
    asked = Asked(replace(HYBRID, kv_tokens=784 * 9))
    for word in ("one", "two", "three"):
        asked.add(word, answer=100)
    asked.step()
    assert len(asked.scheduler.running) == 2


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda each: each.what)
def test_it_is_as_fast_as_what_is_published(published: PublishedMeasurement) -> None:
    """Within the tolerance that is stated beside each measurement."""
    assert -published.slack <= published.ahead <= published.optimism


def test_native_budgets_cost_seconds_before_the_first_token() -> None:
    """A new picture of 4096 x 4096: most of it is the vision encoder on an 8B, and the prefill on a 27B."""
    assert cold_first_token("8b") == pytest.approx(1.9, rel=0.03)
    assert cold_first_token("27b") == pytest.approx(2.9, rel=0.03)


@pytest.mark.parametrize(("model", "one", "many"), [("8b", 127, 660), ("27b", 44, 710)])
def test_a_batch_decodes_faster_than_one_until_its_contexts_weigh_more(model: str, one: float, many: float) -> None:
    """Tokens a second of one sequence, and of 32 with a context of 20,000 each."""
    assert decode_rate(model, 1) == pytest.approx(one, rel=0.03)
    assert decode_rate(model, 32) == pytest.approx(many, rel=0.03)
