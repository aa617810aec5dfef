"""Plans by which data sets can be asked: the plans of the installed benchmarks, each a named list of cells."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.service.http import examples
from gigavqa.service.http.openapi import example, problem_responses

router = APIRouter(prefix="/v1", tags=["datasets"])


class PlanCard(BaseModel):
    """One plan of a benchmark; the first one of a benchmark is what is asked when a job names none."""

    benchmark: str
    name: str
    cells: tuple[Cell, ...]


class PlanList(BaseModel):
    """All plans, by benchmark."""

    object: Literal["list"] = "list"
    data: list[PlanCard]


@router.get("/plans", summary="List plans", responses={200: example(examples.PLANS), **problem_responses()})
async def list_plans(
    benchmark: Annotated[str | None, Query(description="only those of this benchmark")] = None,
) -> PlanList:
    """List what a job may name as its `plan`, with the cells that each stands for."""
    known = await asyncio.to_thread(installed_benchmarks)
    return PlanList(
        data=[
            PlanCard(benchmark=name, name=plan, cells=cells)
            for name, one in known.items()
            for plan, cells in one.plans.items()
            if benchmark in (None, name)
        ]
    )
