"""Reviews of a data set's samples by people: verdicts, how far reviewers agree, and samples to be answered blind."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from gigavqa.evaluation.errors import DatasetInvalidError, ReviewRefusedError
from gigavqa.evaluation.review_table import ReviewTable, review_table
from gigavqa.evaluation.reviews import ANONYMOUS, ReviewEntry, Reviews, ReviewState, SampleReview
from gigavqa.service.errors import (
    DataRootUnwritableError,
    DatasetNotFoundError,
    ForeignOriginError,
    SampleChangedError,
    SampleNotFoundError,
)
from gigavqa.service.http import examples
from gigavqa.service.http.auth import Caller, CurrentCaller
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.dataset_contents import find_sample
from gigavqa.service.operations.review_desk import (
    BlindSample,
    RevealedSample,
    ReviewDesk,
    ReviewFilter,
    choose_samples,
)

router = APIRouter(prefix="/v1/datasets/{name}/reviews", tags=["datasets"])
CurrentDesk = Annotated[ReviewDesk, component(ReviewDesk)]
_READS = (DatasetNotFoundError, DatasetInvalidError)


class ReviewedSample(BaseModel):
    """A sample that somebody has reviewed, and what becomes of it."""

    sample: str
    state: ReviewState
    reviews: dict[str, SampleReview] = Field(description="verdicts that count, by reviewer")


class ReviewList(ReviewTable):
    """How far a review is, and reviewed samples in the order of the data set; `last_id` is `after` of the next page."""

    object: Literal["list"] = "list"
    data: list[ReviewedSample]
    has_more: bool
    last_id: str | None


class BlindSampleList(BaseModel):
    """Samples to be reviewed, without what they are to be reviewed by."""

    object: Literal["list"] = "list"
    data: list[BlindSample]
    reviewer: str = Field(description="who the caller is among reviewers")
    samples: int = Field(description="of the data set")
    reviewed: int = Field(description="those on which the caller's verdict counts")
    may_settle: bool = Field(description="whether the caller may decide between verdicts of others")


@router.get(
    "",
    summary="List reviews",
    responses={200: example(examples.REVIEWS), **problem_responses(*_READS, SampleNotFoundError)},
)
async def list_reviews(
    desk: CurrentDesk,
    caller: CurrentCaller,
    name: str,
    *,
    state: Annotated[ReviewFilter, Query(description="only samples of which this became")] = "all",
    after: Annotated[str | None, Query(description="id of the last sample of the previous page")] = None,
    limit: Annotated[int, Query(ge=0, le=1000)] = 100,
) -> ReviewList:
    """Return progress, agreement and verdicts: all reviewers' where keys are not asked for or the key's role is
    `operate`, else the caller's own.
    """

    def look() -> ReviewList:
        dataset = desk.load(name)
        reviews = _visible(desk.reviews(dataset), caller)
        states = {sample: reviews.decision(sample).state for sample in reviews.by_sample}
        wanted = {sample for sample, found in states.items() if state in ("all", found)}
        found = choose_samples(dataset, wanted.__contains__, after=after, before=None, most=limit + 1) if wanted else []
        page = [
            ReviewedSample(sample=one.id, state=states[one.id], reviews=dict(reviews.by_sample[one.id]))
            for one in found[:limit]
        ]
        return ReviewList(
            **review_table(dataset, reviews).model_dump(),
            data=page,
            has_more=len(found) > limit,
            last_id=page[-1].sample if page else None,
        )

    return await asyncio.to_thread(look)


@router.post(
    "",
    status_code=201,
    summary="Review a sample",
    responses={
        201: example(examples.REVIEW),
        **problem_responses(
            *_READS,
            SampleNotFoundError,
            SampleChangedError,
            ReviewRefusedError,
            DataRootUnwritableError,
            ForeignOriginError,
            body=True,
        ),
    },
)
async def create_review(desk: CurrentDesk, caller: CurrentCaller, name: str, entry: ReviewEntry) -> SampleReview:
    """Write a verdict, or undo one, in the name of the key's owner. It is on the disk when this answers, and once,
    however often it is sent: the client makes its id. To settle what others differ on, a key needs `operate`.
    """
    if entry.settles:
        caller.require("operate")
    dataset = await asyncio.to_thread(desk.load, name)
    return await asyncio.to_thread(desk.record, dataset, _reviewer(caller), entry)


@router.get(
    "/samples",
    summary="List samples to review",
    responses={200: example(examples.BLIND_SAMPLES), **problem_responses(*_READS, SampleNotFoundError)},
)
async def list_blind_samples(
    desk: CurrentDesk,
    caller: CurrentCaller,
    name: str,
    *,
    state: Annotated[
        ReviewFilter,
        Query(description="`unreviewed` by the caller, or of which this became"),
    ] = "unreviewed",
    sample: Annotated[str | None, Query(description="only this one")] = None,
    after: Annotated[str | None, Query(description="only samples behind this one, in the data set's order")] = None,
    before: Annotated[str | None, Query(description="only samples before this one, the nearest first")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 1,
) -> BlindSampleList:
    """Return samples without truth, evidence and the verdicts of others, as a reviewer is to answer them."""

    def look() -> BlindSampleList:
        dataset, own = desk.load(name), _reviewer(caller)
        reviews = _visible(desk.reviews(dataset), caller)
        mine = {one: given[own] for one, given in reviews.by_sample.items() if own in given}

        def is_wanted(one: str) -> bool:
            if state == "unreviewed":
                return one not in mine
            return state in ("all", reviews.decision(one).state)

        chosen = (
            [find_sample(dataset, sample)]
            if sample is not None
            else choose_samples(dataset, is_wanted, after=after, before=before, most=limit)
        )
        return BlindSampleList(
            data=[desk.blind(dataset, one, mine.get(one.id)) for one in chosen],
            reviewer=own,
            samples=len(dataset.samples),
            reviewed=len(mine),
            may_settle=caller.sees_all,
        )

    return await asyncio.to_thread(look)


@router.get(
    "/samples/{sample_id}",
    summary="Get a sample with its truth",
    responses={200: example(examples.REVEALED_SAMPLE), **problem_responses(*_READS, SampleNotFoundError)},
)
async def get_revealed_sample(desk: CurrentDesk, caller: CurrentCaller, name: str, sample_id: str) -> RevealedSample:
    """Return a sample with truth, evidence in pixels, and the verdicts that the caller may see: once it is answered."""

    def look() -> RevealedSample:
        dataset = desk.load(name)
        sample = find_sample(dataset, sample_id)
        reviews = _visible(desk.reviews(dataset), caller)
        return desk.revealed(dataset, sample, dict(reviews.by_sample.get(sample.id, {})), _reviewer(caller))

    return await asyncio.to_thread(look)


def _reviewer(caller: Caller) -> str:
    return caller.owner or ANONYMOUS


def _visible(reviews: Reviews, caller: Caller) -> Reviews:
    return reviews if caller.sees_all else reviews.only(lambda reviewer: reviewer == _reviewer(caller))
