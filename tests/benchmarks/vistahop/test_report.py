"""Tables of chats whose numbers are known beforehand."""

import json
from collections.abc import Iterable, Sequence

import pytest

from gigavqa.benchmarks.vistahop.benchmark import VistaHop
from gigavqa.benchmarks.vistahop.metrics import compare_judges
from gigavqa.benchmarks.vistahop.rule_judge import RULES_VERSION
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.benchmarks.vistahop.sidecars import Sidecars, read_sidecars
from gigavqa.contract.responses import Response
from gigavqa.reports.report import Report
from tests.benchmarks.vistahop.examples import call, chat, direct, reported, sample
from tests.reports.tables import caveats_of, table_of, value_of, values_of

SINGLE = [sample(f"s{at}", 7, category="Society") for at in range(6)]
FUSED = [sample(f"f{at}", 12, form="temporal", components=[{"question": "When?"}]) for at in range(4)]
SAMPLES = [*SINGLE, *FUSED]
REPEATS = 5


def numbers(report: Report, table: str, columns: str, **keys: str) -> list[float | None]:
    """Values of columns, rounded to four digits."""
    found = [value_of(report, table, column, **keys).value for column in columns.split()]
    return [None if value is None else round(value, 4) for value in found]


def asked(protocol: str, right: int, limit: int = 10, calls: int = 4, **changes: str) -> Iterable[Response]:
    """Five repeats: of each level the first `right` samples are answered rightly in all repeats and the next in two.

    The last fused one runs out of rounds.
    """
    for repeat in range(REPEATS):
        for samples in (SINGLE, FUSED):
            for at, one in enumerate(samples):
                answer = "1911" if at < right or (at == right and repeat < 2) else "1850"
                if one is FUSED[-1]:
                    made = [*(call() for _ in range(limit - 1)), call("not_run")]
                    yield chat(one, None, made, limit, protocol=protocol, repeat=repeat, **changes)
                else:
                    yield chat(one, answer, [call()] * calls, limit, protocol=protocol, repeat=repeat, **changes)


def no_tool(right: int) -> list[Response]:
    """Five repeats without tools."""
    return [
        direct(one, "1911" if at < right else "1850", repeat=repeat)
        for repeat in range(REPEATS)
        for at, one in enumerate(SINGLE + FUSED)
    ]


def test_table_4_is_known_to_the_digit() -> None:
    """Pass@1 over repeats and levels, calls, rounds and utilization, and what search and crops add."""
    report = reported(SAMPLES, [*no_tool(1), *asked("search", 1), *asked("search_crop", 2)])
    columns = "p1 L2 L3 calls rounds utilization"
    row = "table4"
    assert numbers(report, row, columns, protocol="direct") == [0.1, round(1 / 6, 4), 0, 0, 1, 0]
    # 1.4 of each level; nine chats of four calls and five rounds, and one of ten and ten.
    search = [0.28, round(1.4 / 6, 4), 0.35, 4.6, 5.5, 0.46]
    assert numbers(report, row, columns, protocol="search") == search
    crop = [0.48, 0.4, 0.6, 4.6, 5.5, 0.46]
    assert numbers(report, row, columns, protocol="search_crop") == crop
    gains = [value_of(report, row, "gain", protocol=name) for name in ("search", "search_crop")]
    assert [round(gain.value or 0, 4) for gain in gains] == [0.18, 0.2]
    assert values_of(report, row, protocol="direct")["gain"] is None
    assert values_of(report, row, protocol="search")["chats"] == 50
    assert "L1" not in values_of(report, row, protocol="search")


def test_identities_of_the_paper_hold_on_our_numbers() -> None:
    """Pass@1 is at most the share of answers, which are the rounds without a call where no call was an error."""
    report = reported(SAMPLES, [*asked("search", 1), *asked("search_crop", 2)])
    for name in ("search", "search_crop"):
        p1, second, third, calls, rounds, used = numbers(
            report, "table4", "p1 L2 L3 calls rounds utilization", protocol=name
        )
        (answered,) = numbers(report, "process", "answered", protocol=name)
        assert None not in (p1, second, third, calls, rounds, used, answered)
        assert p1 == pytest.approx((6 * (second or 0) + 4 * (third or 0)) / 10, abs=1e-4)
        assert used == pytest.approx((calls or 0) / 10)
        assert (p1 or 0) <= (answered or 0) == pytest.approx((rounds or 0) - (calls or 0)) and (answered or 0) <= 1


def test_means_over_models_are_plain() -> None:
    """Of every setting that several models have."""
    chats = [*asked("search", 1), *asked("search", 2, model="internvl3.5-8b"), *no_tool(1)]
    report = reported(SAMPLES, chats)
    table = table_of(report, "table4")
    means = [row for row in table.rows if row.summary]
    assert [row.title for row in means] == ["Mean · Search"]
    at = [column.key for column in table.columns].index("p1")
    assert getattr(means[0].values[at], "value", None) == pytest.approx((0.28 + 0.48) / 2)


def test_other_numbers_of_rounds_are_in_no_mean_and_no_gain() -> None:
    """A row of six rounds stands for itself: what it is compared with has as many, and its strata say so."""
    six = [*asked("search", 1, limit=6, model="internvl3.5-8b"), *asked("search_crop", 2, model="internvl3.5-8b")]
    report = reported(SAMPLES, [*asked("search", 2), *asked("search_crop", 1), *six])
    table = table_of(report, "table4")
    assert [row.title for row in table.rows if row.summary] == ["Mean · Search+Crop"]
    gains = [
        values_of(report, "table4", protocol="search_crop", model=model)["gain"]
        for model in ("internvl3.5-8b", "qwen3-vl-8b")
    ]
    assert [gain is None for gain in gains] == [True, False]
    titles = {row.title for row in table_of(report, "strata").rows if row.keys["model"] == "internvl3.5-8b"}
    assert all(title.endswith("Search N = 6") for title in titles)


def test_chats_that_ran_out_of_rounds_are_not_called_unclear() -> None:
    """Half of them end without an answer, and every answer that was given is clear."""
    chats = [
        chat(one, None if at % 2 else "1911", [call()] * (10 if at % 2 else 2), 10, protocol="search")
        for at, one in enumerate(SINGLE + FUSED)
    ]
    assert not any("no single clear answer" in told for told in caveats_of(reported(SAMPLES, chats)))


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("judgements.jsonl", [{"annotator": "ann", "correct": True}, {"annotator": "ann", "correct": False}]),
        ("failures.jsonl", [{"type": "drift"}, {"type": "anchor"}]),
    ],
)
def test_people_who_contradict_themselves_are_named_by_line(name: str, lines: list[dict[str, object]]) -> None:
    """The same again is nothing; another judgement of the same chat is an error, in whatever order they stand."""
    first, other = (json.dumps({"job": "j", "request": "r", **line}) for line in lines)
    assert read_sidecars({name: f"{first}\n{first}\n"}) == read_sidecars({name: f"{first}\n"})
    for text in (f"{first}\n{other}", f"{other}\n{first}"):
        with pytest.raises(ValueError, match=rf"{name}: line 2: contradicts line 1"):
            read_sidecars({name: text})


def test_table_5_has_a_row_for_each_number_of_rounds() -> None:
    """Which are never mixed, whatever job asked them."""
    chats = [*asked("search_crop", 1, limit=6), *asked("search_crop", 2, limit=8, job_id="other")]
    report = reported(SAMPLES, chats)
    assert numbers(report, "table5", "p1 calls utilization", rounds="6") == [0.28, 4.2, 0.7]
    assert numbers(report, "table5", "p1 calls utilization", rounds="8") == [0.48, 4.4, 0.55]
    assert reported(SAMPLES, asked("search_crop", 1)).table("table5") is None


def test_failures_are_left_out_and_counted() -> None:
    """A search that was down is nobody's wrong answer."""
    good = [*asked("search", 1)]
    lost = [one.model_copy(update={"turns": (), "stop": None, "failure": down}) for one in good[:3]]
    report = reported(SAMPLES, [*lost, *good[3:]])
    found = values_of(report, "process", protocol="search")
    assert (found["failed"], found["chats"]) == (3, 47)


down = direct(SAMPLES[0], None).failure


def test_how_chats_went_is_told() -> None:
    """Stops, statuses, reuse of prompts, and strict Pass@1."""
    bad = chat(SAMPLES[0], "1911", [call("bad_box", "image_zoom_in_tool")])
    report = reported(SAMPLES, [*asked("search_crop", 1), bad.model_copy(update={"request_id": "x", "repeat": 5})])
    found = values_of(report, "process", protocol="search_crop")
    assert (found["tag"], found["empty"], found["chats"]) == (46, 0, 51)
    assert numbers(report, "process", "answered rounds context", protocol="search_crop") == [
        round(46 / 51, 4), round(5 / 51, 4), 0,
    ]  # fmt: skip
    strict, easy = (
        value_of(report, *of, protocol="search_crop").value or 0 for of in (("process", "strict"), ("table4", "p1"))
    )
    assert easy - strict == pytest.approx(1 / 6 / 10)
    assert any("1 of 51 chats have a call by which" in told for told in caveats_of(report))
    assert values_of(report, "calls", tool="image_zoom_in_tool", status="bad_box")["calls"] == 1
    # Of 45 chats with four calls: 100 to 400 of 200 to 500; five of ten: 100 to 900 of 200 to 1000; one: 100 of 200.
    cached, prompt = 45 * 1000 + 5 * 4500 + 100, 45 * 1400 + 5 * 5400 + 200
    assert numbers(report, "process", "reuse", protocol="search_crop") == [round(cached / prompt, 4)]


def test_incorrect_chats_are_sorted_by_what_they_failed_by() -> None:
    """By people, where they said so, and by the first of our rules that holds."""
    chats = [*asked("search_crop", 2)]
    wrong = next(one for one in chats if one.sample_id == "s5")
    labelled = VistaHop(Sidecars(failures={("job", wrong.request_id): "boundary"}))
    report = reported(SAMPLES, chats, labelled)
    # 18 single chains are wrong, 5 fused ones ran out of rounds, 3 were answered wrongly.
    shares = numbers(report, "table9", "anchor drift planning fusion boundary unlabelled", source="rules of ours")
    assert shares == [round(count / 26, 4) for count in (0, 0, 5, 3, 0, 18)]
    assert numbers(report, "table9", "boundary anchor", source="people") == [1, 0]


def test_other_judges_stand_beside_the_rules() -> None:
    """With their own Pass@1, and how they agree."""
    chats = [
        one.model_copy(update={"details": {"verdicts": {"llm_score": -1 if at == 0 else int(at % 2)}}})
        for at, one in enumerate(asked("search", 1))
    ]
    report = reported(SAMPLES, chats)
    found = values_of(report, "by_judge", judge="llm_score")
    assert (found["judged"], found["unreadable"]) == (49, 1)
    pair = values_of(report, "judges", judge="rules/2", other="llm_score")
    assert (pair["both"], pair["unreadable"]) == (49, 1)


def test_people_stand_beside_every_judge() -> None:
    """One by one, and all of them together, as the paper's human check has it: 210 outputs, three annotators."""
    chats = [*asked("search", 1)]
    said = {("job", one.request_id): one.sample_id in ("s0", "f0") for one in chats}
    unlike = [*said][:5]
    labels = {place: (("ann", right), ("bob", right != (place in unlike))) for place, right in said.items()}
    report = reported(SAMPLES, chats, VistaHop(Sidecars(judgements=labels)))
    found = [
        values_of(report, "judges", judge=judge, other=other)
        for judge, other in (
            (RULES_VERSION, "annotator ann"),
            (RULES_VERSION, "annotator bob"),
            ("all annotators", RULES_VERSION),
        )
    ]
    assert [values["both"] for values in found] == [50, 50, 100]
    ann, bob, everybody = (values["agreement"].value or 0 for values in found)
    assert bob < ann
    assert everybody == pytest.approx((ann + bob) / 2)


@pytest.mark.parametrize(
    ("pairs", "same", "kappa"),
    [
        ([(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15, 35, 0.4),
        ([(1, 1)] * 3, 3, None),
        ([(1, 0), (0, 1)], 0, -1.0),
        ([(1, -1)], 0, None),
    ],
)
def test_kappa_is_cohens(pairs: Sequence[tuple[int, int]], same: int, kappa: float | None) -> None:
    """The textbook's example among them; it has no value where both always say one thing."""
    found = compare_judges(pairs)
    assert found.same == same
    assert found.kappa == (None if kappa is None else pytest.approx(kappa))


def test_the_composition_of_the_data_needs_no_chat() -> None:
    """Samples, pictures and mean hops of every kind."""
    report = reported([*SAMPLES, sample("x", None)], [])
    assert values_of(report, "composition", dimension="level", name="L3")["samples"] == 4
    assert values_of(report, "composition", dimension="form", name="temporal")["pictures"] == 4
    assert numbers(report, "composition", "hops", dimension="form", name="single") == [7.0]
    assert any("1 of 11 samples have no hops" in told for told in caveats_of(report))


def test_strata_have_a_column_a_setting() -> None:
    """And count their samples."""
    report = reported(SAMPLES, [*no_tool(1), *asked("search", 1)])
    found = values_of(report, "strata", dimension="category", name="Society")
    assert found["samples"] == 6
    assert numbers(report, "strata", "direct search", dimension="category", name="Society") == [
        round(1 / 6, 4), round(1.4 / 6, 4),
    ]  # fmt: skip


def test_a_level_without_samples_is_nothing() -> None:
    """Never 0; L1 has a column where there are samples of it."""
    first: list[VistaHopSample] = [sample("a", 3)]
    report = reported(first, [chat(first[0], "1911")])
    assert numbers(report, "table4", "p1 L1 L2 L3", protocol="search_crop") == [1, 1, None, None]


def test_text_alone_is_a_table_of_its_own() -> None:
    """It stands in no column of Table 4."""
    report = reported(SAMPLES, [direct(SAMPLES[0], "1911", "V0"), direct(SAMPLES[1], "1850", "V0")])
    assert numbers(report, "text_only", "p1", condition="V0") == [0.5]
    assert report.table("table4") is None


def test_different_sources_are_never_mixed_in_silence() -> None:
    """One source is what all numbers rest on; of two the reader is told."""
    one, other = (chat(of, "1911", [call(source=f"web {at} none")]) for at, of in enumerate(SAMPLES[:2]))
    assert not any("different sources" in told for told in caveats_of(reported(SAMPLES, [one])))
    (told,) = [told for told in caveats_of(reported(SAMPLES, [one, other])) if "different sources" in told]
    assert "web 0 none; web 1 none" in told
