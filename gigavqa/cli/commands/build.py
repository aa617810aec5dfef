"""`gigavqa build`: questions of annotated pictures, checked against guessing, as a data set."""

from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gigavqa.cli.arguments import JsonOption, TitleOption, UrlOption, parse_pair
from gigavqa.cli.build_calls import (
    ASK_NONE,
    AskOption,
    DryRunOption,
    MostCallsOption,
    MostMoneyOption,
    RatesOption,
    call_desk,
    parse_rate,
    print_forecast,
)
from gigavqa.cli.build_display import print_build, print_builds, print_explanation, print_omissions
from gigavqa.cli.consent import WithReviewsOption, require_consent, require_reviews_told
from gigavqa.cli.console import out, print_json, print_json_list
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.help import HelpGroup
from gigavqa.cli.lookup import catalogue
from gigavqa.cli.reviewing import print_review_address
from gigavqa.cli.work_line import work_line
from gigavqa.client.connection import DEFAULT_URL
from gigavqa.runtime.home import Home
from gigavqa.runtime.plurals import count_noun
from gigavqa.runtime.suggestions import did_you_mean

if TYPE_CHECKING:
    from gigavqa.construction.build_summary import BuildSummary
    from gigavqa.construction.builds import Build
    from gigavqa.construction.recipes.recipe import CategoryNames


class BuildGroup(HelpGroup):
    """The commands on builds; whatever else stands first is the name of a build to be made."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take a name for `make NAME`; two words of which the first is nearly a command are one that is mistyped."""
        word, *rest = args
        close = did_you_mean(word, self.commands) if rest and not rest[0].startswith("-") else ""
        if word not in self.commands and close:
            raise ArgumentError(f"`gigavqa build` has no command '{word}'{close}")
        return super().resolve_command(ctx, args if args[0] in self.commands else ["make", *args])


app = typer.Typer(
    cls=BuildGroup,
    help="""Make questions of annotated pictures, and a data set of them; no model takes part unless --ask names one.

    \b
    gigavqa build ships --from coco.json --images scenes
    gigavqa build ships --from coco.json --images scenes --recipes count,extreme --per-image 20 --seed 7
    gigavqa build review ships
    gigavqa submit -d ships -m qwen3-vl-8b --plan evidence
    """,
    no_args_is_help=True,
)


class ExportForm(StrEnum):
    """What a build is exported as."""

    COCO = "coco"
    HUGGINGFACE = "huggingface"
    QUESTIONS = "questions"
    LABELSTUDIO = "labelstudio"
    CVAT = "cvat"
    QUPATH = "qupath"


BuildArgument = Annotated[str, typer.Argument(metavar="NAME", help="The build, and the data set that it makes.")]


Source = Annotated[
    list[Path] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        exists=True,
        show_default=False,
        help="The annotations, a file or a folder of files; those of the last time if omitted.",
    ),
]
Images = Annotated[
    Path | None,
    typer.Option(
        "--images", metavar="FOLDER", exists=True, file_okay=False, show_default=False, help="Where the pictures are."
    ),
]
Form = Annotated[
    str,
    typer.Option(
        metavar="FORM",
        show_default=False,
        help="Of the annotations: coco, dota, labelstudio, cvat, yolo, qupath, csv, geojson, panda, mvtec-loco or "
        "wsivqa; found out if omitted.",
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--benchmark", metavar="NAME", help="Whose records the questions are; questions if omitted.", show_default=False
    ),
]
Recipes = Annotated[
    str,
    typer.Option(metavar="NAME,NAME", help="Which questions; all that there are if omitted.", show_default=False),
]
PerImage = Annotated[
    int | None, typer.Option(min=0, help="Questions of a picture at most; 0 is no bound, else 12, or what recipes say.")
]
PerRecipe = Annotated[
    int | None, typer.Option(min=0, help="Questions of a recipe at most; 0 is no bound, else what it says.")
]
Examples = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="PICTURES",
        help="Of each category, pictures whose questions are set apart as examples, and never asked; 0 if omitted.",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--call", metavar="CATEGORY=ONE,MANY", help="What one and several are called: ship=ship,ships (repeatable)."
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Choose a parameter of a recipe: answers=choices, t3=paper (repeatable)."
    ),
]
Landmarks = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, show_default=False, help="Annotations of places, each called by its `landmark`."
    ),
]
AttributeTable = Annotated[
    Path | None,
    typer.Option(
        "--attributes", metavar="CSV", exists=True, dir_okay=False, show_default=False,
        help="Further attributes: a column `object` of ids, and one for each attribute.",
    ),
]  # fmt: skip
Bundles = Annotated[
    Path | None,
    typer.Option(
        metavar="TOML", exists=True, dir_okay=False, show_default=False, help="Groups of objects by their attributes."
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Makes every draw repeatable; 0 if omitted.")]


Annotator = Annotated[
    str, typer.Option(metavar="NAME", help="Whose annotations, where a file has several people's.", show_default=False)
]
Unit = Annotated[
    str, typer.Option(metavar="pixels|parts", help="Of a table's coordinates, where both fit.", show_default=False)
]
CategoryColumn = Annotated[
    str, typer.Option(metavar="NAME", help="Which column or property holds categories.", show_default=False)
]
OneImage = Annotated[
    str, typer.Option(metavar="FILE", help="Which picture a file of one picture is about.", show_default=False)
]


@app.command()
def make(
    name: BuildArgument,
    source: Source = None,
    images: Images = None,
    form: Form = "",
    benchmark: Target = "",
    recipes: Recipes = "",
    per_image: PerImage = None,
    per_recipe: PerRecipe = None,
    examples: Examples = None,
    call: Names = None,
    chosen: Parameters = None,
    landmarks: Landmarks = None,
    attributes: AttributeTable = None,
    bundles: Bundles = None,
    annotator: Annotator = "",
    unit: Unit = "",
    category: CategoryColumn = "",
    image: OneImage = "",
    seed: Seed = None,
    title: TitleOption = "",
    ask: AskOption = "",
    at_most_calls: MostCallsOption = None,
    at_most: MostMoneyOption = "",
    rate: RatesOption = None,
    dry_run: DryRunOption = False,
    url: UrlOption = DEFAULT_URL,
    json: JsonOption = False,
) -> None:
    """Make questions of annotations, check that nobody can guess them, and put them into the data root.

    The same command again goes on where it was interrupted, and makes anew only what hangs on a change; without --from
    it repeats the last one. `gigavqa build NAME` is the same as `gigavqa build make NAME`.
    """
    from gigavqa.construction.build_dataset import update_dataset
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.build_settings import BuildSettings
    from gigavqa.construction.build_summary import BuildSummary
    from gigavqa.construction.builds import Build
    from gigavqa.construction.publishing import require_own
    from gigavqa.evaluation.dataset_settings import REVIEWS

    home = Home.from_environment()
    folder = BuildFolder(_builds(), name)
    options = {"annotator": annotator, "unit": unit, "category": category, "image": image}
    given = {
        "source": _only(source),
        "images": images and images.resolve(),
        "landmarks": landmarks and landmarks.resolve(),
        "attributes": attributes and attributes.resolve(),
        "bundles": bundles and bundles.resolve(),
        "form": form,
        "options": {key: value for key, value in options.items() if value},
        "benchmark": benchmark,
        "recipes": tuple(filter(None, map(str.strip, recipes.split(",")))),
        "per_image": per_image,
        "per_recipe": per_recipe,
        "examples": examples,
        "names": dict(map(_names, call or ())),
        "parameters": dict(map(_parameter, chosen or ())),
        "seed": seed,
        "title": title,
        "ask": ask and ask != ASK_NONE and catalogue().find(ask).id,
        "at_most_calls": at_most_calls,
        "at_most": at_most,
        "rates": dict(map(parse_rate, rate or ())),
    }
    said = {key: value for key, value in given.items() if value or value == 0}
    settings = BuildSettings.of(folder, {**said, "ask": ""} if ask == ASK_NONE else said)
    with folder.locked(), work_line(), call_desk(folder, settings, url) as desk:
        require_own(home.data, name)
        build = Build(folder, settings)
        if dry_run:
            forecasts = build.forecast(desk)
            print_json_list([one.document() for one in forecasts]) if json else print_forecast(forecasts)
            return
        build.run(desk)
        made = BuildSummary.of(build)
        if made.questions == 0:
            print_omissions(made.omissions)
            raise ArgumentError(_no_questions(made))
        page = update_dataset(build, made, home.data)
    print_json(made.document()) if json else print_build(made, page, has_reviews=(home.data / name / REVIEWS).is_dir())


@app.command()
def explain(
    name: BuildArgument,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The id of a question, or a picture's name.")],
    json: JsonOption = False,
) -> None:
    """Say how a question came about: what was marked, what follows from it, and what became of it.

    Of a picture: what was looked at and rejected in it, and why.
    """
    from gigavqa.construction.explaining import explain_build

    found = explain_build(_existing(name), question)
    print_json(found) if json else print_explanation(found)


@app.command()
def review(
    name: BuildArgument,
    browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Say where people review the questions of a build: keep, mend or drop each one.

    `gigavqa dataset reviews NAME` tells how far they are, and how far they agree.
    """
    _existing(name)
    print_review_address(name, url, opens=browser)


@app.command()
def export(
    name: BuildArgument,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The file, or the folder of Parquet or of QuPath's files.")
    ],
    form: Annotated[ExportForm, typer.Option("--form", "-f", metavar="FORM", help="As what.")] = ExportForm.COCO,
) -> None:
    """Write a build's questions as people left them: without what reviewers dropped, with what they mended.

    `coco` is COCO with questions, `huggingface` Parquet for the Hub, `questions` lines for `gigavqa dataset import`.
    `labelstudio`, `cvat` and `qupath` are for those tools: what is edited there, `gigavqa build NAME --from` reads as
    the same objects, by their ids.

    \b
    gigavqa build export ships ships.json
    gigavqa build export ships reviewed.jsonl --form questions
    gigavqa build export ships tasks.json --form labelstudio
    gigavqa dataset import reviewed.jsonl ships-reviewed --images scenes --benchmark questions
    """
    from gigavqa.construction.build_folder import canonical_json
    from gigavqa.construction.exports import write_coco, write_huggingface
    from gigavqa.construction.publishing import reviewed_records
    from gigavqa.construction.tool_exports.drawn_objects import drawn_images
    from gigavqa.construction.tool_exports.tools import write_for_tool
    from gigavqa.reports.writers.verdict_files import open_whole_file

    build, dataset = _existing(name), Home.from_environment().data / name
    if target.exists():
        raise ArgumentError(f"{target} is there already; name another place")
    if form is ExportForm.HUGGINGFACE and build.settings.benchmark != "questions":
        told = f"--form huggingface has no columns for records of {build.settings.benchmark}"
        raise ArgumentError(f"{told}; take questions for lines of them, or coco")
    records, counts = reviewed_records(dataset, build.records())
    if form is ExportForm.COCO:
        write_coco(target, build.images(), records)
    elif form is ExportForm.HUGGINGFACE:
        write_huggingface(target, records, build.image_folder, title=build.settings.title or name)
    elif form is ExportForm.QUESTIONS:
        with open_whole_file(target) as file:
            file.writelines(f"{canonical_json(record)}\n".encode() for record in records)
    else:
        write_for_tool(form.value, target, lambda: drawn_images(build.images(), records))
    told = f"{counts.kept} kept, {counts.mended} mended, {counts.dropped} dropped, {counts.unreviewed} not reviewed"
    out.print(f"{count_noun(len(records), 'question')} in {target}: {told}", markup=False)


@app.command()
def grid(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", exists=True, file_okay=False, help="A product's folder.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", file_okay=False, help="The folder that grids are put into.")],
    rows: Annotated[int, typer.Option(min=1, help="Rows of a grid.")] = 10,
    columns: Annotated[int, typer.Option(min=1, help="Columns of a grid.")] = 10,
    grids: Annotated[int, typer.Option(min=1, help="Grids of each kind of anomaly at most.")] = 10,
    chosen: Parameters = None,
    seed: Annotated[int, typer.Option(min=0, help="Makes every draw repeatable.")] = 0,
    json: JsonOption = False,
) -> None:
    """Compose grids of a product's pictures, one anomalous among normal ones, without questions about them.

    Pictures stand at their own size, without gap, as lossless pyramids; composition.json names those of every cell.

    \b
    gigavqa build grid pushpins grids --grids 2
    gigavqa build grid screw_bag grids --set defects=own.toml
    """
    from gigavqa.construction.composites import compose_alone

    shape = {"rows": str(rows), "columns": str(columns), "grids": str(grids)}
    with work_line():
        made, omissions = compose_alone(source, target, {**dict(map(_parameter, chosen or ())), **shape}, seed)
    if json:
        print_json({"pictures": [one.document for one in made], "omissions": omissions.document()})
        return
    print_omissions(omissions.document())
    size = f"{made[0].image.width:,} x {made[0].image.height:,}"
    out.print(
        f"{count_noun(len(made), 'grid')} of {size} in {target}; composition.json says what is where", markup=False
    )


@app.command("publish")
def publish_reviewed(
    name: BuildArgument,
    other: Annotated[str, typer.Option("--as", metavar="NAME", help="Of the data set; NAME-reviewed if omitted.")] = "",
    unreviewed: Annotated[bool, typer.Option("--unreviewed", help="With questions that nobody reviewed.")] = False,
) -> None:
    """Make a data set of the questions that reviewers kept, with what they mended and without what they dropped.

    Refused while some are not reviewed, unless --unreviewed says that they go in; the title then tells how many. The
    build's own data set stays as it is, with its reviews.

    \b
    gigavqa build publish ships
    gigavqa build publish ships --as ships-gold --unreviewed
    """
    from gigavqa.construction.publishing import publish, reviewed_records

    build, data, other = _existing(name), Home.from_environment().data, other or f"{name}-reviewed"
    if other == name:
        raise ArgumentError(f"--as {other}: is what is reviewed; give another name")
    records, counts = reviewed_records(data / name, build.records())
    told = f"{counts.kept} kept, {counts.mended} mended, {counts.dropped} dropped, {counts.unreviewed} not reviewed"
    if counts.unreviewed and not unreviewed:
        raise ArgumentError(f"{name}: {told}; review the rest (`gigavqa build review {name}`), or say --unreviewed")
    if not records:
        raise ArgumentError(f"{name}: {told}; nothing is left of it")
    part = f"{counts.unreviewed} of {len(records)} not reviewed" if counts.unreviewed else "reviewed"
    with build.folder.locked():
        build.folder.write_lines("reviewed.jsonl", records)
        publish(
            build.folder, build.folder.file("reviewed.jsonl"), build.image_folder, data,
            benchmark=build.settings.benchmark, title=f"{build.settings.title or name} ({part})", name=other,
        )  # fmt: skip
    out.print(f"{count_noun(len(records), 'question')} in the data set {other}: {told}", markup=False)


@app.command()
def delete(
    name: BuildArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
    with_reviews: WithReviewsOption = False,
    url: UrlOption = DEFAULT_URL,
) -> None:
    """Delete a build and the data set that it made. Nothing brings them back; sources and pictures stay.

    What people said of its questions goes with it: --yes wants --with-reviews beside it then. What was published of
    it, or exported, stays.
    """
    from gigavqa.cli.dataset_jobs import require_no_open_job
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.publishing import is_of_build
    from gigavqa.evaluation.dataset_deletion import delete_dataset, measure_dataset

    home = Home.from_environment()
    folder, dataset = BuildFolder.existing(_builds(), name), home.data / name
    goes = [folder.path, *([dataset] if is_of_build(dataset, name) else [])]
    if dataset in goes:
        require_no_open_job(home, url, name)
    reviews = require_reviews_told(dataset, yes=yes, with_reviews=with_reviews) if dataset in goes else ""
    if not yes:
        files = count_noun(sum(measure_dataset(one).files for one in goes), "file")
        require_consent(f"delete {' and '.join(map(str, goes))}, {files}{reviews}?")
    with folder.locked():
        for one in reversed(goes):
            delete_dataset(one)
    out.print(f"{' and '.join(map(str, goes))} deleted", markup=False)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the builds: questions, pictures, and what they were made of."""
    from gigavqa.construction.build_summary import BuildSummary

    names = sorted(place.parent.name for place in _builds().glob("*/selection.json"))
    made = [BuildSummary.of(_existing(name)) for name in names]
    print_json_list([each.document() for each in made]) if json else print_builds(made)


def _only(sources: list[Path] | None) -> Path | None:
    if sources and len(sources) > 1:
        told = ", ".join(path.name for path in sources)
        raise ArgumentError(f"--from: {told}: a build has one file or folder; make a build of each")
    return sources[0].resolve() if sources else None


def _builds() -> Path:
    return Home.from_environment().folder / "builds"


def _existing(name: str) -> "Build":
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.build_settings import BuildSettings
    from gigavqa.construction.builds import Build

    folder = BuildFolder.existing(_builds(), name)
    return Build(folder, BuildSettings.of(folder, {}))


def _no_questions(made: "BuildSummary") -> str:
    from gigavqa.construction.selection import CAUSES

    causes = sum((Counter(each.causes) for each in made.yields), Counter({"guessable": 0}))
    causes["guessable"] = sum(each.guessable for each in made.yields)
    if candidates := causes.total():
        told = {**CAUSES, "guessable": "it can be guessed"}
        counts = "; ".join(f"{number:,}: {told[cause]}" for cause, number in causes.most_common() if number)
        return (
            f"no question came of {candidates:,} candidates ({counts}). Each answer must be true somewhere, so that "
            "none can be guessed: that wants more pictures, or more kinds of objects. "
            f"`gigavqa build explain {made.name} IMAGE` tells it of each"
        )
    return f"nothing can be asked about these annotations; `gigavqa build explain {made.name} IMAGE` says why"


def _parameter(text: str) -> tuple[str, str]:
    """Read a parameter; of a file the whole path, since a build is repeated from other folders, too."""
    name, value = parse_pair(text, "--set", "answers=choices")
    return name, str(Path(value).resolve()) if Path(value).is_file() else value


def _names(text: str) -> "tuple[str, CategoryNames]":
    from gigavqa.construction.recipes.recipe import CategoryNames

    category, names = parse_pair(text, "--call", "ship=ship,ships")
    one, comma, many = names.partition(",")
    if not (comma and one.strip() and many.strip()):
        raise ArgumentError(f"--call {text}: give what one and several are called, such as {category}=ship,ships")
    return category, CategoryNames(one.strip(), many.strip())
