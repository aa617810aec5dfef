"""Settings of a process: arguments over environment over a settings file over defaults; what is wrong is named."""

import argparse
import os
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import BeforeValidator, ByteSize, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_rule

CONFIG_VARIABLE = "GIGAVQA_CONFIG"
"""Names the settings file, which `--config` does, too."""

TABLES = ("gateway", "worker", "viewer")
"""Tables of the settings file, one for each kind of process; what all of them share stands above them."""


@dataclass(frozen=True)
class FieldSpelling:
    """The spelling of a field whose own name would be clumsy, and the names of its value and its default."""

    argument: str = ""
    metavar: str = ""
    default: str = ""


def _split(given: object) -> object:
    return tuple(word.strip() for word in given.split(",")) if isinstance(given, str) else given


CommaSeparated = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""Texts: separated by commas in a variable, a list in the file, a repeated argument."""


class ProcessSettings(BaseSettings):
    """Settings of one kind of process. Making one reads nothing; `read` and `from_environment` do.

    A field is `prefix` and its name in capitals in the environment, its name in the `table` of the settings file, and
    `--its-name` on the command line.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid", env_ignore_empty=True, validate_by_name=True)

    program: ClassVar[str] = ""
    table: ClassVar[str] = ""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what is given, and nothing from behind."""
        return (init_settings,)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """Read the environment, and the settings file that it names. Raises SettingsInvalidError."""
        return cls._merged({}, environ)

    @classmethod
    def read(cls, argv: Sequence[str], environ: Mapping[str, str] = os.environ) -> Self:
        """Read the command line, the environment and the settings file. Raises SettingsInvalidError.

        Ends the process where argparse does: after `--help`, and on what is no argument.
        """
        return cls._merged(vars(_parser(cls).parse_args(argv)), environ)

    @classmethod
    def places(cls) -> Iterator["SettingField"]:
        """Return every field in the order of the class, with all its names."""
        return (SettingField(cls, name, field) for name, field in cls.model_fields.items())

    @classmethod
    def _merged(cls, arguments: dict[str, Any], environ: Mapping[str, str]) -> Self:
        path = arguments.pop("config", None) or environ.get(CONFIG_VARIABLE)
        filed = _read_file(cls, Path(path)) if path else {}
        variables = _read_variables(cls, environ)
        try:
            return cls.model_validate({**filed, **variables, **arguments})
        except ValidationError as error:
            named = {place.name: f"{path}: {place.in_file}" for place in cls.places()}
            named |= {place.name: place.variable for place in cls.places() if place.name in variables}
            named |= {place.name: place.argument for place in cls.places() if place.name in arguments}
            # What would follow from a wrong value is not wrong by itself.
            found = [each for each in error.errors() if each["type"] != "default_factory_not_called"]
            wrong = (f"{named[str(each['loc'][0])]}: {describe_rule(each)}" for each in found)
            raise SettingsInvalidError("; ".join(dict.fromkeys(wrong))) from error


@dataclass(frozen=True)
class SettingField:
    """A field of settings, and the places where it can be set."""

    settings: type[ProcessSettings]
    name: str
    field: FieldInfo

    @property
    def spelt(self) -> FieldSpelling:
        """Its spelling."""
        return next((said for said in self.field.metadata if isinstance(said, FieldSpelling)), FieldSpelling())

    @property
    def is_shared(self) -> bool:
        """Whether it stands above the tables of the file: every process of an installation has it."""
        return self.field.validation_alias is not None

    @property
    def key(self) -> str:
        """Its name in the settings file."""
        return self.spelt.argument if self.is_shared and self.spelt.argument else self.name

    @property
    def in_file(self) -> str:
        """The place in the settings file."""
        return self.key if self.is_shared else f"[{self.settings.table}] {self.key}"

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        prefix = str(self.settings.model_config.get("env_prefix", ""))
        return str(self.field.validation_alias or f"{prefix}{self.name}").upper()

    @property
    def argument(self) -> str:
        """Its name on the command line."""
        return f"--{self.spelt.argument or self.name.replace('_', '-')}"

    @property
    def default(self) -> str:
        """The default, in words."""
        if self.spelt.default:
            return self.spelt.default
        default = self.field.get_default()
        if isinstance(default, tuple):
            return ", ".join(map(str, default)) or "none"
        if isinstance(default, ByteSize):
            return default.human_readable()
        if isinstance(default, float):
            return f"{default:g}"
        return {None: "none", True: "yes", False: "no"}.get(default, str(default))

    @property
    def metavar(self) -> str:
        """The name of its value."""
        if get_args(self.field.annotation) and isinstance(get_args(self.field.annotation)[0], str):
            return "{" + ",".join(get_args(self.field.annotation)) + "}"
        if self.field.annotation is ByteSize:
            return "SIZE"
        unit = self.name.rpartition("_")[2].upper()
        return self.spelt.metavar or (unit if unit in {"SECONDS", "DAYS", "BYTES"} else "N")

    @property
    def is_list(self) -> bool:
        """Whether its argument may be repeated."""
        return get_origin(self.field.annotation) is tuple


class _SettingsParser(argparse.ArgumentParser):
    """Says what is wrong in one line: a usage of forty arguments would hide it."""

    def error(self, message: str) -> Any:
        self.exit(2, f"{self.prog}: {message}; --help lists all arguments\n")


def _parser(cls: type[ProcessSettings]) -> argparse.ArgumentParser:
    parser = _SettingsParser(
        prog=cls.program,
        usage="%(prog)s [ARGUMENT ...]",
        description=(cls.__doc__ or "").partition("\n")[0],
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        epilog="Arguments go before variables, these before the settings file.",
    )
    parser.add_argument("--config", metavar="FILE", help=f"settings file, TOML ({CONFIG_VARIABLE})")
    for place in cls.places():
        told = f"{place.field.description} ({place.variable}; default: {place.default})".replace("%", "%%")
        if place.field.annotation is bool:
            parser.add_argument(place.argument, dest=place.name, action=argparse.BooleanOptionalAction, help=told)
        else:
            action = "append" if place.is_list else "store"
            parser.add_argument(place.argument, dest=place.name, action=action, metavar=place.metavar, help=told)
    return parser


def _read_variables(cls: type[ProcessSettings], environ: Mapping[str, str]) -> dict[str, Any]:
    source = EnvSettingsSource(cls)
    source.env_vars = {name.lower(): value for name, value in environ.items() if value}
    names = {str(field.validation_alias or name): name for name, field in cls.model_fields.items()}
    return {names.get(key, key): value for key, value in source().items()}


def _read_file(cls: type[ProcessSettings], path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalidError(f"the settings file {path} cannot be read: {error}") from error
    shared = {place.key: place.name for place in cls.places() if place.is_shared}
    own = {place.key: place.name for place in cls.places() if not place.is_shared}
    table = document.get(cls.table, {})
    if wrong := [name for name in TABLES if not isinstance(document.get(name, {}), dict)]:
        raise SettingsInvalidError(f"{path}: '{wrong[0]}' is to be a table, [{wrong[0]}]")
    unknown = [
        *_unknown_fields(str(path), document, (*shared, *TABLES)),
        *_unknown_fields(f"{path} [{cls.table}]", table, own),
    ]
    if unknown:
        raise SettingsInvalidError("; ".join(unknown))
    given = {name: document[key] for key, name in shared.items() if key in document}
    return given | {name: table[key] for key, name in own.items() if key in table}


def _unknown_fields(where: str, given: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for name in given:
        if name not in known:
            yield f"{where}: there is no setting '{name}'{did_you_mean(name, known)}"
