"""The text of a page of somebody else's, in one pass over it, whatever it holds."""

import html
import re

_MARK = re.compile(r"<(?:!--|(/?)([a-z][a-z0-9]*)|[!?])", re.IGNORECASE)
_HIDDEN_TAGS = frozenset({"script", "style", "noscript", "template", "svg", "title", "textarea", "select", "nav"})
_INLINE_TAGS = re.compile(
    "a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|u|var|wbr"
)
_BREAK = "\0"
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([a-z0-9_:.-]{1,40})", re.IGNORECASE)
_HEAD_BYTES = 2_048


def plain_text(content: bytes, charset: str | None = None) -> str:
    """Return what a reader sees of HTML.

    Paragraphs with an empty line between them; of what is not closed, nothing more.
    """
    text = _decode(content, charset).replace(_BREAK, " ")
    parts, at = [], 0
    while mark := _MARK.search(text, at):
        parts.append(text[at : mark.start()])
        name = (mark[2] or "").lower()
        if name and not _INLINE_TAGS.fullmatch(name):
            parts.append(_BREAK)
        at = _end(text, mark, name)
        if at < 0:
            break
    else:
        parts.append(text[at:])
    paragraphs = html.unescape("".join(parts)).split(_BREAK)
    return "\n\n".join(filter(None, (" ".join(paragraph.split()) for paragraph in paragraphs)))


def _end(text: str, mark: re.Match[str], name: str) -> int:
    """Return where what begins with a mark ends; -1 where it does not."""
    if name in _HIDDEN_TAGS and not mark[1]:
        found = re.compile(f"</{name}", re.IGNORECASE).search(text, mark.end())
        return found.start() if found else -1
    closing = "-->" if mark[0] == "<!--" else ">"
    end = text.find(closing, mark.end())
    return end + len(closing) if end >= 0 else -1


def _decode(content: bytes, charset: str | None) -> str:
    said = _CHARSET.search(content[:_HEAD_BYTES])
    name = charset or (said[1].decode("ascii") if said else "utf-8")
    try:
        return content.decode(name, "replace")
    except (LookupError, UnicodeError, ValueError):  # no charset of text
        return content.decode("utf-8", "replace")
