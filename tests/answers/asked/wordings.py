"""Questions that count or name things, and replies that say several things, in eleven languages.

`{a}` and `{b}` are nouns behind a number, `{one_a}` one with its article, `{none_a}` one that is denied; `{n}` counts
`{a}`, `{m}` counts `{b}`, and `{w}` all of which `{n}` are a part.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun as it stands behind a number above four, alone behind a denial, with its article, and with two colours."""

    many: str
    none: str
    one: str
    red: str
    blue: str


class Grammar(NamedTuple):
    """What asks and answers in one language, a field for each form."""

    how_many: str
    how_many_red: str
    is_there: str
    nouns: tuple[Noun, ...]
    two_kinds: tuple[str, ...]
    part_is_red: tuple[str, ...]
    two_colours: tuple[str, ...]
    two_sides: tuple[str, ...]
    none_of_the_other: tuple[str, ...]
    one_but_none: tuple[str, ...]
    there_is_none: tuple[str, ...]


def _regular(language: dict[str, str], *words: str) -> tuple[Noun, ...]:
    """Return nouns of one form, with what stands before them."""
    return tuple(
        Noun(word, word, language["one"].format(word), language["red"].format(word), language["blue"].format(word))
        for word in words
    )


def _english(*words: str) -> tuple[Noun, ...]:
    return tuple(Noun(f"{word}s", f"{word}s", f"a {word}", f"red {word}s", f"blue {word}s") for word in words)


GRAMMARS: dict[str, Grammar] = {
    "en": Grammar(
        "How many {a} are in the image?",
        "How many {red} are there?",
        "Are there any {a} in the image?",
        _english("car", "truck", "boat", "tent"),
        ("I count {n} {a} and {m} {b}.", "There are {m} {b} and {n} {a} in the picture.", "- {b}: {m}\n- {a}: {n}"),
        ("There are {w} {a}, {n} of which are red.", "Of the {w} {a}, {n} are red.", "{n} of the {w} {a} are red."),
        ("There are {n} {red} and {m} {blue}.",),
        ("{n} {a} on the left and {m} on the right.",),
        ("There are {n} {a}, but no {b}.", "I see {n} {a}. There are no {b}."),
        ("There is {one_a}, but there are no {b}.", "I can see {one_a} and no {b}."),
        ("There are no {a} in the image.", "No {a} can be seen."),
    ),
    "de": Grammar(
        "Wie viele {a} sind auf dem Bild?",
        "Wie viele {red} gibt es?",
        "Gibt es {a} auf dem Bild?",
        (
            Noun("Autos", "Autos", "ein Auto", "rote Autos", "blaue Autos"),
            Noun("Boote", "Boote", "ein Boot", "rote Boote", "blaue Boote"),
            Noun("Zelte", "Zelte", "ein Zelt", "rote Zelte", "blaue Zelte"),
            Noun("Kräne", "Kräne", "einen Kran", "rote Kräne", "blaue Kräne"),
        ),
        ("Ich zähle {n} {a} und {m} {b}.", "Zu sehen sind {m} {b} und {n} {a}.", "{b}: {m}\n{a}: {n}"),
        ("Es sind {w} {a}, davon sind {n} rot.", "Von den {w} {a} sind {n} rot."),
        ("Es gibt {n} {red} und {m} {blue}.",),
        ("{n} {a} links und {m} rechts.",),
        ("Es gibt {n} {a}, aber keine {b}.",),
        ("Ich sehe {one_a}, aber keine {b}.",),
        ("Es gibt keine {a}.", "{a} sind nicht zu sehen."),
    ),
    "fr": Grammar(
        "Combien de {a} y a-t-il ?",
        "Combien de {red} voit-on ?",
        "Y a-t-il des {a} ?",
        (
            Noun("bateaux", "bateau", "un bateau", "bateaux rouges", "bateaux bleus"),
            Noun("camions", "camion", "un camion", "camions rouges", "camions bleus"),
            Noun("bancs", "banc", "un banc", "bancs rouges", "bancs bleus"),
            Noun("drapeaux", "drapeau", "un drapeau", "drapeaux rouges", "drapeaux bleus"),
        ),
        ("Il y a {n} {a} et {m} {b}.", "On voit {m} {b} et {n} {a}.", "{b} : {m}\n{a} : {n}"),
        ("Il y a {w} {a}, dont {n} rouges.", "Sur les {w} {a}, {n} sont rouges."),
        ("Il y a {n} {red} et {m} {blue}.",),
        ("{n} {a} à gauche et {m} à droite.",),
        ("Il y a {n} {a}, mais aucun {none_b}.",),
        ("On voit {one_a}, mais aucun {none_b}.", "Il y a {one_a} mais pas de {none_b}."),
        ("Il n'y a pas de {a}.", "Aucun {none_a} n'est visible."),
    ),
    "es": Grammar(
        "¿Cuántos {a} hay?",
        "¿Cuántos {red} se ven?",
        "¿Hay {a} en la imagen?",
        (
            Noun("barcos", "barco", "un barco", "barcos rojos", "barcos azules"),
            Noun("camiones", "camión", "un camión", "camiones rojos", "camiones azules"),
            Noun("bancos", "banco", "un banco", "bancos rojos", "bancos azules"),
            Noun("perros", "perro", "un perro", "perros rojos", "perros azules"),
        ),
        ("Hay {n} {a} y {m} {b}.", "Se ven {m} {b} y {n} {a}.", "{b}: {m}\n{a}: {n}"),
        ("Hay {w} {a}, de los cuales {n} son rojos.", "De los {w} {a}, {n} son rojos."),
        ("Hay {n} {red} y {m} {blue}.",),
        ("{n} {a} a la izquierda y {m} a la derecha.",),
        ("Hay {n} {a}, pero ningún {none_b}.",),
        ("Hay {one_a}, pero no hay {b}.", "Se ve {one_a} y ningún {none_b}."),
        ("No hay {a}.", "No se ve ningún {none_a}."),
    ),
    "pt": Grammar(
        "Quantos {a} há na imagem?",
        "Quantos {red} aparecem?",
        "Há {a} na imagem?",
        (
            Noun("barcos", "barco", "um barco", "barcos vermelhos", "barcos azuis"),
            Noun("caminhões", "caminhão", "um caminhão", "caminhões vermelhos", "caminhões azuis"),
            Noun("bancos", "banco", "um banco", "bancos vermelhos", "bancos azuis"),
            Noun("cachorros", "cachorro", "um cachorro", "cachorros vermelhos", "cachorros azuis"),
        ),
        ("Há {n} {a} e {m} {b}.", "Vejo {m} {b} e {n} {a}.", "{b}: {m}\n{a}: {n}"),
        ("São {w} {a}, sendo {n} vermelhos.", "Dos {w} {a}, {n} são vermelhos."),
        ("Há {n} {red} e {m} {blue}.",),
        ("{n} {a} à esquerda e {m} à direita.",),
        ("Há {n} {a}, mas nenhum {none_b}.",),
        ("Há {one_a}, mas não há {b}.", "Vejo {one_a} e nenhum {none_b}."),
        ("Não há {a}.", "Nenhum {none_a} é visível."),
    ),
    "ru": Grammar(
        "Сколько {a} на снимке?",
        "Сколько {red} на снимке?",
        "Есть ли на снимке {a}?",
        (
            Noun("лодок", "лодок", "лодка", "красных лодок", "синих лодок"),
            Noun("машин", "машин", "машина", "красных машин", "синих машин"),
            Noun("палаток", "палаток", "палатка", "красных палаток", "синих палаток"),
            Noun("собак", "собак", "собака", "красных собак", "синих собак"),
        ),
        ("Я вижу {n} {a} и {m} {b}.", "На снимке {m} {b} и {n} {a}.", "{b}: {m}\n{a}: {n}"),
        ("На снимке {w} {a}, из них {n} красных.", "Из {w} {a} {n} красных."),
        ("На снимке {n} {red} и {m} {blue}.",),
        ("{n} {a} слева и {m} справа.",),
        ("На снимке {n} {a}, но нет {b}.",),
        ("На снимке видна {one_a}, но нет {b}.",),
        ("На снимке нет {a}.", "{a} не видно."),
    ),
    "ar": Grammar(
        "كم عدد {a} في الصورة؟",
        "كم عدد {red} في الصورة؟",
        "هل توجد {a} في الصورة؟",
        (
            Noun("سيارات", "سيارات", "سيارة", "سيارات حمراء", "سيارات زرقاء"),
            Noun("شاحنات", "شاحنات", "شاحنة", "شاحنات حمراء", "شاحنات زرقاء"),
            Noun("قوارب", "قوارب", "قارب", "قوارب حمراء", "قوارب زرقاء"),
            Noun("خيام", "خيام", "خيمة", "خيام حمراء", "خيام زرقاء"),
        ),
        ("أرى {n} {a} و{m} {b}.", "توجد {m} {b} و{n} {a}.", "{b}: {m}\n{a}: {n}"),
        ("هناك {w} {a}، {n} منها حمراء.",),
        ("هناك {n} {red} و{m} {blue}.",),
        ("{n} {a} على اليسار و{m} على اليمين.",),
        ("هناك {n} {a}، لكن لا توجد {b}.",),
        ("توجد {one_a}، لكن لا توجد {b}.",),
        ("لا توجد {a} في الصورة.",),
    ),
    "hi": Grammar(
        "तस्वीर में कितनी {a} हैं?",
        "तस्वीर में कितनी {red} हैं?",
        "क्या तस्वीर में कोई {one_a} है?",
        (
            Noun("कारें", "कार", "कार", "लाल कारें", "नीली कारें"),
            Noun("नावें", "नाव", "नाव", "लाल नावें", "नीली नावें"),
            Noun("बसें", "बस", "बस", "लाल बसें", "नीली बसें"),
            Noun("मेज़ें", "मेज़", "मेज़", "लाल मेज़ें", "नीली मेज़ें"),
        ),
        ("यहाँ {n} {a} और {m} {b} हैं।", "तस्वीर में {m} {b} और {n} {a} हैं।", "{b}: {m}\n{a}: {n}"),
        ("कुल {w} {a} हैं, जिनमें से {n} लाल हैं।",),
        ("यहाँ {n} {red} और {m} {blue} हैं।",),
        ("बाएँ {n} {a} और दाएँ {m} हैं।",),
        ("यहाँ {n} {a} हैं, लेकिन कोई {none_b} नहीं है।",),
        ("तस्वीर में एक {one_a} है, लेकिन कोई {none_b} नहीं है।",),
        ("तस्वीर में कोई {none_a} नहीं है।",),
    ),
    "zh": Grammar(
        "图中有多少{a}？",
        "图中有多少{red}？",
        "图中有{a}吗？",
        _regular({"one": "一个{}", "red": "红色的{}", "blue": "蓝色的{}"}, "帐篷", "轮船", "卡车", "风筝"),
        ("图中有{n}个{a}和{m}个{b}。", "我看到{m}个{b}和{n}个{a}。", "{b}：{m}\n{a}：{n}"),
        ("共有{w}个{a}，其中{n}个是红色的。", "{w}个{a}中有{n}个是红色的。"),
        ("有{n}个{red}和{m}个{blue}。",),
        ("左边有{n}个{a}，右边有{m}个。",),
        ("图中有{n}个{a}，但没有{b}。",),
        ("图中有{one_a}，但没有{b}。", "图中有{one_a}，没有{b}。"),
        ("图中没有{a}。",),
    ),
    "ja": Grammar(
        "{a}はいくつありますか？",
        "{red}はいくつありますか？",
        "{a}はありますか？",
        _regular({"one": "{}", "red": "赤い{}", "blue": "青い{}"}, "テント", "トラック", "ボート", "ベンチ"),
        ("{a}が{n}個、{b}が{m}個あります。", "{b}が{m}個と{a}が{n}個あります。", "{b}：{m}\n{a}：{n}"),
        ("{a}は{w}個あり、そのうち{n}個が赤いです。",),
        ("{red}が{n}個、{blue}が{m}個あります。",),
        ("{a}は左に{n}個、右に{m}個あります。",),
        ("{a}が{n}個ありますが、{b}はありません。",),
        ("{a}はありますが、{b}はありません。",),
        ("{a}はありません。",),
    ),
    "ko": Grammar(
        "{a}는 몇 개입니까?",
        "{red}는 몇 개입니까?",
        "{a}가 있습니까?",
        _regular({"one": "{}", "red": "빨간 {}", "blue": "파란 {}"}, "텐트", "보트", "의자", "나무"),
        ("{a} {n}개와 {b} {m}개가 있습니다.", "{b}가 {m}개, {a}가 {n}개 있습니다.", "{b}: {m}\n{a}: {n}"),
        ("{a}는 모두 {w}개이고 그중 빨간 {a}는 {n}개입니다.", "{a} {w}개 중 {n}개가 빨간색입니다."),
        ("{red} {n}개와 {blue} {m}개가 있습니다.",),
        ("{a}는 왼쪽에 {n}개, 오른쪽에 {m}개 있습니다.",),
        ("{a}는 {n}개 있지만 {b}는 없습니다.",),
        ("{a}는 있지만 {b}는 없습니다.", "{a}는 보이고 {b}는 보이지 않습니다."),
        ("{a}는 없습니다.", "{a}는 보이지 않습니다."),
    ),
}
