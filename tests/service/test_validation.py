"""A job is checked and expanded as a stream: what lies in memory does not grow with its requests."""

import tracemalloc
from collections.abc import Callable

import pytest

from gigavqa.benchmarks.ultravr.asking import AskingContext, DirectQuestion
from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.codec import pack
from gigavqa.contract.jobs import Job, JobSpec, JobStatus
from gigavqa.contract.requests import Turn
from gigavqa.evaluation.chat_order import ORDER_VERSION
from gigavqa.service.errors import SubmissionInvalidError
from gigavqa.service.operations.bundling import bundle_requests
from gigavqa.service.operations.datasets import Datasets
from gigavqa.service.operations.image_headers import ImageHeaders
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.validation import JobValidator, ValidatedJob
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import MODEL
from tests.store.examples import NOW


def spec_of(repeats: int, **changes: object) -> JobSpec:
    """A job of table 1, which asks each of the town's four samples twice a repeat."""
    return JobSpec.model_validate({"dataset": NAME, "models": [MODEL], "plan": "table1", "repeats": repeats, **changes})


@pytest.fixture
def admission(settings: GatewaySettings) -> JobValidator:
    """A admission of the town."""
    return JobValidator(Datasets(settings.data), ImageHeaders(settings.data, 2), load_catalogue, 1_000_000)


def checked(admission: JobValidator, spec: JobSpec) -> ValidatedJob:
    """Check a job as a gateway does."""
    return admission.check(admission.draft(spec))


def peak_of(work: Callable[[], object]) -> int:
    """Most bytes that Python held during `work` beyond what it held before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("alone")
def test_a_job_of_many_requests_needs_no_more_memory_than_one_of_few(admission: JobValidator) -> None:
    """Ten times the requests raise the peak by less than half a pointer each: their numbers have one digit more."""

    def take(repeats: int) -> None:
        spec = spec_of(repeats)
        job = Job(id="job", spec=spec, status=JobStatus.VALIDATING, created_at=NOW)
        for bundle in bundle_requests(job, checked(admission, spec).requests(), 64):
            pack(bundle)

    take(8)
    small = peak_of(lambda: take(100))
    large = min(peak_of(lambda: take(1000)) for _ in range(3))  # what else this process does may add to one
    assert large - small < 4 * 7200


def test_a_bundle_made_again_has_the_same_id_and_one_of_another_size_another(admission: JobValidator) -> None:
    """A gateway that starts with another setting amid a job skips no bundle that it takes for one already queued."""
    spec = spec_of(40)
    job = Job(id="job", spec=spec, status=JobStatus.VALIDATING, created_at=NOW)
    draft = checked(admission, spec)
    first, again, smaller = (list(bundle_requests(job, draft.requests(), size)) for size in (64, 64, 32))
    assert first == again
    assert not {bundle.id for bundle in first} & {bundle.id for bundle in smaller}


def test_bundles_of_another_order_are_others(admission: JobValidator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that is upgraded amid a job queues all of it, and none of what is in its bundles is left out."""
    job = Job(id="job", spec=spec_of(40), status=JobStatus.VALIDATING, created_at=NOW)
    draft = checked(admission, job.spec)
    before = list(bundle_requests(job, draft.requests(), 64))
    monkeypatch.setattr("gigavqa.service.operations.bundling.ORDER_VERSION", ORDER_VERSION + 1)
    after = list(bundle_requests(job, draft.requests(), 64))
    assert not {bundle.id for bundle in before} & {bundle.id for bundle in after}


def test_every_repeat_counts_among_what_is_too_long(settings: GatewaySettings, admission: JobValidator) -> None:
    """One chat is looked at for all its repeats, and the finding tells of all of them."""
    write_dataset(settings.data, [record(number, question="word " * 8000) for number in range(4)])
    with pytest.raises(SubmissionInvalidError) as refused:
        checked(admission, spec_of(5, plan=None, cells=[{"protocol": "S0", "condition": "V2"}]))
    assert [finding.requests for finding in refused.value.findings] == [4 * 5]


@pytest.mark.parametrize(("most_kept", "times"), [(2000, 1), (0, 2)])
def test_the_chats_of_a_small_job_are_made_once(
    admission: JobValidator, monkeypatch: pytest.MonkeyPatch, most_kept: int, times: int
) -> None:
    """Those that were checked are those that are queued; a larger job's are made again, and are the same."""
    monkeypatch.setattr("gigavqa.service.submission.validation._MOST_KEPT", most_kept)
    made: list[str] = []

    def counted_turns(self: DirectQuestion, asking: AskingContext) -> tuple[Turn, ...]:
        made.append(asking.sample.id)
        return turns(self, asking)

    turns = DirectQuestion.turns
    monkeypatch.setattr(DirectQuestion, "turns", counted_turns)
    draft = checked(admission, spec_of(1))
    asked = list(draft.requests())
    assert len(asked) == 8
    assert len(made) == times * len(asked)
    assert asked == list(draft.draft.expansion.requests(draft.sizes.__getitem__))


def test_a_retry_leaves_out_what_is_answered_of_what_was_kept(admission: JobValidator) -> None:
    """The others come in their order."""
    draft = checked(admission, spec_of(1))
    (_, first), *others = draft.requests()
    assert list(draft.requests(without={first.id})) == others


def test_a_published_budget_is_asked_of_the_entry_that_has_it(admission: JobValidator) -> None:
    """Models whose entries have none stay; asked twice, it is the same."""
    spec = spec_of(1, models=["InternVL3.5-38B", MODEL], options={"budget": "published"})
    named = admission.named(spec)
    assert named.models == ("internvl3.5-38b-published", MODEL)
    assert admission.named(named) == named
    assert admission.named(spec_of(1, models=["InternVL3.5-38B"])).models == ("internvl3.5-38b",)


@pytest.mark.parametrize(("budget", "is_told"), [("entry", False), ("published", True)])
def test_a_budget_that_is_not_the_checkpoints_is_told_where_the_paper_had_that(
    admission: JobValidator, monkeypatch: pytest.MonkeyPatch, budget: str, *, is_told: bool
) -> None:
    """With the option that asks for it."""
    monkeypatch.setattr(UltraVR, "budget", budget)
    warnings = checked(admission, spec_of(1, models=["glm-4.5v", "glm-4.5v-published"])).warnings
    told = [text for text in warnings if "`--option budget=published` asks" in text]
    assert len(told) == is_told
    assert all(text.startswith("glm-4.5v is shown pictures at") and "max_pixels 9633792" in text for text in told)


def test_every_display_of_an_image_is_checked_with_its_file(settings: GatewaySettings, admission: JobValidator) -> None:
    """Also where another record shows the image in a way that it has; a job's own display replaces all of them."""
    shows = ("bands=1", "bands=1,2,3 gamma=2", "bands=7", "")
    write_dataset(settings.data, [record(2 * number, show=show) for number, show in enumerate(shows)])
    with pytest.raises(SubmissionInvalidError) as refused:
        checked(admission, spec_of(1))
    (finding,) = refused.value.findings
    assert finding.image == f"{NAME}/images/plaza-0.png" and "asks for band 7" in finding.detail
    job = checked(admission, spec_of(1, options={"show": "bands=2"}))
    assert {view.show for _, request in job.requests() for view in request.views} == {"bands=2"}
