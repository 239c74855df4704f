"""Spanish words of when."""

from loopforge.schedule.phrases.phrase_patterns import PhraseTable

_ONES = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro "
    "veinticinco veintiseis veintisiete veintiocho veintinueve"
).split()
_TENS = {"treinta": 30, "cuarenta": 40, "cincuenta": 50}
NUMBERS: dict[str, float] = {
    **{word: value for value, word in enumerate(_ONES)},
    **_TENS,
    **{f"{ten} y {_ONES[one]}": _TENS[ten] + one for ten in _TENS for one in range(1, 10)},
    "sesenta": 60,
    "noventa": 90,
    "un": 1,
    "una": 1,
    "media": 0.5,
    "medio": 0.5,
    "tres cuartos de": 0.75,
}
ORDINALS = {"primero": 1, "primer": 1, "primera": 1}
ORDINALS |= {word: value for word, value in NUMBERS.items() if 1 <= value <= 31 and value % 1 == 0}  # type: ignore[misc]
_DAYS = "lunes martes miercoles jueves viernes sabado domingo".split()
WEEKDAYS = {**{day: value for value, day in enumerate(_DAYS)}, "sabados": 5, "domingos": 6}
_MONTHS = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
).split()
MONTHS = {**{month: value for value, month in enumerate(_MONTHS, 1)}, "setiembre": 9}
UNITS = {
    **dict.fromkeys(("segundo", "segundos"), "s"),
    **dict.fromkeys(("minuto", "minutos", "min"), "min"),
    **dict.fromkeys(("cuarto de hora",), "q"),
    **dict.fromkeys(("hora", "horas", "h"), "h"),
    **dict.fromkeys(("dia", "dias"), "d"),
    **dict.fromkeys(("semana", "semanas"), "w"),
    **dict.fromkeys(("quincena",), "f15"),
    **dict.fromkeys(("mes", "meses"), "mo"),
    **dict.fromkeys(("ano", "anos"), "y"),
}
PARTS = {
    "manana": "morning",
    "mananas": "morning",
    "madrugada": "small",
    "tarde": "afternoon",
    "tardes": "afternoon",
    "noche": "evening",
    "noches": "evening",
}
HOLIDAYS = {
    "navidad": "12-25",
    "nochebuena": "12-24",
    "nochevieja": "12-31",
    "ano nuevo": "01-01",
    "reyes": "01-06",
    "san valentin": "02-14",
    "domingo de pascua": "easter",
    "pascua": "easter",
    "viernes santo": "easter-2",
    "lunes de pascua": "easter+1",
}
_EVERY = "(?:cada|todos los|todas las)"
_ORD = "primer|primera|primero|segundo|tercer|tercero|cuarto|ultimo|ultima"

PATTERNS: tuple[tuple[str, str], ...] = (
    ("past", r"ayer|anteayer|hace <n> <unit>|(?:el <wd>|la semana|el mes|el ano) pasad[oa]"),
    (
        "until",
        r"hasta (?:el )?(?P<rest>(?:<wd>|(?:dia )?<ord> de <mon>|fin(?:al|ales)? de [a-z]+|<mon>)"
        r"(?: de 20\d\d)?)",
    ),
    (
        "every",
        rf"(?:una|1) vez (?:al|por|a la|{_EVERY}) (?P<unit>horas?|dias?|semanas?|mes(?:es)?|anos?)",
    ),
    ("count", r"(?:durante )?<n> veces(?! (?:al|por|a))"),
    (
        "span",
        r"(?:durante|por) (?:los |las )?(?:proximos |proximas )?<n> (?P<unit>dias?|semanas?|meses|mes|anos?)",
    ),
    (
        "from",
        r"(?:a partir del?|desde(?: el)?|empezando(?: el)?) ?(?P<rest>(?:proximo )?(?:lunes|martes|"
        r"miercoles|jueves|viernes|sabado|domingo)|manana|hoy|la (?:proxima semana|semana que viene)|<ord> de "
        r"<mon>|<mon>)(?! (?:a|al) <wd>)",
    ),
    (
        "vague",
        r"(?:en |dentro de )?(?:unos|unas|algunos|algunas|varios|varias|un par de|pocos|pocas) <unit>",
    ),
    (
        "vague",
        r"mas tarde|luego|pronto|algun dia|de vez en cuando|regularmente|en un rato|dentro de un rato|"
        r"en un momento|enseguida|a veces|proximamente|en breve|un dia de estos|a menudo|bimensual|quincenalmente",
    ),
    ("vague", r"(?:<n> veces|una vez) (?:al|por|a la|cada) <unit>"),
    (
        "window",
        r"(?<!aqui )(?:de|entre)(?: las?)? <h> (?:a|y)(?: las?)? <h2>(?: horas?)?(?! de la| de <mon>)",
    ),
    ("range", r"(?:de|del|desde el)? ?<wd> (?:a|al|hasta el) <wd2>"),
    (
        "except",
        r"(?:todos los dias|cada dia|a diario|diariamente),? (?:excepto|salvo|menos)(?: el| los)? <wds>",
    ),
    (
        "nthwork",
        rf"(?:{_EVERY} |el )?(?P<ord>{_ORD}) dia (?:laborable|habil) "
        r"(?P<mo>(?:de cada|del|de todos los|cada) mes(?:es)?)",
    ),
    (
        "weekdays",
        rf"(?:{_EVERY} |los )?dias? (?:laborables?|habil(?:es)?|de semana|entre semana)|entre semana",
    ),
    ("weekends", r"(?:cada|todos los|los) fin(?:es)? de semana"),
    ("vague", r"(?:este |el |al )?(?:proximo )?fin de semana(?: que viene)?"),
    (
        "nth",
        rf"(?:{_EVERY} |el )?(?P<ord>{_ORD}) <wd> (?P<mo>(?:de cada|del|de todos los|cada) mes(?:es)?)",
    ),
    (
        "nthof",
        rf"(?:el )?(?P<ord>{_ORD}) <wd> (?:del? )(?P<mon>proximo mes|este mes|enero|febrero|marzo|abril|"
        r"mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)",
    ),
    (
        "monthend",
        r"(?P<mo>(?:a |el |al )?(?:fin(?:al|ales)?|ultimo dia) (?:de(?: este| cada)?|del|de cada) mes|cada mes el ultimo dia)",
    ),
    (
        "monthdays",
        r"(?:el |los )(?:dias? )?<ord>(?: y (?:el )?<ord2>)? (?:de cada|de todos los|del|cada) mes(?:es)?",
    ),
    (
        "monthdays",
        r"(?:cada mes|todos los meses|mensualmente) (?:el |los )(?:dias? )?<ord>(?: y (?:el )?<ord2>)?",
    ),
    ("everyday", r"(?P<second>(?:un <wd> si y (?:uno|otro) no|<wd> alternos))"),
    ("everyday", r"(?P<second>cada (?:dos|2)) (?:<wds>)"),
    ("everyday", r"(?P<second>cada (?:dos|2) semanas)(?: el| los)? (?:<wds>)"),
    ("everyday", r"(?:el |los )?(?:<wds>),? (?P<second>cada (?:dos|2) semanas)"),
    ("yearly", rf"{_EVERY}(?= (?:<ord> de <mon>|<hol>))"),
    ("every1", rf"{_EVERY} <wds>"),
    ("every", r"(?:un (?P<unit>dia) si y (?P<other>otro no)|(?P<unit2>dias) (?P<other2>alternos))"),
    ("every", r"cada (?P<n>media) (?P<unit>hora)"),
    ("every", r"cada <n> <unit>"),
    ("every", rf"{_EVERY} <unit>"),
    ("every", r"(?:a diario|(?P<unit>diariamente|semanalmente|mensualmente|anualmente))"),
    ("everypart", rf"{_EVERY} <part>"),
    ("weekoff", r"de (?P<from>hoy|manana) en <n> (?P<unit>semanas?|dias?)"),
    ("offset", r"(?:en|dentro de|tras) (?P<n>media) (?P<unit>hora)"),
    ("offset", r"(?:en|dentro de) <n> ?h ?<m>(?: ?min)?"),
    ("offset", r"(?:en|dentro de) (?P<quarters>tres) cuartos de hora"),
    (
        "offset",
        r"(?:en|dentro de) <n> (?P<unit>horas?|dias?|semanas?|meses|mes|anos?) (?P<half>y medi[oa])",
    ),
    ("offset", r"(?:en|dentro de) <n> (?P<unit>horas?) y (?P<quarter>cuarto)"),
    ("offset", r"(?:en|dentro de) <n> (?P<unit>horas?|dias?) y <n2> (?P<unit2>minutos?|horas?)"),
    (
        "weekoff",
        r"(?:de )?(?P<from>hoy|manana) en (?P<fort>ocho|quince)(?: dias)?|(?:el )?<wd> en (?P<fort2>ocho) dias",
    ),
    ("offset", r"(?:en|dentro de|tras|de aqui a) <n> ?<unit>"),
    ("shifted", r"(?:la )?(?P<dir>vispera) de (?:la )?<hol>"),
    ("shifted", r"(?:el )?(?:dia|<n> dias) (?P<dir>antes de|despues de) (?:la )?<hol>"),
    ("offset", r"(?P<n>\d{1,3}) ?(?P<unit>minutos|min|dias|semanas|meses)"),
    ("plus2", r"pasado manana"),
    ("part", r"(?:por|de|en|a|durante) la <part>"),
    ("part0", r"esta (?P<part>manana|tarde)"),
    ("tonight", r"esta (?P<part>noche)|hoy por la noche|hoy en la noche"),
    ("plus1", r"manana"),
    ("plus0", r"hoy"),
    (
        "wdweek",
        r"(?:el )?<wd> de la (?:proxima semana|semana (?:que viene|proxima))|la (?:proxima semana|semana "
        r"que viene),? (?:el )?<wd>",
    ),
    ("wdweek0", r"(?:el )?<wd> de esta semana|esta semana,? (?:el )?<wd>"),
    ("week1", r"(?:la )?(?:proxima semana|semana (?:que viene|proxima))"),
    ("month1", r"(?:el )?(?:proximo mes|mes (?:que viene|proximo))"),
    ("nextwd", r"(?:el )?(?:proximo|siguiente) <wd>|(?:el )?<wd> (?:proximo|siguiente|que viene)"),
    ("date", r"(?P<y>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)"),
    ("date", r"(?:el )?(?P<day>\d{1,2})[./](?P<month>0?[1-9]|1[0-2])(?:[./]<y>)?(?!\d)"),
    ("date", r"(?:el )?(?:dia )?<ord> de <mon>(?: de(?:l)? <y>)?"),
    ("holiday", r"(?:en |el |la |por |dia de )*<hol>(?: de <y>)?"),
    ("thiswd", r"este <wd>"),
    ("wdday", r"(?:el )?<wd> (?:dia )?(?P<ord>\d{1,2})(?! ?(?:h|horas)\b)"),
    ("plurals", r"los <wds>"),
    ("wds", r"(?:el )?<wds>"),
    ("clock", r"(?:a|sobre|hacia|para) las? <h>(?: horas)? (?P<half>y media)"),
    ("clock", r"(?:a|sobre|hacia) las? <h>(?: horas)? (?P<quarter>y cuarto)"),
    ("clock", r"(?:a|sobre|hacia) las? <h>(?: horas)? (?P<less>menos cuarto)"),
    ("clock", r"(?:a|sobre|hacia) las? <h>(?: horas)? menos <m>"),
    (
        "hourclock",
        r"(?:a |sobre |hacia )?(?:las? )?<h>(?:[:.]<mm>)? ?(?:h|horas|hrs)(?: y (?:a )?las <h2> ?(?:h|horas))?",
    ),
    ("clock", r"(?:a |sobre |hacia |para )?(?:eso de )?(?:las? )?<h>[:.]<mm> ?(?P<ap>am|pm)?"),
    ("clock", r"(?:a |sobre |hacia )?(?:las? )?<h> ?(?P<ap>am|pm)"),
    (
        "clock",
        r"(?:a|sobre|hacia|para) (?:eso de )?las? <h> y (?P<mm>diez|veinte|cinco|quince|treinta|veinticinco)",
    ),
    ("clock", r"(?:a|sobre|hacia|para) (?:eso de )?las? <h> y (?:a )?(?:las )<h2>"),
    ("clock", r"(?:a|sobre|hacia|para) (?:eso de )?las? <h>(?: en punto)?"),
    ("clock", r"a eso de las? <h>"),
    ("noon", r"(?:a |al )?(?:las (?:doce|12) del )?(?:mediodia|medio dia)"),
    ("midnight", r"(?:a )?(?:la )?(?:medianoche|media noche)"),
    ("day0", r"el (?:dia )?(?P<ord>\d{1,2}|primero|quince|uno)"),
    ("part", r"(?:por la |de la |en la |a la |la )?<part>"),
)

SPANISH = PhraseTable(
    numbers=NUMBERS,
    ordinals=ORDINALS,
    weekdays=WEEKDAYS,
    months=MONTHS,
    units=UNITS,
    parts=PARTS,
    holidays=HOLIDAYS,
    patterns=PATTERNS,
    idle=frozenset(
        "a el la los las de del y en por para me nos les di dile recuerdame recuerda recuerdanos que "
        "favor un una al hora horas h punto aproximadamente sobre hacia".split()
    ),
    heavy=frozenset(
        "antes despues excepto salvo no pero o entre cuando si mientras sin amanecer anochecer "
        "comida cena almuerzo desayuno trabajo temprano ultimo ultima proximo proxima desde hasta "
        "verano invierno primavera otono vacaciones vispera siguiente durante solo solamente "
        "cumpleanos festivo penultimo penultima media cuarto semana mes ano dia cada todos todas mediodia".split()
    ),
    joins="y|o|e|&|el|los",
    inclusive=frozenset({8, 15}),
)
