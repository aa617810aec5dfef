"""`gigavqa build --ask`: what a dry run prints, what the page tells, and what is refused."""

from pathlib import Path

import pytest

from tests.cli.installation import Installation
from tests.construction.calls.conftest import Service
from tests.construction.calls.painted import cues_seen, write_plazas
from tests.workers.examples import ENTRY


@pytest.mark.slow
def test_a_build_asks_what_its_dry_run_said(service: Service, tmp_path: Path) -> None:
    """The dry run asks nothing; then a bound holds it, and the same command with a larger one asks the rest."""
    write_plazas(tmp_path / "plazas", 4)
    made = Installation(tmp_path, service.gateway.url)
    service.server.begin(lambda seen, _: seen, subject=cues_seen)
    source, images = str(tmp_path / "plazas/person.json"), str(tmp_path / "plazas/images")
    asks = ("build", "seen", "--benchmark", "ultravr", "--from", source, "--images", images, "--ask", ENTRY.id)
    (told,) = made.json(*asks, "--call", "person=person,persons", "--dry-run", "--json")
    assert (told["stage"], told["left"]["calls"], service.server.asked.total()) == ("cctv-cues", 96, 0)
    assert "cctv-cues" in made.ok(*asks, "--call", "person=person,persons", "--dry-run")

    run = made.run(*asks, "--call", "person=person,persons", "--at-most-calls", "72")
    assert (run.returncode, "cctv-cues-open" in run.stderr, service.server.asked.total()) == (0, True, 72), run.stderr
    run = made.run("build", "seen", "--at-most-calls", "100")
    assert (run.returncode, "cctv-cues-open" in run.stderr, service.server.asked.total()) == (0, False, 96), run.stderr
    page = (tmp_path / "builds/seen/index.html").read_text()
    assert f"Models took part: {ENTRY.id}" in page and "Calls of models" in page

    run = made.run("build", "seen", "--ask", "none")
    assert (run.returncode, "nothing can be asked about these annotations" in run.stderr) == (2, True), run.stderr

    run = made.run("build", "seen", "--ask", ENTRY.id, "--at-most", "20 EUR")
    assert (run.returncode, "--rate EUR=DOLLARS" in run.stderr) == (2, True), run.stderr
    run = made.run("build", "seen", "--ask", ENTRY.id, "--at-most", "20 EUR", "--rate", "EUR=often")
    assert (run.returncode, "US dollars" in run.stderr) == (2, True), run.stderr


@pytest.mark.slow
def test_a_dry_run_of_a_build_that_asks_no_model_is_refused(tmp_path: Path) -> None:
    """It has nothing to say."""
    write_plazas(tmp_path / "plazas", 1)
    source, images = str(tmp_path / "plazas/person.json"), str(tmp_path / "plazas/images")
    run = Installation(tmp_path).run("build", "seen", "--from", source, "--images", images, "--dry-run")
    assert (run.returncode, "say --ask MODEL" in run.stderr) == (2, True), run.stderr
