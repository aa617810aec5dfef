"""`gigavqa build`: questions of annotated pictures, checked against guessing, as a data set."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gigavqa.cli.arguments import JsonOption, SeedOption, TitleOption
from gigavqa.cli.build_display import explain_question, print_build, print_builds
from gigavqa.cli.console import out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.help import HelpGroup
from gigavqa.cli.work_line import work_line
from gigavqa.runtime.home import Home


class BuildGroup(HelpGroup):
    """The commands on builds; whatever else stands first is the name of a build to be made."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take a name for `make NAME`."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["make", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=BuildGroup,
    help="""Make questions of annotated pictures, without a model, and a data set of them.

    \b
    gigavqa build ships --from coco.json --images scenes
    gigavqa build ships --from coco.json --images scenes --recipes count,extreme --per-image 20 --seed 7
    gigavqa build review ships
    gigavqa submit -d ships -m qwen3-vl-8b --plan evidence
    """,
    no_args_is_help=True,
)
BuildArgument = Annotated[str, typer.Argument(metavar="NAME", help="The build, and the data set that it makes.")]


Source = Annotated[
    Path | None,
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
    str, typer.Option(metavar="FORM", help="Of the annotations, where their content fits several.", show_default=False)
]
Recipes = Annotated[
    str,
    typer.Option(metavar="NAME,NAME", help="Which questions; all that there are if omitted.", show_default=False),
]
PerImage = Annotated[int | None, typer.Option(min=1, help="Questions of a picture at most; 12 if omitted.")]
PerRecipe = Annotated[int | None, typer.Option(min=0, help="Questions of a recipe at most; 0 is no bound.")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--call", metavar="CATEGORY=ONE,MANY", help="What one and several are called: ship=ship,ships (repeatable)."
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Makes every draw repeatable; 0 if omitted.")]


@app.command()
def make(
    name: BuildArgument,
    source: Source = None,
    images: Images = None,
    form: Form = "",
    recipes: Recipes = "",
    per_image: PerImage = None,
    per_recipe: PerRecipe = None,
    call: Names = None,
    seed: Seed = None,
    title: TitleOption = "",
    json: JsonOption = False,
) -> None:
    """Make questions of annotations, check that nobody can guess them, and put them into the data root.

    The same command again goes on where it was interrupted, and makes anew only what hangs on a change; without --from
    it repeats the last one. `gigavqa build NAME` is the same as `gigavqa build make NAME`.
    """
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.builds import Build, BuildSettings

    home = Home.from_environment()
    folder = BuildFolder(home.folder / "builds", name)
    given = {
        "source": source and source.resolve(),
        "images": images and images.resolve(),
        "form": form,
        "recipes": tuple(filter(None, (one.strip() for one in recipes.split(",")))),
        "per_image": per_image,
        "per_recipe": per_recipe,
        "names": dict(_names(text) for text in call or ()),
        "seed": seed,
        "title": title,
    }
    settings = BuildSettings.of(folder, {key: value for key, value in given.items() if value not in (None, "", (), {})})
    with folder.locked(), work_line():
        made = Build(folder, settings).make(home.data)
    print_json(made.document()) if json else print_build(made)


@app.command()
def explain(name: BuildArgument, question: QuestionArgument, json: JsonOption = False) -> None:
    """Say how a question came about: what was marked, what follows from it, and what became of the question.

    Of a picture: what was looked at and rejected in it, and why.
    """
    from gigavqa.construction.build_folder import BuildFolder
    from gigavqa.construction.builds import Build, BuildSettings
    from gigavqa.construction.explaining import explain as explain_question

    folder = BuildFolder.existing(Home.from_environment().folder / "builds", name)
    found = explain_question(Build(folder, BuildSettings.of(folder, {})), question)
    print_json(found) if json else print_explanation(found)


@app.command()
def review(name: BuildArgument) -> None:
    """Say where people review the questions of a build: keep, mend or drop each one."""
    from gigavqa.cli.reviewing import open_review

    open_review(name)


@app.command()
def export(
    name: BuildArgument,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The file, or the folder, to write.")],
    form: Annotated[ExportForm, typer.Option("--form", "-f", help="How.")] = ExportForm.COCO,
) -> None:
    """Write a build's questions for other tools: COCO with questions, or Parquet for the Hugging Face Hub."""


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List the builds: questions, pictures, and what they were made of."""


def _names(text: str) -> tuple[str, tuple[str, str]]:
    category, names = parse_pair(text, "--call", "ship=ship,ships")
    one, comma, many = names.partition(",")
    if not (comma and one.strip() and many.strip()):
        raise ArgumentError(f"--call {text}: give what one and several are called, such as {category}=ship,ships")
    return category, (one.strip(), many.strip())
