"""Sentences in which people give, deny and weigh options, by language and form; none of them knows the reader's words.

`{x}` is the option that is meant, `{y}`, `{z}` and `{w}` are the others.
"""

FORMS = ("announce", "affirm", "deny the others", "only left", "contrast", "first thought", "concede", "conclude")

SENTENCES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "announce": ("The correct answer is {x}.", "My final answer: {x}.", "Answer: {x}"),
        "affirm": (
            "Option {x} is correct. Option {y} describes the mirrored scene.",
            "{x} fits the picture. {y} would need a second tower.",
            "The right one is {x}. Option {y} speaks of the harbour.",
        ),
        "deny the others": (
            "{x} is right; {y}, {z} and {w} are wrong.",
            "Option {x} is correct, while {y} and {z} are false.",
        ),
        "only left": (
            "{y}, {z} and {w} are all wrong, and only {x} is right.",
            "{y}, {z} and {w} are wrong, so {x} remains.",
            "All options but {x} are contradicted by the image.",
            "{y} and {z} can be ruled out, which leaves {x}.",
        ),
        "contrast": ("Not {y} but {x}.", "It is not {y}, but {x}.", "It is {x} rather than {y}."),
        "first thought": (
            "At first I thought of {y}, but {x} is right.",
            "Initially {y} looked right; on closer inspection it is {x}.",
        ),
        "concede": (
            "Although {y} seems plausible, the correct one is {x}.",
            "{y} appears likely; the shadows, however, support {x}.",
        ),
        "conclude": ("Therefore, it is {x}.", "So the answer must be {x}.", "Hence {x}."),
    },
    "zh": {
        "announce": ("正确答案是{x}。", "最终答案：{x}", "答案：{x}"),
        "affirm": ("选项{x}正确。选项{y}描述的是镜像。", "选{x}。{y}把左右弄反了。", "应选{x}。{y}说的是港口。"),
        "deny the others": ("{x}正确，{y}、{z}、{w}错误。", "选项{x}是对的，而{y}和{z}都不对。"),
        "only left": (
            "{y}、{z}和{w}都不对，只有{x}正确。",
            "{y}、{z}和{w}都不对，所以是{x}。",
            "除了{x}以外，其他选项都不对。",
            "排除{y}和{z}，因此选{x}。",
        ),
        "contrast": ("不是{y}，而是{x}。", "不是{y}而是{x}。"),
        "first thought": ("一开始我以为是{y}，但正确的是{x}。", "起初看起来像{y}，不过答案应该是{x}。"),
        "concede": ("虽然{y}看起来有可能，但{x}才是正确的。", "尽管{y}似乎合理，正确的是{x}。"),
        "conclude": ("因此，答案是{x}。", "所以选{x}。", "综上，应为{x}。"),
    },
    "ja": {
        "announce": ("正解は{x}です。", "答え：{x}", "最終的な答えは{x}です。"),
        "affirm": (
            "選択肢{x}が正しいです。選択肢{y}は港の話です。",
            "{x}が適切です。{y}は左右が逆です。",
            "正しいのは{x}です。{y}は鏡像を述べています。",
        ),
        "deny the others": ("{x}が正しく、{y}、{z}、{w}は誤りです。", "{x}が正解で、{y}と{z}は間違いです。"),
        "only left": (
            "{y}、{z}、{w}はすべて誤りで、{x}だけが正しいです。",
            "{y}、{z}、{w}は誤りなので、{x}が残ります。",
            "{x}以外はすべて誤りです。",
            "{y}と{z}は除外されるので、残るのは{x}です。",
        ),
        "contrast": ("{y}ではなく{x}です。", "{y}ではなく、{x}が正解です。"),
        "first thought": ("最初は{y}だと思いましたが、正しいのは{x}です。", "一見{y}のようですが、実際には{x}です。"),
        "concede": ("{y}ももっともらしく見えますが、正しいのは{x}です。", "{y}もあり得そうですが、{x}が正しいです。"),
        "conclude": ("したがって、{x}です。", "よって答えは{x}です。", "つまり{x}です。"),
    },
    "ko": {
        "announce": ("정답은 {x}입니다.", "답: {x}", "최종 답은 {x}입니다."),
        "affirm": (
            "선택지 {x}가 맞습니다. 선택지 {y}는 항구를 말합니다.",
            "{x}가 정확합니다. {y}는 좌우가 바뀌었습니다.",
            "올바른 것은 {x}입니다. {y}는 거울상을 설명합니다.",
        ),
        "deny the others": ("{x}가 맞고 {y}, {z}, {w}는 틀립니다.", "{x}가 옳고, {y}와 {z}는 잘못되었습니다."),
        "only left": (
            "{y}, {z}, {w}는 모두 틀렸고 {x}만 맞습니다.",
            "{y}는 틀리며 {z}도 틀렸고 {x}가 맞습니다.",
            "{y}, {z}, {w}는 틀렸으므로 {x}가 남습니다.",
            "{x}를 제외한 모든 선택지가 틀렸습니다.",
            "{y}와 {z}는 제외되므로 남는 것은 {x}입니다.",
        ),
        "contrast": ("{y}가 아니라 {x}입니다.", "{y}가 아닌 {x}입니다."),
        "first thought": (
            "처음에는 {y}라고 생각했지만, 정답은 {x}입니다.",
            "언뜻 {y}처럼 보이지만 실제로는 {x}입니다.",
        ),
        "concede": ("{y}도 그럴듯하지만 올바른 것은 {x}입니다.", "{y}도 가능해 보이지만 {x}가 맞습니다."),
        "conclude": ("따라서 {x}입니다.", "그러므로 답은 {x}입니다.", "결국 {x}입니다."),
    },
    "de": {
        "announce": ("Die richtige Antwort ist {x}.", "Antwort: {x}", "Endgültige Antwort: {x}."),
        "affirm": (
            "Option {x} ist richtig. Option {y} beschreibt das Spiegelbild.",
            "{x} stimmt. {y} würde einen zweiten Turm brauchen.",
            "Richtig ist {x}. Option {y} spricht vom Hafen.",
        ),
        "deny the others": ("{x} ist richtig; {y}, {z} und {w} sind falsch.", "{x} stimmt, {y} und {z} scheiden aus."),
        "only left": (
            "{y}, {z} und {w} sind alle falsch, und nur {x} ist richtig.",
            "{y}, {z} und {w} scheiden aus, also bleibt {x}.",
            "Alle Optionen außer {x} sind falsch.",
            "{y} und {z} sind auszuschließen, somit bleibt {x}.",
        ),
        "contrast": ("Nicht {y}, sondern {x}.", "Es ist nicht {y}, sondern {x}."),
        "first thought": (
            "Zuerst dachte ich an {y}, aber richtig ist {x}.",
            "Auf den ersten Blick {y}, tatsächlich aber {x}.",
        ),
        "concede": ("Obwohl {y} plausibel wirkt, ist {x} richtig.", "{y} scheint möglich, doch richtig ist {x}."),
        "conclude": ("Daher ist es {x}.", "Also {x}.", "Somit lautet die Antwort {x}."),
    },
    "fr": {
        "announce": ("La bonne réponse est {x}.", "Réponse : {x}", "Réponse finale : {x}."),
        "affirm": (
            "L'option {x} est correcte. L'option {y} décrit le port.",
            "{x} convient. {y} parle d'une autre tour.",
            "La bonne est {x}. L'option {y} décrit la scène inversée.",
        ),
        "deny the others": (
            "{x} est juste ; {y}, {z} et {w} sont fausses.",
            "L'option {x} est correcte, tandis que {y} et {z} sont incorrectes.",
        ),
        "only left": (
            "{y}, {z} et {w} sont toutes fausses et seule {x} est correcte.",
            "{y}, {z} et {w} sont fausses, il reste donc {x}.",
            "Toutes les options sauf {x} sont fausses.",
            "{y} et {z} sont exclues, donc {x}.",
        ),
        "contrast": ("Ce n'est pas {y} mais {x}.", "C'est {x} et non {y}.", "Pas {y}, mais {x}."),
        "first thought": (
            "Au début je pensais à {y}, mais la bonne réponse est {x}.",
            "À première vue {y}, mais en fait {x}.",
        ),
        "concede": (
            "Bien que {y} semble plausible, la bonne est {x}.",
            "Même si {y} paraît possible, c'est {x} qui est correcte.",
        ),
        "conclude": ("C'est donc {x}.", "Par conséquent, c'est {x}.", "Donc {x}."),
    },
    "es": {
        "announce": ("La respuesta correcta es {x}.", "Respuesta: {x}", "Respuesta final: {x}."),
        "affirm": (
            "La opción {x} es correcta. La opción {y} describe el puerto.",
            "{x} encaja. {y} habla de otra torre.",
            "La correcta es {x}. La opción {y} describe la escena invertida.",
        ),
        "deny the others": (
            "{x} es correcta; {y}, {z} y {w} son falsas.",
            "La opción {x} es correcta, mientras que {y} y {z} son incorrectas.",
        ),
        "only left": (
            "{y}, {z} y {w} son todas incorrectas y solo {x} es correcta.",
            "{y}, {z} y {w} son incorrectas, así que queda {x}.",
            "Todas las opciones excepto {x} son falsas.",
            "Se descartan {y} y {z}, por lo tanto {x}.",
        ),
        "contrast": ("No es {y}, sino {x}.", "Es {x} y no {y}."),
        "first thought": (
            "Al principio pensé en {y}, pero la correcta es {x}.",
            "A primera vista {y}, pero en realidad es {x}.",
        ),
        "concede": (
            "Aunque {y} parece plausible, la correcta es {x}.",
            "{y} parece posible; sin embargo, la correcta es {x}.",
        ),
        "conclude": ("Por lo tanto, es {x}.", "Así que {x}.", "Entonces la respuesta es {x}."),
    },
    "pt": {
        "announce": ("A resposta correta é {x}.", "Resposta: {x}", "A alternativa correta é a {x}."),
        "affirm": (
            "A alternativa {x} está correta. A alternativa {y} fala do porto.",
            "A opção {x} é a certa. A opção {y} descreve a cena invertida.",
            "A correta é {x}. A alternativa {y} precisaria de outra torre.",
        ),
        "deny the others": (
            "{x} está correta; {y}, {z} e {w} estão erradas.",
            "A alternativa {x} é a correta, enquanto {y} e {z} são falsas.",
        ),
        "only left": (
            "{y}, {z} e {w} estão todas erradas e só {x} está correta.",
            "{y}, {z} e {w} estão erradas, portanto resta {x}.",
            "Todas as alternativas exceto {x} estão erradas.",
            "Descarto {y} e {z}, então {x}.",
        ),
        "contrast": ("Não é {y}, mas sim {x}.", "É {x} e não {y}."),
        "first thought": (
            "No início pensei em {y}, mas a correta é {x}.",
            "À primeira vista {y}, mas na verdade é {x}.",
        ),
        "concede": (
            "Embora {y} pareça plausível, a correta é {x}.",
            "{y} parece possível; no entanto, a correta é {x}.",
        ),
        "conclude": ("Portanto, é {x}.", "Então é {x}.", "Assim, a resposta é {x}."),
    },
    "ru": {
        "announce": ("Правильный ответ: {x}.", "Ответ: {x}", "Окончательный ответ — {x}."),
        "affirm": (
            "Вариант {x} верный. Вариант {y} описывает гавань.",
            "{x} подходит. {y} говорит о другой башне.",
            "Верно {x}. Вариант {y} описывает зеркальную сцену.",
        ),
        "deny the others": ("{x} верно; {y}, {z} и {w} неверны.", "Вариант {x} верный, а {y} и {z} не подходят."),
        "only left": (
            "{y}, {z} и {w} все неверны, и только {x} верно.",
            "{y}, {z} и {w} неверны, остаётся {x}.",
            "Все варианты, кроме {x}, неверны.",
            "{y} и {z} исключаются, поэтому {x}.",
        ),
        "contrast": ("Не {y}, а {x}.", "Это не {y}, а {x}."),
        "first thought": (
            "Сначала я думал, что {y}, но правильный ответ — {x}.",
            "На первый взгляд {y}, но на самом деле {x}.",
        ),
        "concede": ("Хотя {y} кажется правдоподобным, верно {x}.", "{y} выглядит возможным, однако верно {x}."),
        "conclude": ("Следовательно, это {x}.", "Поэтому {x}.", "Значит, ответ {x}."),
    },
    "ar": {
        "announce": ("الإجابة الصحيحة هي {x}.", "الجواب: {x}", "الإجابة النهائية: {x}."),
        "affirm": (
            "الخيار {x} صحيح. الخيار {y} يصف الميناء.",
            "الصحيح هو {x}. الخيار {y} يصف المشهد المعكوس.",
        ),
        "deny the others": ("{x} صحيح؛ {y} و{z} و{w} خاطئة.", "الخيار {x} صحيح، بينما {y} و{z} خاطئان."),
        "only left": (
            "{y} و{z} و{w} كلها خاطئة و{x} وحده صحيح.",
            "{y} و{z} و{w} خاطئة، لذا يبقى {x}.",
            "كل الخيارات خاطئة ما عدا {x}.",
            "أستبعد {y} و{z}، إذن {x}.",
        ),
        "contrast": ("ليس {y} بل {x}.", "ليس {y}، بل {x}."),
        "first thought": ("في البداية ظننت أنه {y}، لكن الصحيح هو {x}.", "للوهلة الأولى {y}، لكن في الواقع {x}."),
        "concede": ("رغم أن {y} يبدو معقولاً، فإن الصحيح هو {x}.", "قد يبدو {y} ممكناً، لكن الصحيح هو {x}."),
        "conclude": ("إذن {x}.", "لذلك الجواب هو {x}.", "وبالتالي فهو {x}."),
    },
    "hi": {
        "announce": ("सही उत्तर {x} है।", "उत्तर: {x}", "अंतिम उत्तर: {x}"),
        "affirm": (
            "विकल्प {x} सही है। विकल्प {y} बंदरगाह की बात करता है।",
            "सही विकल्प {x} है। विकल्प {y} उल्टा दृश्य बताता है।",
        ),
        "deny the others": ("{x} सही है; {y}, {z} और {w} गलत हैं।", "विकल्प {x} सही है, जबकि {y} और {z} गलत हैं।"),
        "only left": (
            "{y}, {z} और {w} सभी गलत हैं और केवल {x} सही है।",
            "{y}, {z} और {w} गलत हैं, इसलिए {x} बचता है।",
            "{x} को छोड़कर सभी विकल्प गलत हैं।",
            "{y} और {z} सही नहीं हैं, अतः {x}।",
        ),
        "contrast": ("{y} नहीं, बल्कि {x}।", "{y} नहीं बल्कि {x} है।"),
        "first thought": ("पहले मुझे {y} लगा, लेकिन सही उत्तर {x} है।", "शुरू में {y} लगा, लेकिन असल में {x} है।"),
        "concede": ("हालाँकि {y} संभव लगता है, लेकिन सही {x} है।", "भले ही {y} ठीक लगे, सही {x} है।"),
        "conclude": ("इसलिए {x}।", "अतः उत्तर {x} है।", "इस प्रकार {x} सही है।"),
    },
}

OPENINGS: dict[str, tuple[str, ...]] = {
    "en": (
        "{x}. {y} would need a second tower.",
        "It must be {x}: {y} has the wrong colour, and {z} speaks of the harbour.",
        "I'd say {x}, since {y} speaks of the harbour.",
        "{x}, because {y} describes the mirrored scene.",
        "The best description is {x}. {y} comes close, yet it misses the tower; {z} fails on the colour.",
        "{x} – {y} is seen from the wrong side.",
    ),
    "zh": ("{x}。因为左边更高，{y}说反了。", "应选{x}，因为{y}描述的是镜像。", "{x}，因为{y}说的是港口。"),
    "ja": ("{x}。理由は{y}が左右逆だからです。", "{x}です。なぜなら{y}は港の話だからです。"),
    "ko": ("{x}. 왜냐하면 {y}는 항구를 말하기 때문입니다.", "{x}입니다. {y}는 거울상을 설명합니다."),
    "de": (
        "{x}. {y} würde einen zweiten Turm brauchen.",
        "Es muss {x} sein: {y} spricht vom Hafen.",
        "{x}, weil {y} das Spiegelbild beschreibt.",
    ),
    "fr": (
        "{x}. {y} parle du port.",
        "C'est {x}, car {y} décrit la scène inversée.",
        "{x}, parce que {y} parle du port.",
    ),
    "es": (
        "{x}. {y} habla del puerto.",
        "Debe ser {x}: {y} describe la escena invertida.",
        "{x}, porque {y} habla del puerto.",
    ),
    "pt": ("{x}. {y} fala do porto.", "Deve ser {x}: {y} descreve a cena invertida.", "{x}, porque {y} fala do porto."),
    "ru": (
        "{x}. {y} говорит о гавани.",
        "Это {x}: {y} описывает зеркальную сцену.",
        "{x}, потому что {y} говорит о гавани.",
    ),
    "ar": ("{x}. {y} يصف الميناء.", "{x}، لأن {y} يصف المشهد المعكوس."),
    "hi": ("{x}। {y} बंदरगाह की बात करता है।", "{x}, क्योंकि {y} उल्टा दृश्य बताता है।"),
}
"""What concludes first, and gives its reasons behind, on the same line."""

LATER: dict[str, str] = {
    "en": "Wait, I misread the wall, so it is {x}.",
    "zh": "等等，我看错了，应选{x}。",
    "ja": "訂正、正しいのは{x}です。",
    "ko": "정정합니다. 정답은 {x}입니다.",
    "de": "Moment, richtig ist {x}.",
    "fr": "Attendez, la bonne est {x}.",
    "es": "Espera, la correcta es {x}.",
    "pt": "Espere, a correta é {x}.",
    "ru": "Стоп, верно {x}.",
    "ar": "انتظر، الصحيح هو {x}.",
    "hi": "रुकिए, सही {x} है।",
}
"""What takes an opening back."""

ASCRIPTIONS: dict[str, str] = {
    "en": "A caption claims that the answer is {y}.",
    "zh": "图中的文字说答案是{y}。",
    "ja": "看板には答えは{y}と書いてあります。",
    "ko": "표지판에는 답은 {y}라고 적혀 있습니다.",
    "de": "Ein Schild behauptet, die Antwort ist {y}.",
    "fr": "Une légende prétend que la réponse est {y}.",
    "es": "Un cartel dice que la respuesta es {y}.",
    "pt": "Uma placa diz que a resposta é {y}.",
    "ru": "Подпись утверждает, что ответ {y}.",
    "ar": "لافتة تقول إن الإجابة هي {y}.",
    "hi": "एक तख्ती कहती है कि उत्तर {y} है।",
}
"""What another says the answer is."""

CONTRADICTIONS: dict[str, str] = {
    "en": "That's false: it is {x}.",
    "zh": "这是错误的，应选{x}。",
    "ja": "それは誤りで、正しいのは{x}です。",
    "ko": "이는 틀렸고 {x}가 맞습니다.",
    "de": "Das ist falsch: Richtig ist {x}.",
    "fr": "C'est faux : c'est {x}.",
    "es": "Es falso: es {x}.",
    "pt": "É falso: é {x}.",
    "ru": "Это неверно: верно {x}.",
    "ar": "هذا خطأ: الصحيح هو {x}.",
    "hi": "यह गलत है: सही {x} है।",
}
"""What denies the sentence before it, and says what is right."""

UNREAL: dict[str, str] = {
    "en": "The answer would be {y} if the tower were on the left.",
    "zh": "如果塔在左边，答案会是{y}。",
    "ja": "もし塔が左にあれば、答えは{y}でしょう。",
    "ko": "만약 탑이 왼쪽에 있다면 답은 {y}였을 것입니다.",
    "de": "Die Antwort wäre {y}, wenn der Turm links stünde.",
    "fr": "La réponse serait {y} si la tour était à gauche.",
    "es": "La respuesta sería {y} si la torre estuviera a la izquierda.",
    "pt": "A resposta seria {y} se a torre estivesse à esquerda.",
    "ru": "Ответ был бы {y}, если бы башня стояла слева.",
    "ar": "لو كان البرج على اليسار لكانت الإجابة {y}.",
    "hi": "यदि मीनार बाईं ओर होती, तो उत्तर {y} होता।",
}
"""What the answer would be, were it otherwise."""

REJECTIONS: dict[str, str] = {
    "en": "{y} does not fit.",
    "zh": "{y}不符合。",
    "ja": "{y}は違います。",
    "ko": "{y}는 틀립니다.",
    "de": "{y} ist falsch.",
    "fr": "{y} est fausse.",
    "es": "{y} no encaja.",
    "pt": "{y} está errada.",
    "ru": "{y} неверно.",
    "ar": "{y} خاطئ.",
    "hi": "{y} गलत है।",
}
"""What denies one option, and says nothing of another."""

GLOSSES: dict[str, str] = {
    "en": "the yellow one",
    "zh": "黄色",
    "ja": "黄色",
    "ko": "노란색",
    "de": "die gelbe",
    "fr": "la jaune",
    "es": "la amarilla",
    "pt": "a amarela",
    "ru": "жёлтая",
    "ar": "الأصفر",
    "hi": "पीला",
}
"""What may stand in brackets behind a letter, in no option's own words."""

DESCRIPTIONS: dict[str, str] = {
    "en": "Option {y} describes the mirrored scene.",
    "zh": "选项{y}描述的是镜像。",
    "ja": "選択肢{y}は鏡像を述べています。",
    "ko": "선택지 {y}는 거울상을 설명합니다.",
    "de": "Option {y} beschreibt das Spiegelbild.",
    "fr": "L'option {y} décrit la scène inversée.",
    "es": "La opción {y} describe la escena invertida.",
    "pt": "A alternativa {y} descreve a cena invertida.",
    "ru": "Вариант {y} описывает зеркальную сцену.",
    "ar": "الخيار {y} يصف المشهد المعكوس.",
    "hi": "विकल्प {y} उल्टा दृश्य बताता है।",
}
"""What speaks of one option, and says of none whether it is right."""

COURTESIES: dict[str, str] = {
    "en": "I hope this helps!",
    "zh": "希望对您有帮助！",
    "ja": "お役に立てば幸いです。",
    "ko": "도움이 되었기를 바랍니다.",
    "de": "Ich hoffe, das hilft!",
    "fr": "J'espère que cela vous aide !",
    "es": "¡Espero que te sirva!",
    "pt": "Espero ter ajudado!",
    "ru": "Надеюсь, это поможет!",
    "ar": "آمل أن يكون هذا مفيداً.",
    "hi": "आशा है कि इससे मदद मिलेगी।",
}

VERDICTS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (("true", "false"), ("correct", "incorrect"), ("yes", "no"), ("T", "F"), ("Supported.", "Not supported.")),
    "zh": (("正确", "错误"), ("对", "不对"), ("符合", "不符合")),
    "ja": (("正しい", "誤り"), ("○", "×"), ("正解", "不正解")),
    "ko": (("맞음", "틀림"), ("참", "거짓")),
    "de": (("richtig", "falsch"), ("wahr", "unwahr"), ("trifft zu", "trifft nicht zu")),
    "fr": (("vrai", "faux"), ("correcte", "incorrecte")),
    "es": (("verdadera", "falsa"), ("correcta", "incorrecta"), ("sí", "no")),
    "pt": (("verdadeira", "falsa"), ("correta", "errada"), ("sim", "não")),
    "ru": (("верно", "неверно"), ("да", "нет")),
    "ar": (("صحيح", "خطأ"), ("نعم", "لا")),
    "hi": (("सही", "गलत"), ("हाँ", "नहीं")),
}
"""What affirms an option in a list, and what denies it."""

ABSTENTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "I'm not able to assist with this image.",
        "No idea.",
        "There is no clear view of it.",
        "I cannot tell from this picture.",
        "The image wasn't included in your message.",
    ),
    "zh": ("没有足够的信息。", "我没有看到图像。", "无法判断。"),
    "ja": ("画像が提供されていないため、答えられません。", "判断できません。"),
    "ko": ("이미지가 제공되지 않아 답변을 드릴 수 없습니다.", "알 수 없습니다."),
    "de": (
        "Das lässt sich anhand des gezeigten Bildes leider nicht beurteilen.",
        "Auf dem Bild lässt sich das so nicht sagen.",
        "Keine Ahnung.",
        "Es wurde kein Bild bereitgestellt.",
        "Das kann ich nicht beurteilen.",
    ),
    "fr": ("Aucune idée.", "Aucune image n'a été fournie.", "Je ne peux pas répondre."),
    "es": (
        "No puedo determinarlo.",
        "No puedo saberlo con esta imagen.",
        "No tengo idea.",
        "No hay suficiente información.",
        "No se puede saber.",
    ),
    "pt": ("Não faço ideia.", "Nenhuma imagem foi fornecida.", "Não consigo responder."),
    "ru": ("Понятия не имею.", "Изображение не предоставлено.", "Невозможно определить."),
    "ar": ("لا أعرف.", "لم يتم توفير أي صورة.", "لا يمكن تحديد ذلك."),
    "hi": ("मुझे नहीं पता।", "कोई छवि उपलब्ध नहीं है।", "उत्तर नहीं दिया जा सकता।"),
}

BOOLEANS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Yes.", "No."),
        ("That's right.", "That's wrong."),
        ("Indeed.", "Absolutely not."),
        ("It is.", "It isn't."),
        ("The claim is supported.", "The claim is not supported."),
        ("The statement holds.", "The statement does not hold."),
    ),
    "zh": (("是的。", "不是。"), ("没错。", "不对。"), ("该说法正确。", "该说法不正确。")),
    "ja": (("はい。", "いいえ。"), ("はい、そうです。", "いいえ、違います。"), ("正しいです。", "誤りです。")),
    "ko": (("네.", "아니요."), ("네, 맞습니다.", "아니요, 그렇지 않습니다."), ("참입니다.", "거짓입니다.")),
    "de": (
        ("Ja.", "Nein."),
        ("Das stimmt.", "Das stimmt nicht."),
        ("Die Aussage trifft zu.", "Die Aussage trifft nicht zu."),
    ),
    "fr": (("Oui.", "Non."), ("C'est vrai.", "C'est faux."), ("Oui, c'est exact.", "Non, pas du tout.")),
    "es": (("Sí.", "No."), ("Así es.", "Claro que no."), ("La afirmación es cierta.", "La afirmación es falsa.")),
    "pt": (
        ("Sim.", "Não."),
        ("É verdade.", "Não é verdade."),
        ("A afirmação está correta.", "A afirmação está errada."),
    ),
    "ru": (("Да.", "Нет."), ("Да, это так.", "Нет, это не так."), ("Утверждение верно.", "Утверждение неверно.")),
    "ar": (("نعم.", "لا."), ("نعم، هذا صحيح.", "لا، هذا غير صحيح."), ("العبارة صحيحة.", "العبارة خاطئة.")),
    "hi": (("हाँ।", "नहीं।"), ("हाँ, यह सही है।", "नहीं, यह गलत है।"), ("कथन सही है।", "कथन गलत है।")),
}
"""What says yes, and what says no."""

COUNTS: dict[str, tuple[str, ...]] = {
    "en": ("There are {n}.", "{n} vehicles: {a} cars and {b} vans", "{n}, including {a} vans"),
    "zh": ("一共{n}个。", "{n}辆：{a}辆汽车，{b}辆货车", "{n}个，其中{a}个是红的"),
    "ja": ("全部で{n}台です。", "{n}台：車{a}台、バス{b}台"),
    "ko": ("모두 {n}대입니다.", "{n}대: 승용차 {a}대, 버스 {b}대"),
    "de": ("Es sind {n}.", "{n} Fahrzeuge: {a} Autos und {b} Busse", "{n}, davon {a} rote"),
    "fr": ("Il y en a {n}.", "{n} véhicules : {a} voitures et {b} bus", "{n}, dont {a} rouges"),
    "es": ("Hay {n}.", "{n} vehículos: {a} coches y {b} autobuses", "{n}, de los cuales {a} son rojos"),
    "pt": ("Há {n}.", "{n} veículos: {a} carros e {b} ônibus", "{n}, dos quais {a} são vermelhos"),
    "ru": ("Всего {n}.", "{n} машин: {a} легковых и {b} автобусов", "{n}, из них {a} красных"),
    "ar": ("هناك {n}.", "{n} مركبات: {a} سيارات و {b} حافلات", "{n}، منها {a} حمراء"),
    "hi": ("कुल {n} हैं।", "{n} वाहन: {a} कारें और {b} बसें", "{n}, जिनमें {a} लाल हैं"),
}
"""A count, with its parts `{a}` and `{b}`, whose sum it is."""

REMARKS: dict[str, tuple[str, ...]] = {
    "en": (
        "{n} birds. {a} of them are on the wire.",
        "There are {n} birds. {a} are on the wire.",
        "{n} birds, {a} of them red.",
        "{n} birds. One is on the wire.",
    ),
    "zh": ("{n}只鸟。其中{a}只在电线上。",),
    "ja": ("{n}羽。そのうち{a}羽が電線にいます。",),
    "ko": ("{n}마리. 그중 {a}마리는 전선 위에 있습니다.",),
    "de": ("{n} Vögel. {a} davon sitzen auf dem Draht.", "Es sind {n} Vögel. {a} sitzen auf dem Draht."),
    "fr": ("{n} oiseaux. {a} d'entre eux sont sur le fil.", "Il y a {n} oiseaux. {a} sont sur le fil."),
    "es": ("{n} pájaros. {a} de ellos están en el cable.", "Hay {n} pájaros. {a} están en el cable."),
    "pt": ("{n} pássaros. {a} deles estão no fio.", "Há {n} pássaros. {a} estão no fio."),
    "ru": ("{n} птиц. {a} из них сидят на проводе.",),
    "ar": ("{n} طيور. {a} منها على السلك.",),
    "hi": ("{n} पक्षी। उनमें से {a} तार पर हैं।",),
}
"""A count, with a remark on a part `{a}` of it behind."""

BOUNDS: dict[str, tuple[str, ...]] = {
    "en": ("at least {n}", "fewer than {n}", "no more than {n}", "the {n}th", "{n} out of 90"),
    "zh": ("至少{n}个", "不超过{n}个", "{n}个以上"),
    "ja": ("少なくとも{n}台", "{n}台以上", "{n}台未満"),
    "ko": ("최소 {n}대", "{n}대 이상", "{n}대 미만"),
    "de": ("mindestens {n}", "weniger als {n}", "höchstens {n}"),
    "fr": ("au moins {n}", "moins de {n}", "plus de {n}"),
    "es": ("al menos {n}", "menos de {n}", "más de {n}"),
    "pt": ("pelo menos {n}", "menos de {n}", "no máximo {n}"),
    "ru": ("не менее {n}", "более {n}", "меньше {n}"),
    "ar": ("أكثر من {n}", "أقل من {n}", "ما لا يقل عن {n}"),
    "hi": ("कम से कम {n}", "{n} से अधिक", "{n} से कम"),
}
"""What tells where a count lies, and not what it is."""
