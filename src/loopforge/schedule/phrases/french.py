"""French words of when."""

from loopforge.schedule.phrases.phrase_patterns import PhraseTable

_ONES = (
    "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
    "seize".split()
)
_ONES += ["dix sept", "dix huit", "dix neuf"]
_TENS = {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50}
NUMBERS: dict[str, float] = {
    **{word: value for value, word in enumerate(_ONES)},
    **_TENS,
    **{f"{ten} {_ONES[one]}": _TENS[ten] + one for ten in _TENS for one in range(2, 10)},
    **{f"{ten} et un": _TENS[ten] + 1 for ten in _TENS},
    **{f"{ten} et une": _TENS[ten] + 1 for ten in _TENS},
    "une": 1,
    "soixante": 60,
    "quatre vingt dix": 90,
    "une demi": 0.5,
    "demi": 0.5,
}
ORDINALS = {"premier": 1, "premiere": 1, "deuxieme": 2, "troisieme": 3, "1er": 1}
ORDINALS |= {word: value for word, value in NUMBERS.items() if 2 <= value <= 31 and value % 1 == 0}  # type: ignore[misc]
_DAYS = "lundi mardi mercredi jeudi vendredi samedi dimanche".split()
WEEKDAYS = {
    **{day: value for value, day in enumerate(_DAYS)},
    **{f"{day}s": value for value, day in enumerate(_DAYS)},
}
_MONTHS = (
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre"
).split()
MONTHS = {month: value for value, month in enumerate(_MONTHS, 1)}
UNITS = {
    **dict.fromkeys(("seconde", "secondes", "sec"), "s"),
    **dict.fromkeys(("minute", "minutes", "min", "mn"), "min"),
    **dict.fromkeys(("quart d'heure", "quarts d'heure"), "q"),
    **dict.fromkeys(("heure", "heures", "h"), "h"),
    **dict.fromkeys(("jour", "jours", "journee"), "d"),
    **dict.fromkeys(("semaine", "semaines"), "w"),
    **dict.fromkeys(("quinzaine", "quinzaine de jours"), "f15"),
    "mois": "mo",
    **dict.fromkeys(("an", "ans", "annee", "annees"), "y"),
}
PARTS = {
    "matin": "morning",
    "matinee": "morning",
    "apres midi": "afternoon",
    "aprem": "afternoon",
    "soir": "evening",
    "soiree": "evening",
    "nuit": "night",
    "matins": "morning",
    "soirs": "evening",
}
HOLIDAYS = {
    "noel": "12-25",
    "la veille de noel": "12-24",
    "reveillon de noel": "12-24",
    "veille de noel": "12-24",
    "saint sylvestre": "12-31",
    "reveillon du nouvel an": "12-31",
    "jour de l'an": "01-01",
    "nouvel an": "01-01",
    "saint valentin": "02-14",
    "paques": "easter",
    "dimanche de paques": "easter",
    "lundi de paques": "easter+1",
    "toussaint": "11-01",
    "14 juillet": "07-14",
}
_EVERY = "(?:tous les|toutes les|chaque)"
_ORD = "premiers?|premiere|deuxiemes?|second|troisiemes?|quatriemes?|dernier|derniere|1er|2e|3e|2eme|3eme"

PATTERNS: tuple[tuple[str, str], ...] = (
    ("past", r"hier|avant hier|il y a <n> <unit>|(?:<wd>|la semaine|le mois|l'annee) derniere?"),
    (
        "until",
        r"jusqu'?(?:a|au|en) (?:la )?(?P<rest>(?:<wd>|(?:le )?<ord> <mon>|fin (?:de |du )?[a-z]+|<mon>)"
        r"(?: 20\d\d)?)",
    ),
    (
        "every",
        rf"(?:une|1) fois (?:par|la|l'|{_EVERY}) ?(?P<unit>heures?|jours?|semaines?|mois|ans?|annee)",
    ),
    ("count", r"(?:pendant )?<n> fois(?! par)"),
    (
        "span",
        r"(?:pendant|durant|pour) (?:les )?<n> (?:prochains |prochaines )?(?P<unit>jours?|semaines?|mois|ans?)",
    ),
    (
        "from",
        r"(?:a partir (?:du|de|d')|des|a compter (?:du|de)) ?(?P<rest>(?:lundi|mardi|mercredi|jeudi|"
        r"vendredi|samedi|dimanche)(?: prochain)?|demain|aujourd'hui|la semaine prochaine|<ord> <mon>|<mon>|"
        r"mois prochain)",
    ),
    ("vague", r"(?:dans |d'ici )?(?:quelques|plusieurs|une paire d[e']) ?<unit>"),
    (
        "vague",
        r"plus tard|bientot|tout a l'heure|un jour(?! sur)|de temps en temps|regulierement|dans un moment|"
        r"dans un instant|sous peu|souvent|prochainement|a l'occasion|parfois|d'ici peu|bimensuel|bimestriel",
    ),
    ("vague", r"(?:<n> fois|une fois) (?:par|chaque) <unit>"),
    ("window", r"(?:de|entre) <h>(?: ?h(?:eures?)?)? (?:a|et) <h2> ?(?:h(?:eures?)?)"),
    ("range", r"du <wd> au <wd2>"),
    (
        "except",
        rf"(?:tous les jours|chaque jour),? (?:sauf|excepte|a part|hormis)(?: le| les)? <wds>",
    ),
    (
        "nthwork",
        rf"(?:{_EVERY} |le )?(?P<ord>{_ORD}) jour (?:ouvre|ouvrable) "
        r"(?P<mo>(?:de chaque|du|de tous les|par|chaque) mois)",
    ),
    (
        "weekdays",
        rf"(?:{_EVERY} )?jours? (?:ouvres?|ouvrables?|de semaine|de la semaine)|en semaine|les jours"
        r" de semaine",
    ),
    ("weekends", r"(?:tous les|chaque|les) week ?ends?"),
    ("vague", r"(?:ce |le |au )?week ?end(?: prochain)?|(?:en )?fin de semaine"),
    (
        "nth",
        rf"(?:{_EVERY} |le |les )?(?P<ord>{_ORD}) <wd> (?P<mo>(?:de chaque|du|de tous les|par|chaque) mois)",
    ),
    (
        "nthof",
        rf"(?:le )?(?P<ord>{_ORD}) <wd> (?:du |d'|de )(?P<mon>mois prochain|ce mois|janvier|fevrier|mars|"
        r"avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre)",
    ),
    (
        "monthend",
        r"(?P<mo>(?:a |le |en |chaque )?(?:la )?(?:fin (?:du|de ce|de chaque) mois|fin de mois|"
        r"dernier jour (?:du|de chaque|de ce) mois|fin du mois prochain)|chaque mois le dernier jour)",
    ),
    ("monthdays", r"(?:tous les|chaque) (?P<ord>\d{1,2}) (?:du|de chaque) mois"),
    (
        "monthdays",
        r"(?:le |les )<ord>(?: et (?:le )?<ord2>)? (?:de chaque|du|de tous les|chaque) mois",
    ),
    ("monthdays", r"(?:tous les mois|chaque mois) (?:le |les )<ord>(?: et (?:le )?<ord2>)?"),
    ("everyday", r"(?P<second>un <wd> sur deux)"),
    ("everyday", r"(?P<second>(?:toutes les|chaque) (?:deux|2) semaines)(?: le| les)? <wds>"),
    ("everyday", r"<wds> (?P<second>toutes les (?:deux|2) semaines)"),
    ("yearly", rf"{_EVERY}(?= (?:<ord> <mon>|<hol>))"),
    ("every1", rf"{_EVERY} <wds>"),
    (
        "every",
        r"(?:un|une) (?P<unit>jour|semaine|mois|an|heure) sur (?:(?P<other>deux)|(?P<nth>trois|quatre))",
    ),
    ("every", r"toutes les (?P<n>demi)(?:es)? ?(?P<unit>heures?)"),
    ("every", r"(?:tous|toutes) les <n> <unit>"),
    ("every", rf"{_EVERY} <unit>"),
    ("every", r"(?P<unit>quotidiennement|hebdomadairement|mensuellement|annuellement)"),
    ("everypart", rf"{_EVERY} <part>"),
    ("offset", r"(?:dans|d'ici|en|apres) (?P<n>une demi) (?P<unit>heure)"),
    ("offset", r"(?:dans|d'ici) (?P<quarters>trois) quarts d'heure"),
    (
        "offset",
        r"(?:dans|d'ici|apres) <n> (?P<unit>heures?|jours?|semaines?|mois|ans?) (?P<half>et demie?)",
    ),
    ("offset", r"(?:dans|d'ici) <n> ?h ?<m>(?: ?min)?"),
    ("offset", r"(?:dans|d'ici|apres) <n> (?P<unit>heures?) et (?P<quarter>quart)"),
    (
        "offset",
        r"(?:dans|d'ici|apres) <n> (?P<unit>heures?|jours?) (?:et )?<n2> (?P<unit2>minutes?|heures?)",
    ),
    (
        "weekoff",
        r"(?:de )?(?P<from>demain|aujourd'hui) en (?P<fort>huit|quinze)|<wd> en (?P<fort2>huit|quinze)",
    ),
    ("offset", r"(?:dans|d'ici|apres) <n> ?<unit>"),
    ("shifted", r"(?:le |la )?(?P<dir>lendemain|veille) (?:de |du |de la )?<hol>"),
    ("shifted", r"(?:le |la )?(?:jour|<n> jours) (?P<dir>avant|apres) <hol>"),
    ("offset", r"(?P<n>\d{1,3}) ?(?P<unit>minutes|min|jours|semaines|mois)"),
    ("plus2", r"apres demain"),
    ("plus1", r"demain"),
    ("plus0", r"aujourd'hui|aujourdhui"),
    ("part0", r"(?:ce|cet|cette) (?P<part>matin|apres midi|aprem)"),
    ("tonight", r"(?:ce|cette) (?P<part>soir|nuit)|cette nuit"),
    ("week2", r"dans deux semaines(?= <wd>)"),
    ("wdweek", r"(?:le )?<wd> de la semaine prochaine|la semaine prochaine,? (?:le )?<wd>"),
    ("wdweek0", r"(?:le )?<wd> de cette semaine|cette semaine,? (?:le )?<wd>"),
    ("week1", r"(?:la )?semaine prochaine"),
    ("month1", r"(?:le )?mois prochain"),
    ("nextwd", r"(?:le |de |du )?(?:prochain <wd>|<wd> (?:prochain|d'apres|suivant))"),
    ("date", r"(?P<y>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)"),
    ("date", r"(?:le |au )?(?P<day>\d{1,2})[./](?P<month>0?[1-9]|1[0-2])(?:[./]<y>)?(?!\d)"),
    ("date", r"(?:le |au )?<ord> <mon>(?: <y>)?"),
    ("holiday", r"(?:a |au |le |la |pour )*(?:jour de )?<hol>(?: <y>)?"),
    ("thiswd", r"(?:ce|cette) <wd>|<wd> qui vient"),
    ("wdday", r"(?:le )?<wd> (?P<ord>\d{1,2}|1er)(?! ?(?:h|heures?)\b)"),
    (
        "plurals",
        r"les <wds>|le (?P<wds2>(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
        r"(?: et (?:le )?(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche))*)(?! +(?:\||\d|premier))",
    ),
    ("wds", r"(?:le )?<wds>"),
    (
        "part",
        r"(?:le |la |du |de la |de l'|dans la |dans l'|en |l'|au )?(?:debut de |fin de )?<part>",
    ),
    ("hourclock", r"(?:a |vers |des |pour )?<h> ?h(?:eures?)? (?P<half>et demie?)"),
    ("hourclock", r"(?:a |vers )?<h> ?h(?:eures?)? (?P<quarter>et quart)"),
    ("hourclock", r"(?:a |vers )?<h> ?h(?:eures?)? (?P<less>moins le quart|moins quart)"),
    ("hourclock", r"(?:a |vers )?<h> ?h(?:eures?)? moins <m>"),
    ("hourclock", r"(?:a |vers |pour |des )?<h> ?(?:h(?:eures?)?) ?et (?:a )?<h2> ?h(?:eures?)?"),
    (
        "hourclock",
        r"(?:a |vers |pour |des )?<h> ?(?:h(?:eures?)?) ?<mm>?(?:(?<= )<m>)?(?: precises?| pile)?",
    ),
    ("hourclock", r"(?:a |vers |pour |des )<h> et (?:a )?<h2> ?h(?:eures?)"),
    ("aroundnoon", r"(?:a )?(?P<noon>midi|minuit) (?:(?P<less>moins le quart)|moins <m>)"),
    ("aroundnoon", r"(?:a )?(?P<noon>midi|minuit) (?:(?P<quarter>et quart)|et (?P<half>demie?))"),
    ("noonhalf", r"(?:a )?midi (?P<half>et demie?|trente)"),
    ("clock", r"(?:a |vers )?<h>[:.]<mm>"),
    ("clock", r"(?:a|vers) <h>(?! (?:lundi|mardi))"),
    ("noon", r"(?:a |le )?midi"),
    ("midnight", r"(?:a )?minuit"),
    ("day0", r"le (?P<ord>\d{1,2}|1er|premier|quinze|dix|vingt)(?! ?h)"),
)

FRENCH = PhraseTable(
    numbers=NUMBERS,
    ordinals=ORDINALS,
    weekdays=WEEKDAYS,
    months=MONTHS,
    units=UNITS,
    parts=PARTS,
    holidays=HOLIDAYS,
    patterns=PATTERNS,
    idle=frozenset(
        "le la les a au aux de du d' et en pour moi nous leur dis rappelle rappelez moi s'il te "
        "plait vers environ que l' un des ce svp heure heures h je voudrais".split()
    ),
    heavy=frozenset(
        "avant apres sauf pas mais ou entre quand si pendant sans aube coucher lever dejeuner diner "
        "petit travail tot tard dernier derniere prochain prochaine depuis anniversaire ferie demi "
        "ete hiver printemps automne vacances lendemain veille avant-veille seulement uniquement "
        "quart semaine mois annee jour chaque tous toutes jusqu'a jusqu'au partir midi".split()
    ),
    joins="et|ou|&|le|les",
    inclusive=frozenset({8, 15}),
)
