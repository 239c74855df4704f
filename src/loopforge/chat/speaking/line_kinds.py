"""Kinds of short lines: those that only take note, and those that want more of the same.

By their words alone, in the commonest languages; works on folded text (name_mentions.py).
"""

import re

SHORT = 6
"""Words of a line that goes on, at most."""
NOTES = """
    ok okay o+k+(?:i|ie|é)? k+ alright fine right sure cool nice great good super perfect
    awesome wow oh ah aha hm+ i_see got_it understood makes_sense good_to_know never_?mind
    no_worries so much very that was helpful then a_lot thanks thank_you thx ty cheers l+o+l+
    lmao rofl x+d+ hihi hehe danke(?:_schön)? klar stimmt genau gut alles_klar verstehe na ja
    merci(?:_beaucoup)? d['’]accord bien très entendu ça_marche oui mdr ptdr gracias vale
    de_acuerdo claro entendido bueno sí (?:j[aei]+)+j* grazie(?:_mille)? va_bene capito
    ah_?ecco ecco certo sì ahah\\w* obrigad[oa] valeu beleza tá entendi legal sim (?:k[ae])+k+
    rs+ dzięki dziękuję dobrze dobra jasne rozumiem tak děkuji díky dobře jasně спасибо спс
    дякую хорошо ладно понятно ясно понял[а]? да ну а точно ага угу (?:а*ха)+х* (?:хе)+ ржу
    teşekkürler sağ_?ol tamam peki anladım bedankt dank_je goed prima tack takk tak kiitos
    ありがとう(?:ございます)? 了解 わかった なるほど うん はい そうか へえー* へー+ ほう w+ 草
    笑+ 谢谢 多谢 好的? 知道了 明白了? 嗯+ 哈+ 고마워 감사(?:합니다|해요) 알겠어 오 그래 응 네
    ㅋ+ ㅎ+ a*(?:h+[aei]+)+h*
"""
"""What says no more than that something was heard: agreement, thanks, laughter.

Patterns, in which "_" is a space."""
MORE = """
    go_on continue keep_going more tell_me_more another again one_more next why how_come
    for_example explain elaborate shorter longer weiter mach_weiter noch_(?:ein\\w*|mal)
    mehr nochmal erzähl warum wieso zum_beispiel vas-y encore une?_autre plus pourquoi
    par_exemple sigue más otr[ao] por_qué continúa continua vai_avanti ancora
    un['_]?altr[oa] perché outr[oa] por_que dalej jeszcze kontynuuj dlaczego więcej pokračuj
    ještě další дальше ещё еще продолжай почему devam daha bir_tane_daha neden verder
    ga_door nog_een meer waarom 続けて もっと もう一つ じゃあ なんで 继续 再来 为什么 계속 더 왜
"""
"""How a line begins that wants more of what was said; as above."""


def _any_of(table: str) -> str:
    """One pattern of all; longer ones first, so that none is cut short by another."""
    return "|".join(sorted((each.replace("_", " ") for each in table.split()), key=len)[::-1])


_PLAYFUL = r"[\s,.!…~:;)(^\-_'’、。！♥❤\U0001f300-\U0001faff]*"
_TAKES_NOTE = re.compile(rf"(?:(?>(?:{_any_of(NOTES)})(?!\w)){_PLAYFUL}+)++")
_SIGNS = re.compile(r"[\W_]*")
_GOES_ON = re.compile(rf"(?:{_any_of(MORE)})(?!\w)")


def is_acknowledgement(text: str) -> bool:
    """Whether a plain text only says that something was heard; signs alone are such, too."""
    said = text.strip()
    if len(said.split()) > SHORT:
        return False
    return bool(said) and bool(_TAKES_NOTE.fullmatch(said) or _SIGNS.fullmatch(said))


def is_continue_request(text: str) -> bool:
    """Whether a plain text is a short wish for more of what was said before."""
    said = text.strip()
    return bool(_GOES_ON.match(said)) and len(said.split()) <= SHORT
