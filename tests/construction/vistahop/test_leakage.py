"""Stages 4 and 5 over scripted replies: names, the loop of solver, judge and rewriter, ablation, equations 4 and 5."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.construction.calls.errors import ReplyFaultError
from gigavqa.construction.vistahop.chain_search import ChainSearch
from gigavqa.construction.vistahop.chains import EvidenceChain
from gigavqa.construction.vistahop.dialogues import play_by_rule, play_dialogues
from gigavqa.construction.vistahop.knowledge.knowledge_index import KnowledgeIndex, open_knowledge
from gigavqa.construction.vistahop.knowledge.relations import property_table
from gigavqa.construction.vistahop.leakage import (
    LeakageRecord,
    chain_names,
    clues_of,
    verify_question,
    visual_question_faults,
    without_clue,
)
from gigavqa.construction.vistahop.picture_entities import VisualEntity
from gigavqa.construction.vistahop.question_calls import (
    JudgeCall,
    QuestionWording,
    RewriterCall,
    SimplificationCall,
    SolverCall,
    VisualReferenceCall,
    WordingCall,
)
from gigavqa.construction.vistahop.visual_items import (
    LostItem,
    VisualItem,
    leakage_shares,
    text_item,
    text_item_faults,
    visual_item,
)
from gigavqa.evaluation.datasets import load_for_scoring
from tests.construction.vistahop.scripted import ScriptedDesk, play
from tests.construction.vistahop.triples import dump, item

NAMES = ["Ansel Hoist", "Norrland Works", "Port of Ansel", "Quay Line", "Mora Bank", "Ida Strand"]
GOOD = "Who founded the bank, in a cold town, behind the line that serves the works shown in the image?"
JUDGED = """## Judgments
### original_index=1, solve_result={result}
- leakage_detected: {leaks}
- leakage_type: {kind}
- model_issue: false
- leakage_reason: the town
- judge_feedback: Say less
  of the town.
"""


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeIndex:
    """A way of five hops, whose end has an alias, and a code of two letters."""
    folder = tmp_path_factory.mktemp("leakage")
    aliases = {"en": [{"language": "en", "value": "I. Strand-Mora"}, {"language": "en", "value": "IN"}]}
    items = [item(f"Q{n}", name, {"P361": [f"Q{n + 1}"]}) for n, name in enumerate(NAMES[:-1], 1)]
    return open_knowledge(dump(folder / "subset.json", [*items, item("Q6", NAMES[-1], {}, aliases=aliases)]), folder)


@pytest.fixture(scope="module")
def chain(knowledge: KnowledgeIndex) -> EvidenceChain:
    """The chain along it."""
    start = knowledge.entity("Q1")
    assert start
    (found,) = play_by_rule(ChainSearch(knowledge, property_table(), seed=0, asks=False).of_picture([start])).chains
    return found


def judged(result: str = "incorrect", leaks: str = "false", kind: str = "none") -> str:
    """A judge's reply."""
    return JUDGED.format(result=result, leaks=leaks, kind=kind)


class Replies:
    """What solver, judge and rewriter say: lists of replies by question; the last stays. Counts what was asked."""

    def __init__(self, solver: Any = "cannot determine", judge: Any = None, rewriter: Any = GOOD) -> None:
        self._told = {SolverCall: solver, JudgeCall: judge or judged(), RewriterCall: rewriter}
        self._at = dict.fromkeys(self._told, 0)
        self.asked: list[Any] = []

    def __call__(self, question: Any) -> Any:
        """Reply."""
        self.asked.append(question)
        kind = type(question)
        told = self._told[kind]
        if callable(told):
            told = told(question.question)
        if isinstance(told, list):
            told = told[min(self._at[kind], len(told) - 1)]
            self._at[kind] += 1
        if told is None or kind is JudgeCall:
            return told
        if kind is SolverCall:
            return {"solves": [{"original_index": 1, "solver_answer": told, "solver_confidence": 0.5}]}
        return {"rewrites": [{"original_index": 1, "rewritten_question": told}]}

    def kinds(self) -> str:
        """Which was asked, in order, as first letters."""
        return "".join(type(one).__name__[0] for one in self.asked)


def verified(
    chain: EvidenceChain, knowledge: KnowledgeIndex, replies: Replies, question: str = GOOD, **more: Any
) -> LeakageRecord:
    """The record of a question."""
    names = chain_names(chain, knowledge)
    dialogue = verify_question(question, chain, names=names, answers=["Ida Strand"], **more)
    return play(dialogue, replies)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("question", "faults"),
    [
        (GOOD, []),
        ("Who is IDA   strand in the image?", ["it names 'Ida Strand'"]),
        ("Who is i. strand-mora, in the image?", ["it names 'i. strand-mora'"]),
        ("Who built the port of Ansel?", ["it names 'Port of Ansel'", "it does not say 'in the image'"]),
        ("Who is Ida Strandberg in the image?", []),
    ],
)
def test_no_name_of_the_chain_is_said_whatever_its_case_aliases_included(
    chain: EvidenceChain, knowledge: KnowledgeIndex, question: str, faults: list[str]
) -> None:
    """A longer word is another name, and a code such as IN is a word of its own."""
    assert visual_question_faults(question, chain_names(chain, knowledge)) == faults


def test_a_question_that_nobody_solves_passes_in_one_round_without_a_judge(
    chain: EvidenceChain, knowledge: KnowledgeIndex
) -> None:
    """Its three parts are then left out one by one, all asked together."""
    replies = Replies()
    record = verified(chain, knowledge, replies)
    assert (record.outcome, record.question, len(record.rounds)) == ("kept", GOOD, 1)
    assert replies.kinds() == "SSS" and record.rounds[0].ablated == 2


@pytest.mark.parametrize(
    ("solver", "judge"),
    [
        ("Ida Strand", judged("correct")),
        ("Ida Strand", judged("incorrect")),
        ("somebody else", judged("correct")),
        ("somebody else", judged("incorrect", leaks="true")),
        ("somebody else", judged("incorrect", kind="redundant_info")),
    ],
)
def test_what_the_text_gives_away_is_rewritten_and_passes_only_in_a_later_round(
    chain: EvidenceChain, knowledge: KnowledgeIndex, solver: str, judge: str
) -> None:
    """By rule or by the judge; the judge's feedback goes to the rewriter."""
    replies = Replies([solver, ""], judge, "Who is behind what is shown in the image?")
    record = verified(chain, knowledge, replies)
    assert (record.outcome, record.question) == ("kept", "Who is behind what is shown in the image?")
    assert replies.kinds() == "SJRS" and [one.is_shortcut for one in record.rounds] == [True, False]
    assert replies.asked[2].feedback == "Say less of the town."


def test_after_three_rounds_a_question_is_unresolved_and_its_last_rewriting_is_not_used(
    chain: EvidenceChain, knowledge: KnowledgeIndex
) -> None:
    """There are two rewritings at most."""
    replies = Replies("Ida Strand", judged("correct"))
    record = verified(chain, knowledge, replies)
    assert (record.outcome, replies.kinds()) == ("unresolved", "SJRSJRSJ")


def test_a_rewriting_that_names_something_is_a_round_of_its_own_that_asks_no_solver(
    chain: EvidenceChain, knowledge: KnowledgeIndex
) -> None:
    """The rewriter is told what it said."""
    replies = Replies(["Ida Strand", ""], judged("correct"), ["Who is Ida Strand, in the image?", GOOD])
    record = verified(chain, knowledge, replies)
    assert (record.outcome, len(record.rounds)) == ("kept", 3) and replies.kinds()[:5] == "SJRRS"
    assert replies.asked[3].feedback == "The question is not allowed as it is: it names 'Ida Strand'."


@pytest.mark.parametrize("replies", [Replies(None), Replies("x", [None]), Replies("Ida Strand", judged(), [None])])
def test_a_reply_that_could_not_be_read_leaves_a_question_unanswered(
    chain: EvidenceChain, knowledge: KnowledgeIndex, replies: Replies
) -> None:
    """It is neither kept nor said to be unresolved."""
    assert verified(chain, knowledge, replies).outcome == "unanswered"


def test_a_clue_without_which_the_answer_is_still_told_is_redundant(
    chain: EvidenceChain, knowledge: KnowledgeIndex
) -> None:
    """The whole was not solved, the rest without the town was; so it is rewritten."""

    def solver(question: str) -> str:
        return "Ida Strand" if "bank" in question and "town" not in question else ""

    replies = Replies(solver, rewriter="Who is behind what is shown in the image?")
    record = verified(chain, knowledge, replies, clues=["in a cold town", "not in the question"])
    assert record.rounds[0].redundant == ("in a cold town",) and not record.rounds[0].is_shortcut
    assert record.outcome == "kept" and replies.kinds() == "SSRS"
    assert "even without the clue 'in a cold town'" in replies.asked[2].feedback


@pytest.mark.parametrize(
    ("clue", "left"),
    [
        ("in a cold town", "Who founded the bank, behind the line that serves the works shown in the image?"),
        ("IN A  COLD town", "Who founded the bank, behind the line that serves the works shown in the image?"),
        ("in a warm town", ""),
        ("Who founded the bank, in a cold town, behind the line that serves the works shown in the", ""),
    ],
)
def test_a_clue_is_taken_out_where_the_question_says_it(clue: str, left: str) -> None:
    """Whatever its case and spaces; with fewer than three words left there is no question."""
    assert without_clue(GOOD, clue) == left


def test_clues_are_those_told_that_the_question_says_else_its_parts() -> None:
    """What speaks of the image stays."""
    assert clues_of(GOOD, ["in a cold town", "elsewhere"]) == ["in a cold town"]
    assert clues_of(GOOD, []) == ["Who founded the bank", "in a cold town"]
    assert clues_of("Who is shown in the image?", []) == []


@pytest.mark.parametrize(
    ("text", "judgment"),
    [
        (judged("correct", "true", "redundant_info"), (True, True, "redundant_info", False, "Say less of the town.")),
        (
            "### original_index=0, solve_result=INCORRECT\n- **leakage_detected**: False",
            (False, False, "none", False, ""),
        ),
    ],
)
def test_a_judgment_is_read_as_it_is_printed(text: str, judgment: tuple[object, ...]) -> None:
    """Over lines, with or without emphasis."""
    assert JudgeCall.reader(text) == judgment


@pytest.mark.parametrize("text", ["", "correct", "### original_index=1, solve_result=correct", judged(leaks="maybe")])
def test_a_judgment_without_its_two_verdicts_is_asked_for_again(text: str) -> None:
    """The complaint says what is missing."""
    with pytest.raises(ReplyFaultError, match="lacks 'original_index"):
        JudgeCall.reader(text)


def test_a_judgment_of_200_000_characters_is_read_in_linear_time() -> None:
    """Of the signs that it is written with."""
    before = time.process_time()
    for noise in ("- " * 100_000, "*" * 200_000, "original_index=1, " * 11_000, "- leakage_type:\n" * 12_000):
        with pytest.raises(ReplyFaultError):
            JudgeCall.reader(noise)
    assert time.process_time() - before < 2


def written(question: Any) -> Any:
    """A writer who does all well, beside a solver who cannot."""
    match question:
        case WordingCall():
            said = "Who founded the bank behind the line of Ansel Hoist?"
            return {"question": said, "constraints": ["a line"], "reasoning_path": ["one", "two"]}
        case VisualReferenceCall():
            shown = "the firm shown in the image"
            said = f"Who founded, now, the bank behind the line of {shown}?"
            line = {"original_index": 1, "vqa_question": said, "visual_reference": shown}
            return {"transformed_questions": [line]}
        case SimplificationCall():
            return {"simplified_questions": [{"original_index": 1, "simplified_question": GOOD}]}
    return Replies()(question)


def test_equation_4_answers_with_the_canonical_name_of_the_end(chain: EvidenceChain, knowledge: KnowledgeIndex) -> None:
    """The seed may be named in it, and nothing else of the chain."""
    made = text_item(chain, QuestionWording("Who founded the bank behind Ansel Hoist?", (), ()))
    assert made == ("Who founded the bank behind Ansel Hoist?", "Ida Strand", chain)
    assert text_item_faults(made, knowledge) == []
    assert text_item_faults(made._replace(question="Is it Mora bank?"), knowledge) == ["it names 'Mora Bank'"]


def test_equation_5_is_picture_question_answer_path_and_metadata(
    chain: EvidenceChain, knowledge: KnowledgeIndex, tmp_path: Path
) -> None:
    """As a record that VistaHop's reader takes, with aliases as further truths."""
    seed = VisualEntity("Ansel Hoist", "blue mark on a crane", chain.seed)
    made = play(visual_item(chain, "images/harbour.tif", seed, knowledge), written)
    assert isinstance(made, VisualItem)
    record, more = made.record(), made.metadata()
    assert (record["question"], record["answers"], record["hops"]) == (GOOD, ["Ida Strand", "i. strand-mora"], 5)
    assert record["chain"][0] == {"from": "Ansel Hoist", "relation": "part_whole", "to": "Norrland Works"}
    assert (more["hop_count"], more["reasoning_path"], len(more["rounds"])) == (5, ["one", "two"], 1)
    assert more["source_entity"]["looks"] == "blue mark on a crane"
    path = tmp_path / "harbours.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (sample,) = load_for_scoring(path, "vistahop").samples
    assert isinstance(sample, VistaHopSample)
    assert (sample.level, sample.form, sample.anchors[0].label) == ("L2", "single", "Ansel Hoist")
    assert (sample.question, len(sample.chain)) == (GOOD, 5)


def test_plain_words_that_lose_the_image_are_not_used(chain: EvidenceChain, knowledge: KnowledgeIndex) -> None:
    """The question stays as it was; one that is unresolved is lost, and counted as table 7 does."""
    seed = VisualEntity("Ansel Hoist", "", chain.seed)

    def script(question: Any) -> Any:
        if isinstance(question, SimplificationCall):
            return {"simplified_questions": [{"original_index": 1, "simplified_question": "Who founded the bank?"}]}
        return written(question)

    kept = play(visual_item(chain, "a.tif", seed, knowledge), script)
    assert isinstance(kept, VisualItem) and kept.question.startswith("Who founded, now, the bank")
    leaks = Replies("Ida Strand", judged("correct"))
    lost = play(
        visual_item(chain, "a.tif", seed, knowledge),
        lambda q: leaks(q) if isinstance(q, SolverCall | JudgeCall | RewriterCall) else written(q),
    )
    assert isinstance(lost, LostItem) and lost.reason == "unresolved"
    assert leakage_shares([kept, lost, LostItem(chain, "unanswered")]) == (2, 1, 1, 0)


def test_a_desk_reads_judgments_by_their_reader(chain: EvidenceChain, knowledge: KnowledgeIndex) -> None:
    """So a judgment in another form is asked for again, and not lost."""

    def reply(call: Any) -> Any:
        if call.stage == "4-judge":
            return judged("correct", "true")
        field, word = ("solves", "solver_answer") if call.stage == "4-solver" else ("rewrites", "rewritten_question")
        said = "Ida Strand" if call.stage == "4-solver" else GOOD
        return {field: [{"original_index": 1, word: said}]}

    dialogue = verify_question(GOOD, chain, names=chain_names(chain, knowledge), answers=["Ida Strand"])
    ((_, record),) = play_dialogues(ScriptedDesk(reply), [("q", dialogue)], lambda _: "m")
    assert isinstance(record, LeakageRecord) and record.outcome == "unresolved"


def test_the_solver_sees_the_question_and_nothing_else(chain: EvidenceChain) -> None:
    """Neither answer nor chain; the judge's list stands below its print."""
    solver = SolverCall(GOOD).call("m")
    assert GOOD in solver.text and not any(name in solver.text for name in NAMES) and not solver.pictures
    answer = SolverCall(GOOD).read({"solves": [{"original_index": 1, "solver_answer": "x"}]})
    assert '"answer": "Ida Strand"' in JudgeCall(GOOD, "Ida Strand", answer).call("m").text.splitlines()[-1]
    assert "Ida Strand" in WordingCall(chain).call("m").text
