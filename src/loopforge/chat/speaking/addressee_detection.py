"""Addressee detection: whether a name in a text calls who bears it, or only speaks of them.

    "maya, what time is it"   "good night maya"   "what do you think, maya?"   called
    "Ben, I think Maya was rude"   "Zuzu's joke"   "what did Merlin say?"      about
    "not you, maya"   "everybody but Maya"                                     not

By place and the words beside it: a name that stands alone, opens a sentence, or ends one behind a
comma, a greeting or a "you" calls; elsewhere it is spoken of. English and German most, the
commonest words of a few other languages. Works on folded text (name_mentions.py). What it cannot
tell is "about": then its mate is asked whether it has something to say.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from loopforge.chat.speaking import name_mentions
from loopforge.chat.speaking.name_mentions import (
    FORMS,
    Addressee,
    Form,
    find_mentions,
    forms_of,
    is_question,
    surest_form,
)
from loopforge.core.text import topics
from loopforge.core.text.topics import fold_case, is_unspaced_script

Sense = Literal["called", "about", "aside", "not", "nearly"]

NEAR = 1000
"""Characters before and after a name that say in which sense it stands there."""
NAMED = 100
"""Names in a line whose sense is looked for, each in all that stands around it: the first ones."""
_YOU = (
    "you|du|dich|dir|sie|ihr|euch|toi|tu|te|vous|t[uú]|ti|usted(?:es)?|vosotros|voi|voc[eê]s?|jij|jou|je"
    "|dig|deg|ты|тебя|тебе|вы|ty|wy|vy|ви|ти|sen|siz"
)
_NO = "not|nicht|pas|no|non|não|nao|niet|ikke|inte|nie|ne|не|değil"
_NOT = re.compile(
    rf"(?<!\w)(?:(?:{_NO})\s+(?:{_YOU})\s*,?"
    rf"|(?:tú|tu|você|usted|ty|ты|du|sen|voi)\s+(?:{_NO})\s*,?"
    rf"|(?!no\s)(?:{_NO})(?:\s+(?:for|to|an|für|pour|para|do|dla|для))?"
    r"|(?:except(?:\s+for)?|außer|ausser|sauf|excepto|excepté|salvo|tranne|behalve|utom|кроме|крім"
    r"|oprócz|kromě))\s*[(@]?\Z"
)
_NOT_YOU = re.compile(rf"(?<!\w)(?:{_NO})\s+(?:{_YOU})\s*,?\s*\Z")
_NOT_AFTER = re.compile(
    rf"\s*+(?:,\s*+)?(?:{_NO})\s+(?:{_YOU})(?!\w)|\s*+(?:,\s*+)?(?:sen|siz)\s+değil"
    r"|\s*+(?:,\s*+)?(?:a\s+)?(?:ti|tú|você|te)\s+(?:no|não)(?!\w)|\s*(?:じゃなくて?|ではなく|じゃない|말고|아니고)|\s+değil"
)
_ALL = (
    r"(?:every(?:body|one)|any(?:body|one)|all(?:\s+of\s+you)?|you\s+all|mates|folks|alle|jeder|ihr\s+alle"
    r"|tous|toutes|tout\s+le\s+monde|todo\s+(?:o\s+)?mundo|galera|tod[oa]s|tutti|iedereen|allemaal|alla"
    r"|alle\s+sammen|все|всі|wszyscy|všichni|herkes|hepiniz|みんな|皆|全員|大家|所有人|모두|다들)"
)
_BUT = (
    r"(?:but|except(?:\s+for)?|besides|apart\s+from|other\s+than|außer|ausser|bis\s+auf|sauf|à\s+part"
    r"|excepté|menos|excepto|salvo|tranne|eccetto|meno|exceto|behalve|utom|кроме|крім|oprócz|prócz|poza"
    r"|kromě)"
)
_EXCEPT = re.compile(
    rf"(?<!\w){_ALL}\s*,?\s*{_BUT}\s+(?:(?:a|o|as|os|la|el|le|der|die|den|dem|il|al|à)\s+)?@?\Z|除了\s*\Z"
)
_BUT_FIRST = re.compile(rf"\W*{_BUT}\s+(?:(?:a|o|la|el|le|der|die|den|il|al|à)\s+)?@?")
_ANYWHERE = re.compile(rf"(?<!\w){_ALL}(?!\w)")
_EXCEPT_AFTER = re.compile(
    rf"\s*(?:hariç|dışında|以外の?|\s?빼고|\s?제외하고)\s*+(?:,\s*+)?(?={_ALL}|\w)", re.IGNORECASE
)
_JOINT = re.compile(
    r"\s*+(?:[,&+/、]\s*+)?(?:(?:and|und|et|y|e|en|och|og|or|oder|и|i|a|ve|с|со|z|ze)\s+|[と和]|랑\s*)?@?"
)
_VERB = (
    "(?:always|never|often|already|also|probably|really|usually)"
    "|(?!(?:yes|thanks|sometimes|this|us|its|his|as|is|plus|perhaps|besides|lets|whats|hows|wheres|guys"
    "|yours|this|always|does|was|has|los|vamos|dis|tous|des|les|mais|puis|jamais|eres|estás|sabes|puedes"
    "|quieres|tienes|crees|piensas|dices|haces|ves|oyes|masz|wiesz|jesteś)(?!\\w))[a-z]{2,}[^s\\W_]s(?!\\w)"
    "|(?!(?:need|indeed|feed|speed)(?!\\w))[a-z]{2,}[^e\\W_]ed(?!\\w)"
)
_SPOKEN_OF = re.compile(
    r"\s*(?:['’]\w+|l['’]\w+|the\s+\w+|(?:is|was|are|were|sind|waren|sont|son|isn['’]t|wasn['’]t|has|had|hasn['’]t|said|says|thinks|thought|likes|liked"
    r"|loves|hates|knows|knew|told|tells|asked|asks|went|goes|came|comes|gave|made|makes|did|does|didn['’]t"
    r"|doesn['’]t|seems|looks|looked|wants|wanted|and|or|und|oder|et|och|en|og|ist|war|hat|hatte|sagt|sagte|meint|meinte"
    r"|denkt|mag|will|kann|wird|würde|est|était|a|dit|pense|es|está|estaba|tiene|era|fue|ha|sta|dijo|dice|piensa|è|disse|foi|é|tem|estava"
    r"|jest|był|była|mówi|powiedział|powiedziała|mówiła|je|byl|byla|má|řekl|řekla|heeft|zei|vindt"
    r"|dedi|diyor|которая|который|сказала?|говорит|была?|думает|знает|не|ci|ti|(?:mi|me)\s+(?:ha|a|lo|dijo|disse|dice|diz|contou|powiedzia\w+)|тебе|тебя|мне|dir|dich|mir|mich|euch|jou|sana|bana"
    r"|te\s+l[oae]|m['’]a|t['’]a|hat\s+dir)(?!\w)|" + _VERB + r")"
)
_ASKS = re.compile(
    rf"\s*(?:will|can|kann|does|did|will)\s+(?:{_YOU})(?!\w)|\s*(?:me|mi|m['’])\s+\w+[?？]"
)
_HAIL = re.compile(
    r"(?:\A|(?<!\w))(?:(?:and|et|und|y|e|a|i|и|ve)\s+(?:you|toi|du|tú|tu|você|ty|ты|sen)|ô|ó|hi|hey|hello|hiya|yo|oh|ah|ok|okay|well|so|and|but|yes|no|yeah|nope|please|pls|dear|sorry"
    r"|thanks(?:\s+(?:so\s+much|a\s+lot))?|thank\s+you(?:\s+(?:so|very)\s+much)?|ty|thx|cheers|bye|goodbye|welcome(?:\s+back)?|congratulations|congrats|good\s+\w+|right|eh|listen|look"
    r"|hallo|moin|servus|danke(?:\s+(?:schön|dir))?|vielen\s+dank|bitte|ja|nein|na|du|guten?\s+\w+|tschüss|liebe[rs]?|sag\s+mal|hör\s+mal|schau\s+mal|sorry|entschuldige?"
    r"|salut|bonjour|bonsoir|merci(?:\s+beaucoup|\s+bien)?|bonne\s+nuit|coucou|dis|dis[\s-]moi|écoute|pardon|allez|désolée?"
    r"|hola|(?:muchas\s+)?gracias|buen[oa]s\s+\w+|buen\s+\w+|adiós|oye|mira|perdona?|por\s+favor|dime|oiga"
    r"|ciao|(?:mille\s+)?grazie(?:\s+mille)?|buon\w*(?:\s+\w+)?|senti|ascolta|dimmi|scusa|ehi|olá|oi|ei|(?:muito\s+)?obrigad[oa]|valeu|desculpa|bo[am]\s+\w+"
    r"|cześć|hej|siema|witaj|dzięki|dziękuję|słuchaj|przepraszam|dobranoc|dzień\s+dobry|proszę|ahoj|čau|díky|děkuji|hele|prosím|dobr\w+\s+\w+"
    r"|привет|(?:большое\s+)?спасибо|пока|слушай|эй|здравствуй|прости|извини|пожалуйста|доброе\s+утро|добр\w+\s+\w+|спокойной\s+ночи|спасибки|здорово|дякую|привіт"
    r"|merhaba|selam|teşekkürler|sağ\s*ol|günaydın|iyi\s+\w+|lütfen|baksana"
    r"|hoi|dank\s+je|dankjewel|bedankt|dag|doe[gi]|goede\w*(?:\s+\w+)?|luister|hé|tack|hej|takk|tak|moi|moikka|kiitos"
    r"|고마워요?|안녕|감사해요|미안|있잖아|야|ありがとう(?:ございます)?|おはよう|こんにちは|こんばんは|ねえ|おい|ごめん|谢谢你?|谢啦|谢了|你好|嗨|嘿|喂|早安?|晚安|请问|对不起"
    r"|i\s+mean(?:t)?|ich\s+meine?|je\s+veux\s+dire|quiero\s+decir|over\s+to)\s*[,、，]?\s*\Z"
)
_MEANT = re.compile(
    r"(?<!\w)(?:i\s+mean(?:t)?|i(?:['’]m|\s+was|\s+am)\s+(?:talking|speaking|writing)\s+to|(?:that|this|it)(?:\s+was|['’]s|\s+is)\s+(?:meant\s+)?for"
    r"|i\s+was\s+asking|ich\s+mein(?:te|e)|das\s+(?:war|ging|ist)\s+(?:für|an)|ich\s+rede\s+mit|je\s+(?:parlais|parle)\s+à|c['’]était\s+pour|je\s+voulais\s+dire"
    r"|me\s+refer[íi]a\s+a|era\s+para|hablaba\s+con|quer[ií]a\s+decir|quise\s+decir|intendevo|volevo\s+dire|dicevo\s+a|parlavo\s+con|era\s+per"
    r"|(?:eu\s+)?fal(?:ei|ava|o)\s+com(?:\s+[oa])?|quis\s+dizer|era\s+(?:pra|pro)(?:\s+[oa])?|miał[ae]m\s+na\s+myśli|chodziło\s+mi\s+o|mówi(?:ł[ae]m|ę)\s+do|to\s+(?:było\s+)?do"
    r"|я\s+имела?\s+в\s+виду|я\s+(?:про|к)|это\s+(?:было\s+)?(?:для|к)|myslela?\s+jsem|mluvila?\s+jsem\s+na|ik\s+bedoel(?:de)?|dat\s+was\s+voor|ik\s+had\s+het\s+tegen)\s*,?\s*@?\Z"
)
_MEANT_AFTER = re.compile(
    r"\s*(?:спрашивал[аи]?|имел[аи]?\s+в\s+виду|pytał[ae]m|diyordum|demek\s+istedim|sordum|soruyordum|yazacaktım|のこと|だった|に(?:聞いて|言って|話して)い?る)"
)
_SAID_TO = re.compile(
    r"(?<!\w)(?:i\s+asked|(?:was\s+)?(?:asking|talking\s+to|testing)|ich\s+(?:habe?|hab)|je\s+demandais\s+à|se\s+lo\s+\w+\s+a|le\s+(?:preguntaba|pregunté|decía|dije)\s+a|hablaba\s+con"
    r"|chiedevo\s+a|stavo\s+\w+\s+(?:a|con)|(?:tô|estou|estava|tava)\s+\w+ndo(?:\s+(?:a|o|com|pra|pro))*|perguntei\s+(?:pra|pro|ao?)|pytał[ae]m|pytam|do"
    r"|спрашивал[аи]?|ptal[a]?\s+jsem\s+se|vroeg|じゃなくて?|ではなく|말고)\s*\Z"
)
"""To whom something was said, where the line puts right whom it was for."""
_PUTS_RIGHT = re.compile(
    rf"(?<!\w)(?:(?:{_NO})\s+(?:{_YOU})|(?:tú|tu|você|usted|ty|ты|du|sen)\s+(?:{_NO}))(?!\w)"
    r"|\A\s*(?:no|non|nein|nie|não|нет|sorry|pardon|scusa|perdón|hayır|ごめん|いや|아니)(?!\w)|じゃなくて?|ではなく|말고|вообще-то|actually"
)
_STARRED = re.compile(r"(?:\A|[\s,])\*+\s*\Z")
_FOND_OF = re.compile(
    r"(?<!\w)(?:my|ma|mon|meine?|mi|mia|mio|minha|meu|moja|mój|моя|мой|dear|dearest|cher|chère|liebe[rs]?|querid[oa]|car[oa]"
    r"|droga|drogi|kochan[ay]|sevgili|canım)\s+(?:(?:p['’]?tite?|petite?|petit|kleine[rs]?|little|dear|sweet|lieve)\s+)?\Z"
)
_ASKING = re.compile(
    r"\W*(?:\w+\s+){0,2}(?:who|what|when|where|why|how|which|wer|was|wann|wo|warum|wieso|wie|welche\w*|qui|que|quoi|quand|où|pourquoi|comment|quel\w*|combien"
    r"|quién|qué|cuándo|dónde|cómo|cuál|cuánt\w+|chi|che|cosa|quando|dove|perché|come|quale|quant\w+|quem|onde|como|qual|kto|co|kiedy|gdzie|dlaczego|jak\w*|ile"
    r"|kdo|kdy|kde|proč|кто|что|когда|где|почему|как\w*|сколько|kim|ne|nasıl|nerede|neden|kaç|hangi|wie|wat|waar|waarom|hoe|welke|can|could|would|kannst|könntest|puedes|podrías|puoi|pode|możesz|można|можешь|kan)(?!\w)"
)
_IS = re.compile(
    r"(?<!\w)(?:is|was|are|were|ist|war|sind|est|était|es|está|era|è|é|jest|był[a]?|je|byl[a]?|был[аи]?|это|bu|wie|who|qui|chi|quem|kto|кто|hat|has|did|does|says?|said|sagte|dit|dijo|disse|detto|contou|powiedział[a]?|сказал[аи]?|thinks?|denkt)\s+\Z"
)
_OF = re.compile(
    r"(?<!\w)(?:of|about|from|with|like|than|to|for|by|at|over|on|and|or|the|ask|tell|love|hate|know|see|meet"
    r"|von|über|mit|für|an|zu|bei|und|oder|frag|de|du|sur|avec|pour|à|et|con|para|por|di|su|per|e|y|van|met|aan|vraag|о|с|про"
    r"|z|o|do|dla|od|u|u|y|у|к|для|от|za|na|s)"
    r"\s+\Z"
)
_YOURS = re.compile(
    r"(?<!\w)(?:you|du|sie|ihr|euch|toi|tu|tú|vous|usted(?:es)?|vosotros|voi|voc[eê]s?|jij|je|ты|вы|sen|siz"
    r"|your|yours|dein\w*|euer|votre|tes|tus?|seu|sana)(?!\w)"
)
_MERE = re.compile(
    r"(?<!\w)(?:the|a|an|this|that|der|die|das|dem|den|ein|eine[nmr]?|le|la|les|un|une|el|los|las|una|il|lo|gli|os|as|het|een|ruinas|old|ancient)"
    r"\s+\Z"
)
_ASIDE = re.compile(
    r"(?<!\w)(?:of|about|from|with|than|to|for|by|at|over|on|ask(?:ed)?|tell|told|von|über|mit|für|an|zu|bei|frag\w*(?:\s+\w+)?|sag"
    r"|sur|avec|pour|à|con|para|por|di|su|per|a|al|com|pro|pra|z|ze|o|do|dla|od|u|na|zapytaj|powiedz|se|s|с|о|об|у|к|для|от|про|спроси"
    r"|met|aan|van|voor)\s+\Z|[去问跟和对]\Z"
)
"""What a name is the object of; no cause to ask who bears it."""
_ASIDE_AFTER = re.compile(r"['’](?!s(?!\w))\w+|[にとのへを](?!\s*[?？])|から|より|한테|에게|의|랑")
_REPORTED = re.compile(r"[\"“„«「『](?P<said>[^\"“”„«»「」『』\n]+)[\"”“»」』]")
_NEXT = re.compile(
    r"[,;:、，–—-]\s*(?:and\s+|und\s+|et\s+|y\s+|e\s+|i\s+|и\s+|en\s+)?(?:then|next|after\s+(?:that|her|him|them)|dann|danach|ensuite|puis|luego|después|poi|dopo|depois"
    r"|potem|potom|потом|затем|dan|daarna|sedan|sonra|然后|그다음)\s*\Z"
)
"""What stands before who is to speak after somebody that was called: "Maya first, then Merlin"."""
_OPEN = re.compile(r"[\s\"'“”‘’«»(\[*_~>¿¡\-–—]*\Z")
_TITLE = "(?:さん|ちゃん|くん|たん|様|님|씨|야|아|君|先生|酱|宝贝)?"
_CLOSED = re.compile(_TITLE + r"[\s\"'”’»)\]*_~]*(?:\Z|[,;:!?.…–—、。！？，：〜～~]|-\s)")
_ENDED = re.compile(_TITLE + r"[\s\"'”’»)\]*_~\U0001f300-\U0001faff]*\Z")
_GLUED = re.compile(
    r"(?:さん|ちゃん|くん|たん|酱|宝贝|様|君|先生|님|씨|야|아)?(?:[\s、。！？，,!?…:：〜～~]|\Z|你|您|在|请|能|可以|帮|快|来|别|吧|啊|呀|呢)"
    r"|(?:さん|ちゃん|くん)?は[^。！!]*(?:[?？]|か[。\s]*\Z)"
)
_SENTENCE = re.compile(r"[.!?…。！？\n]+(?:\s|\Z)|[。！？\n]")
_PAUSE = re.compile(r"[,;:、，：(]\s*[\"'“«]?\Z|\s[-–—]\s*\Z")
_RUNS = re.compile(
    r"[\u30a1-\u30fa\u30fc]+"  # katakana
    # hiragana, as far as a title or a sign
    r"|(?<![\u3041-\u3096])[\u3041-\u3096]{2,6}?(?=さん|ちゃん|くん|[、,，!！?？。\s]|\Z)"
    # Han, as far as a sign or what one says to somebody
    r"|(?<![\u3400-\u9fff])[\u3400-\u9fff]{2,4}?(?=[，,。！？!?、~～\s]|你|您|请|帮|快|宝贝|酱|\Z)"
    r"|(?<=[谢啦了好嗨])[\u3400-\u9fff]{2,3}(?=[，,。！？!?、~～\s]|\Z)"
    r"|[^\W\d_\u3041-\u30ff\u3400-\u9fff]+(?:['’][^\W\d_]+)?"
)
"""What may be a name in another form: words, and runs of one script where words are not parted."""


class NameCall(NamedTuple):
    """In which sense somebody is named, how, where; `corrects`: not whom a line before named."""

    who: str
    address: Addressee
    sense: Sense
    corrects: bool = False


class _Span(NamedTuple):
    """Names that stand in a row, as one."""

    place: int
    end: int
    names: list[tuple[str, Addressee]]
    form: Form = "name"


def find_name_calls(
    text: str, names: Mapping[str, str], others: Mapping[str, str] = {}
) -> list[NameCall]:
    """Who is named in a plain text, in order, and in which sense.

    `others` are further names by id (of people), which may be the ones that a sentence is said to.
    "Everybody but Zuzu", said to them, calls all others of `names`.
    """
    if not names and not others:
        return []
    spans = _all_spans(text, {**others, **names})[:NAMED]
    quoted = _quotation_spans(text)
    right = bool(spans and _PUTS_RIGHT.search(text))
    found: list[NameCall] = []
    hailed = -1  # the sentence that somebody was hailed in
    for span in spans:
        near = max(0, span.place - NEAR)
        begun = max((m.end() for m in _SENTENCE.finditer(text, near, span.place)), default=near)
        before = text[begun : span.place]
        sense = _sense_of(text, span, begun, hailed=hailed == begun, right=right)
        if any(first <= span.place < last for first, last in quoted):
            sense = "aside"
        if span.form == "nearly" and sense in ("about", "aside"):
            sense = "nearly"
        if sense == "called":
            hailed = begun
        meant = _MEANT.search(before) or _STARRED.search(before)
        corrects = sense == "called" and bool(meant or right)
        for nth, (who, address) in enumerate(span.names):
            if sense == "not" and nth and _NOT_YOU.search(before):
                sense, corrects = "called", True
            if who in names or sense == "called":
                clear = address.summons == "mention" and sense == "about"
                found.append(NameCall(who, address, "called" if clear else sense, corrects))
        found += _all_but(text, span, begun, names)
    return found


def _all_but(text: str, span: _Span, begun: int, names: Mapping[str, str]) -> list[NameCall]:
    """The others, where everybody is meant but those."""
    apart = {who for who, _ in span.names}
    others = [who for who in names if who not in apart]
    before = text[begun : span.place]
    but, after = _EXCEPT.search(before), _EXCEPT_AFTER.match(text, span.end)
    after = after or (_BUT_FIRST.fullmatch(before) and _ANYWHERE.search(text, span.end))
    if after:
        place = Addressee("name", span.place, after.end())
    elif but and _is_hailed(
        text, _Span(begun + but.start(), span.end, span.names), begun, hailed=False
    ):
        place = Addressee("name", begun + but.start(), span.end)
    else:
        return []
    return [NameCall(who, place, "called") for who in others]


def _quotation_spans(text: str) -> list[tuple[int, int]]:
    """Where others' words stand in quotation marks, with words of the speaker beside them."""
    found = [match.span("said") for match in _REPORTED.finditer(text)]
    beside = _REPORTED.sub(" ", text)
    return found if re.search(r"\w", beside) else []


def _all_spans(text: str, names: Mapping[str, str]) -> list[_Span]:
    """Names as they are written, and in other forms where nobody is named so."""
    exact = find_mentions(text, names)
    taken = [(address.place, address.end) for _, address in exact]
    found: list[tuple[Form, str, Addressee]] = [("name", *one) for one in exact]
    spelt = tuple(_call_names(who, name) for who, name in names.items())
    for word in _RUNS.finditer(text):
        forms = forms_of(word[0], spelt)
        begin, end = word.span()
        if not any(forms) or any(first < end and begin < last for first, last in taken):
            continue
        at = "mention" if text[begin - 1 : begin] == "@" else "name"
        address, surest = Addressee(at, begin - (at == "mention"), end), surest_form(forms)
        those = zip(names, forms, strict=True)
        found += [(surest, who, address) for who, form in those if form == surest]
    spans: list[_Span] = []
    for kind in FORMS:
        some = [(who, address) for sort, who, address in found if sort == kind]
        some.sort(key=lambda one: one[1].place)
        spans += [span._replace(form=kind) for span in _spans_of_names(text, some)]
    return sorted(spans, key=lambda span: span.place)


def forget_all() -> None:
    """Let go of every name that was looked for: of some people nothing is to be known any more."""
    _call_names.cache_clear()
    name_mentions.forget_all()
    topics.forget_all()


@lru_cache(1024)
def _call_names(who: str, name: str) -> tuple[str, ...]:
    """What somebody is called by: the handle, and the first word of the name."""
    called = dict.fromkeys((fold_case(who), *fold_case(name).split()[:1]))
    return tuple(each for each in called if each)


def _spans_of_names(text: str, found: Sequence[tuple[str, Addressee]]) -> list[_Span]:
    """Names in a row as one: "Maya, Merlin and Zuzu"."""
    spans: list[_Span] = []
    for who, address in found:
        last = spans[-1] if spans else None
        beside = last and _JOINT.fullmatch(text, last.end, address.place)
        if beside and "," in beside[0] and _SPOKEN_OF.match(text, address.end):
            beside = None  # "Zuzu, Maya told me": said to the one, of the other
        if last and (address.place < last.end or beside):
            names = [*last.names, (who, address)]
            spans[-1] = _Span(last.place, max(last.end, address.end), names)
        else:
            spans.append(_Span(address.place, address.end, [(who, address)]))
    return spans


def _sense_of(text: str, span: _Span, begun: int, *, hailed: bool, right: bool) -> Sense:
    before = text[begun : span.place]
    if (
        _EXCEPT.search(before)
        or _NOT.search(before)
        or _NOT_AFTER.match(text, span.end)
        or _EXCEPT_AFTER.match(text, span.end)
    ):
        return "not"
    if (
        (right and _SAID_TO.search(before))
        or _MEANT.search(before)
        or _MEANT_AFTER.match(text, span.end)
    ):
        return "called"
    mentioned = span.names[0][1].summons == "mention"
    if _MERE.search(before) and not mentioned:
        return "aside"
    if not mentioned and not _is_hailed(text, span, begun, hailed=hailed):
        cased = span.form == "inflected"
        asked = is_question(text[begun:])
        object = _ASIDE.search(before) or _ASIDE_AFTER.match(text, span.end)
        return "aside" if not asked and (cased or object) else "about"
    return "called" if _is_hailed(text, span, begun, hailed=hailed) else "about"


def _is_greeting(before: str) -> bool:
    return bool(_HAIL.search(before) or _PAUSE.search(before))


def _is_hailed(text: str, span: _Span, begun: int, *, hailed: bool) -> bool:
    """Whether the words around names show that the sentence is said to them."""
    before = text[begun : span.place]
    before = _FOND_OF.sub("", before)
    far = span.end + NEAR
    ended = _SENTENCE.search(text, span.end, far)
    after = text[span.end : ended.start() if ended else far]
    if _SPOKEN_OF.match(after) and not _ASKS.match(after):
        return False
    if after and (is_unspaced_script(after[0]) or "\uac00" <= after[0] <= "\ud7a3"):
        whole = text[span.end : ended.end() if ended else far]
        return bool(_GLUED.match(whole)) and (bool(_OPEN.fullmatch(before)) or _is_greeting(before))
    closed = bool(_CLOSED.match(after))
    if span.form != "name" and not closed and not _HAIL.search(before):
        return False
    if _OPEN.fullmatch(before) or _HAIL.search(before):
        return closed or before.strip() == "" or not _OF.search(before)
    if closed and (_PAUSE.search(before) or (hailed and _NEXT.search(before))):
        return True
    at_end = bool(_ENDED.match(after))
    if not at_end or hailed or _OF.search(before):
        return False
    asks = (
        _ASKING.match(before)
        and not _IS.search(before)
        and not re.search("[?？]", text[span.end :])
    )
    return bool(asks or _YOURS.search(before))
