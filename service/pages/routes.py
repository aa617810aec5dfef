"""Addresses of the pages. They are for people: programs ask the API, whose answers the pages show."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match
from starlette.types import Scope

from gigavqa.reports.writers.page.page import script_digest
from gigavqa.service.http.parameters import PAGE, CurrentSettings
from gigavqa.service.pages import assets
from gigavqa.service.pages.assets import address_of
from gigavqa.service.pages.shell import Page, render_page


class BrowserRoute(APIRoute):
    """A page whose address programs ask, too: it is theirs unless HTML is wanted."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match requests of browsers alone."""
        wants_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        return super().matches(scope) if wants_page else (Match.NONE, {})


start = APIRouter(include_in_schema=False, tags=[PAGE], route_class=BrowserRoute)
router = APIRouter(include_in_schema=False, tags=[PAGE])

_JOBS = Page("Jobs", "Jobs", "jobs.js")
_JOB = Page("Job", "Jobs", "job.js")
_DATASETS = Page("Data sets", "Data sets", "datasets.js")
_DATASET = Page("Data set", "Data sets", "dataset.js")
_MODELS = Page("Models", "Models", "models.js")
_WORKERS = Page("Workers", "Workers", "workers.js")
_WATCH = Page(
    "Is it well?",
    "Watch",
    "watch.js",
    libraries=(address_of("uPlot.iife.min.js"),),
    styles=(address_of("uPlot.min.css"),),
)
_API = Page(
    "API",
    "API",
    "api.js",
    libraries=("/static-offline-docs/swagger-ui-bundle.js",),
    styles=("/static-offline-docs/swagger-ui.css",),
)
_REPORT = Page(
    # The page of a report takes this one's place: one script, by its digest, and styles of its numbers.
    "Report",
    "Jobs",
    "report.js",
    allows={"script-src": f"'sha256-{script_digest()}'", "style-src": "'unsafe-inline'"},
)
_RUNBOOK = Page("Runbook", "Watch", "runbook.js")


@start.get("/")
async def get_start_page(settings: CurrentSettings) -> Response:
    """Show the jobs, live."""
    return render_page(_JOBS, settings.viewer_url)


@router.get("/jobs")
async def get_jobs_page() -> Response:
    """Lead to the jobs."""
    return RedirectResponse("/", status_code=307)


@router.get("/jobs/{job_id}")
async def get_job_page(settings: CurrentSettings, job_id: Annotated[str, Path()]) -> Response:
    """Show one job, live."""
    return render_page(_JOB, settings.viewer_url)


@router.get("/jobs/{job_id}/report")
async def get_report_page(settings: CurrentSettings, job_id: Annotated[str, Path()]) -> Response:
    """Show a job's report to a browser that has a key, which links do not send."""
    return render_page(_REPORT, settings.viewer_url)


@router.get("/datasets")
async def get_datasets_page(settings: CurrentSettings) -> Response:
    """Show the data sets, each with a picture."""
    return render_page(_DATASETS, settings.viewer_url)


@router.get("/datasets/{name}")
async def get_dataset_page(settings: CurrentSettings, name: Annotated[str, Path()]) -> Response:
    """Show the pictures and questions of a data set."""
    return render_page(_DATASET, settings.viewer_url)


@router.get("/models")
async def get_models_page(settings: CurrentSettings) -> Response:
    """Show the catalogue."""
    return render_page(_MODELS, settings.viewer_url)


@router.get("/workers")
async def get_workers_page(settings: CurrentSettings) -> Response:
    """Show who serves which model."""
    return render_page(_WORKERS, settings.viewer_url)


@router.get("/watch")
async def get_watch_page(settings: CurrentSettings) -> Response:
    """Show operators whether all is well."""
    return render_page(_WATCH, settings.viewer_url)


@router.get("/docs")
async def get_api_page(settings: CurrentSettings) -> Response:
    """Show the description of the API, whose operations can be tried there."""
    return render_page(_API, settings.viewer_url)


@router.get("/watch/runbook")
async def get_runbook_page(settings: CurrentSettings) -> Response:
    """Show what to do about each concern."""
    return render_page(_RUNBOOK, settings.viewer_url)


router.include_router(start)
router.include_router(assets.router)
