"""Addresses of the pages. They are for people: programs ask the API, whose answers the pages show."""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter
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

_START = Page("Jobs", "Jobs", "jobs.js")
# A report takes the place of the page that brings it: its one script, by its digest, and styles of its numbers.
_REPORT = Page(
    "Report",
    "Jobs",
    "report.js",
    allows={"script-src": f"'sha256-{script_digest()}'", "style-src": "'unsafe-inline'"},
)


def _zooming(title: str, place: str, script: str) -> Page:
    """Return a page that shows a picture as deep zoom."""
    # OpenSeadragon writes one style of its own, the outline of what has the focus.
    allows = {"style-src": "'sha256-9xTiqzfwFaL2SGb1rmr8gysEwVVjIvqWAgmZgqFqpEE='"}
    return Page(title, place, script, libraries=(address_of("openseadragon.min.js"),), allows=allows)


_PAGES: Mapping[str, Page] = {
    "/jobs/{job_id}": Page("Job", "Jobs", "job.js"),
    "/jobs/{job_id}/label": _zooming("Labels", "Jobs", "label.js"),
    "/jobs/{job_id}/report": _REPORT,
    "/reports": _REPORT,
    # Pictures that are sent are drawn from this browser's own copy.
    "/ask": Page("Ask", "Ask", "ask.js", allows={"img-src": "blob:"}),
    "/import": Page("New data set", "Data sets", "import.js"),
    "/datasets": Page("Data sets", "Data sets", "datasets.js"),
    "/datasets/{name}": Page("Data set", "Data sets", "dataset.js"),
    "/datasets/{name}/review": _zooming("Review", "Data sets", "review.js"),
    "/models": Page("Models", "Models", "models.js"),
    "/workers": Page("Workers", "Workers", "workers.js"),
    "/watch": Page(
        "Is it well?",
        "Watch",
        "watch.js",
        libraries=(address_of("uPlot.iife.min.js"),),
        styles=(address_of("uPlot.min.css"),),
    ),
    "/watch/runbook": Page("Runbook", "Watch", "runbook.js"),
    "/docs": Page(
        "API",
        "API",
        "api.js",
        libraries=("/static-offline-docs/swagger-ui-bundle.js",),
        styles=("/static-offline-docs/swagger-ui.css",),
    ),
}


class BrowserRoute(APIRoute):
    """A page whose address programs ask, too: it is theirs unless HTML is wanted."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match requests of browsers alone."""
        wants_page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        return super().matches(scope) if wants_page else (Match.NONE, {})


router = APIRouter(include_in_schema=False, tags=[PAGE])


@router.get("/jobs")
async def get_jobs_page() -> Response:
    """Lead to the jobs."""
    return RedirectResponse("./", status_code=307)


def _show(page: Page, address: str) -> Callable[[CurrentSettings], Awaitable[Response]]:
    async def show(settings: CurrentSettings) -> Response:
        return render_page(page, settings.viewer_url, address.count("/") - 1)

    return show


def _start_router() -> APIRouter:
    start = APIRouter(include_in_schema=False, tags=[PAGE], route_class=BrowserRoute)
    start.add_api_route("/", _show(_START, "/"), methods=["GET"])
    return start


router.include_router(_start_router())
for _address, _page in _PAGES.items():
    router.add_api_route(_address, _show(_page, _address), methods=["GET"])
router.include_router(assets.router)
