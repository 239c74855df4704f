"""German words of when."""

from loopforge.schedule.phrases.phrase_patterns import PhraseTable

_ONES = (
    "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn "
    "sechzehn siebzehn achtzehn neunzehn"
).split()
_TENS = {"zwanzig": 20, "dreißig": 30, "vierzig": 40, "funfzig": 50, "sechzig": 60, "neunzig": 90}
_TENS = {ten.replace("ß", "ss"): value for ten, value in _TENS.items()}
NUMBERS: dict[str, float] = {
    **{word: value for value, word in enumerate(_ONES)},
    **_TENS,
    **{
        f"{_ONES[one].removesuffix('s') if one == 1 else _ONES[one]}und{ten}": _TENS[ten] + one
        for ten in _TENS
        for one in range(1, 10)
    },
    **dict.fromkeys("ein eine einen einem einer eines".split(), 1),
    **dict.fromkeys(("zwo", "zweien"), 2),
    **dict.fromkeys(("einer halben", "eine halbe", "einem halben", "halben", "halbe"), 0.5),
    **dict.fromkeys(("anderthalb", "eineinhalb"), 1.5),
    "zweieinhalb": 2.5,
    "dreieinhalb": 3.5,
    **dict.fromkeys(("einer dreiviertel", "eine dreiviertel"), 0.75),
}
_NTH = (
    "erst zweit dritt viert funft sechst siebt acht neunt zehnt elft zwolft dreizehnt vierzehnt "
    "funfzehnt sechzehnt siebzehnt achtzehnt neunzehnt zwanzigst"
).split()
_ENDS = ("er", "en", "e", "es", "em")
ORDINALS = {
    **{f"{word}{end}": value for value, word in enumerate(_NTH, 1) for end in _ENDS},
    **{f"einunddreissigst{end}": 31 for end in _ENDS},
    **{f"dreissigst{end}": 30 for end in _ENDS},
    **{f"funfundzwanzigst{end}": 25 for end in _ENDS},
}
_DAYS = "montag dienstag mittwoch donnerstag freitag samstag sonntag".split()
WEEKDAYS = {
    **{day: value for value, day in enumerate(_DAYS)},
    **{f"{day}s": value for value, day in enumerate(_DAYS)},
    **{f"{day}en": value for value, day in enumerate(_DAYS)},
    **{day[:2]: value for value, day in enumerate(_DAYS[:6])},
    "mittwochs": 2,
    "sonnabend": 5,
    "sonnabends": 5,
}
_MONTHS = (
    "januar februar marz april mai juni juli august september oktober november dezember"
).split()
MONTHS = {
    **{month: value for value, month in enumerate(_MONTHS, 1)},
    **{month[:3]: value for value, month in enumerate(_MONTHS, 1)},
    "janner": 1,
    "feber": 2,
    "sept": 9,
}
UNITS = {
    **dict.fromkeys(("sekunde", "sekunden", "sek"), "s"),
    **dict.fromkeys(("minute", "minuten", "min"), "min"),
    **dict.fromkeys(("viertelstunde", "viertelstunden"), "q"),
    **dict.fromkeys(("stunde", "stunden", "std", "h"), "h"),
    **dict.fromkeys(("tag", "tage", "tagen"), "d"),
    **dict.fromkeys(("woche", "wochen"), "w"),
    **dict.fromkeys(("monat", "monate", "monaten", "monats"), "mo"),
    **dict.fromkeys(("jahr", "jahre", "jahren", "jahres"), "y"),
}
PARTS = {
    "morgen": "morning",
    "fruh": "morning",
    "morgens": "morning",
    "vormittag": "morning",
    "vormittags": "morning",
    "nachmittag": "afternoon",
    "nachmittags": "afternoon",
    "abend": "evening",
    "abends": "evening",
    "nacht": "night",
    "nachts": "small",
}
HOLIDAYS = {
    "heiligabend": "12-24",
    "heiligen abend": "12-24",
    "weihnachten": "12-25",
    "erster weihnachtstag": "12-25",
    "ersten weihnachtstag": "12-25",
    "zweiten weihnachtstag": "12-26",
    "silvester": "12-31",
    "neujahr": "01-01",
    "valentinstag": "02-14",
    "nikolaus": "12-06",
    "ostern": "easter",
    "ostersonntag": "easter",
    "ostermontag": "easter+1",
    "karfreitag": "easter-2",
    "tag der deutschen einheit": "10-03",
}
_DAY = "(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"
_NEXT = "(?:nachste[nrsm]?)"
_THIS = "(?:diese[nrsm]?|kommende[nrsm]?)"
_EVERY = "(?:jede[nrsm]?|alle|immer)"
_PART = "morgen|fruh|vormittag|nachmittag|abend|nacht"

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "past",
        r"gestern|vorgestern|vor <n> <unit>|letzte[nrsm]? (?:<wd>|woche|monat|jahr|nacht)(?! (?:im|des|jede|eines|in))",
    ),
    (
        "until",
        r"bis (?:zum |einschliesslich )?(?P<rest>(?:<wd>|<ord> <mon>|ende [a-z]+|<mon>)(?: 20\d\d)?)"
        r"(?! um)",
    ),
    (
        "every",
        r"(?:ein|1) ?(?:mal|x) (?:pro|je|die|in der|im|am|jede[nrs]?) (?P<unit>stunde|tag|woche|"
        r"monat|jahr)(?! (?:vor|nach|20\d\d)\b)|(?:ein|1) ?(?:mal|x) (?P<unit2>stundlich|taglich|wochentlich|"
        r"monatlich|jahrlich)",
    ),
    ("count", r"(?:fur )?<n> ?mal|(?P<n2>ein|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn)mal"),
    (
        "span",
        r"(?:fur )?(?:die nachsten )?<n> (?P<unit>tage|wochen|monate|jahre|woche|monat|jahr) lang",
    ),
    ("span", r"fur (?:die nachsten )?<n> (?P<unit>tage|wochen|monate|jahre)"),
    ("span", r"die nachsten <n> (?P<unit>tage|wochen|monate|jahre)"),
    (
        "from",
        rf"(?:ab|beginnend am|von) (?P<rest>{_NEXT} <wd>|<wd>|morgen|heute|{_NEXT} woche|"
        rf"{_NEXT} monat|(?:dem |den )?<ord> <mon>|<mon>)(?: an)?(?! bis)",
    ),
    ("vague", r"(?:in )?(?:ein )?(?:paar|einigen?|wenigen|mehreren) <unit>"),
    (
        "vague",
        r"spater|bald|irgendwann|demnachst|gleich|nachher|in kurze|ab und zu|gelegentlich|"
        r"regelmassig|von zeit zu zeit|in einer weile|eines tages|oft|halbmonatlich",
    ),
    (
        "vague",
        r"(?:<n>|zwei|drei|ein|einmal|zweimal|dreimal)(?: ?mal)? (?:am|pro|in der|im|die) <unit>",
    ),
    ("window", r"(?:von|zwischen) <h>(?::<mm>)?(?: uhr)? (?:bis|und) <h2>(?::00)?(?: uhr)?"),
    ("range", r"(?:von )?<wd> bis <wd2>"),
    ("except", r"(?:jeden tag|taglich|alle tage),? (?:ausser|bis auf|nur nicht)(?: am| an)? <wds>"),
    (
        "nthwork",
        r"(?:immer )?(?:am|jeden) (?P<ord>ersten|zweiten|dritten|letzten|1\.) (?:werktag|arbeitstag)"
        r" (?P<mo>(?:im|eines|jedes|jeden|in jedem|des) monats?)",
    ),
    (
        "weekdays",
        rf"(?:(?:an )?{_EVERY} )?(?:werktage?[ns]?|werktaglich|wochentage?[ns]?|wochentags|"
        r"arbeitstage?[ns]?)|unter der woche",
    ),
    ("weekends", rf"{_EVERY} wochenenden?|an wochenenden"),
    ("vague", rf"(?:am |(?:an )?(?:{_THIS}|{_NEXT}) )?wochenende"),
    (
        "nth",
        rf"(?:an jedem |am |jede[nr] )?(?P<ord>erste[nr]?|zweite[nr]?|dritte[nr]?|vierte[nr]?|"
        r"funfte[nr]?|letzte[nr]?|1\.|2\.|3\.|4\.) <wd> (?P<mo>(?:im|eines|jedes|jeden|in jedem|des) monats?)",
    ),
    (
        "nthof",
        rf"(?:am )?(?P<ord>erste[nr]?|zweite[nr]?|dritte[nr]?|vierte[nr]?|letzte[nr]?) <wd> "
        rf"im (?P<mon>{_NEXT} monat|januar|februar|marz|april|mai|juni|juli|august|september|oktober|"
        r"november|dezember)",
    ),
    (
        "monthend",
        rf"(?P<mo>(?:am |zum )?(?:monatsende|ende (?:des|dieses|jedes|jeden|nachsten) monats|"
        rf"letzten? tag (?:des|jedes|jeden|im|eines|dieses) monats?)|jeden monat am (?:letzten tag|ende))",
    ),
    (
        "monthdays",
        r"(?:immer )?(?:am|jeden|zum) <ord>(?: und (?:am )?<ord2>)? (?:jedes|jeden|eines|des|im)"
        r" (?:monats?)",
    ),
    ("monthdays", r"(?:jeden monat|monatlich) (?:am|zum) <ord>(?: und (?:am )?<ord2>)?"),
    ("everyday", r"(?P<second>jede[nr] (?:zweite[nr]?|2\.)) (?:<wds>)"),
    ("everyday", r"(?P<second>alle (?:zwei|2) wochen)(?: am| immer)?(?: (?:<wds>))"),
    ("everyday", r"jede[nr] (?P<nth>dritte[nr]?|vierte[nr]?) (?:<wds>)"),
    ("yearly", r"(?:jede[nsrm]?|immer am)(?= (?:<ord> <mon>|\d{1,2}\.\d{1,2}\.|<hol>))"),
    ("every1", rf"{_EVERY} (?:am )?<wds>"),
    ("every", r"jede[nrs]? (?P<other>zweite[nrs]?|2\.) (?P<unit>tag|woche|monat|jahr|stunde)"),
    (
        "every",
        r"jede[nrs]? (?P<nth>dritte[nrs]?|vierte[nrs]?|3\.) (?P<unit>tag|woche|monat|jahr|stunde)",
    ),
    ("every", r"(?P<n>halb)stundlich|(?:jede|alle) (?P<n2>halbe|halben) (?P<unit>stunde)"),
    ("every", r"alle <n> <unit>"),
    ("every", r"jede[nrs]? <unit>"),
    ("every", r"(?P<unit>stundlich|taglich|wochentlich|monatlich|jahrlich|alljahrlich|minutlich)"),
    ("everypart", r"jede[nr]? <part>"),
    ("weekoff", r"(?P<from>heute|morgen) in <n> (?P<unit>wochen?|tagen?)"),
    ("offset", r"in <n> ?(?:h|std|stunden?) ?(?:und )?<m> ?(?:m|min|minuten?)"),
    ("offset", r"in <n> (?P<unit>stunden?) und <n2> (?P<unit2>minuten?)"),
    ("offset", r"(?:in|nach) (?:einer )?<n> ?<unit>"),
    ("offset", r"(?:in|nach) <n>(?P<unit>viertelstunde)"),
    ("shifted", r"(?P<unit>tag|<n> tage|einen tag|am tag) (?P<dir>vor|nach) <hol>"),
    ("weekoff", r"<n> <unit> (?:ab|von) (?P<from>heute|morgen|jetzt)(?: an)?"),
    ("weekoff", r"(?:heute|<wd>|morgen) in <n> (?P<unit>wochen?|tagen)"),
    ("offset", r"(?P<n>\d{1,3}) ?<unit>"),
    ("plus2", r"ubermorgen"),
    ("plus1", r"morgen(?= (?:fruh|vormittag|nachmittag|abend|nacht|mittag|um|gegen|ab|\d))"),
    ("part0", rf"heute (?P<part>{_PART})"),
    ("midday0", r"heute mittag"),
    ("nextwdpart", rf"(?:am )?(?:uber)?{_NEXT} (?P<wd>{_DAY}) ?(?P<part>{_PART})"),
    ("wdpart", rf"(?:am )?(?P<wd>{_DAY}) ?(?P<part>{_PART})s?"),
    ("wdmidday", rf"(?:am )?(?P<wd>{_DAY}) ?mittag"),
    ("part", r"(?:am|in der|gegen|fruh am) <part>"),
    ("plus1", r"morgen(?!s)"),
    ("plus0", r"heute"),
    ("week2", r"(?:in der )?ubernachste[nr]? woche"),
    ("wdweek", rf"{_NEXT} woche(?: am)? <wd>|<wd> (?:in der )?{_NEXT} woche"),
    ("wdweek0", rf"{_THIS} woche(?: am)? <wd>|<wd> {_THIS} woche"),
    ("week1", rf"(?:in der )?(?:{_NEXT}|kommende[rn]?) woche"),
    ("month1", rf"(?:im )?{_NEXT} monat"),
    ("nextwd", rf"(?:am )?(?:uber)?{_NEXT} <wd>"),
    ("date", r"(?P<y>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)"),
    (
        "date",
        r"(?<!um )(?<!gegen )(?:am |den |zum )?(?P<day>\d{1,2})[./] ?(?P<month>0?[1-9]|1[0-2])(?:\.|/|$|(?= )) ?"
        r"(?:<y>)?(?!\d)(?! ?uhr)",
    ),
    ("date", r"(?:am |den |zum )?<ord> <mon>(?: <y>)?"),
    ("holiday", r"(?:an |am |zu )?<hol>(?: <y>)?"),
    ("thiswd", rf"(?:am )?{_THIS} <wd>"),
    ("plurals", rf"(?P<wds>{_DAY}s(?:(?: und|,)? {_DAY}s)*|mittwochs)"),
    ("wdday", r"(?:am )?<wd> (?:den |dem |der )?(?P<ord>\d{1,2}\.)"),
    ("wds", r"(?:am |an einem )?<wds>"),
    ("minhalf", r"(?:um |gegen )?<m> (?:minuten )?(?P<dir>vor|nach) halb <h>"),
    ("halfto", r"(?:um |gegen )?halb <h>"),
    ("threequarter", r"(?:um |gegen )?dreiviertel <h>"),
    ("quarterpast", r"(?:um |gegen )?viertel nach <h>"),
    ("quarterto", r"(?:um |gegen )?viertel vor <h>"),
    ("vague", r"(?:um )?viertel <h>"),
    ("minpast", r"(?:um |gegen )?<m> (?:minuten )?nach <h>"),
    ("minto", r"(?:um |gegen )?<m> (?:minuten )?vor <h>"),
    ("hourclock", r"(?:um|gegen) <h> und (?:um )?<h2> uhr"),
    (
        "hourclock",
        r"(?:um |gegen |ab )?<h>(?:[:.]<mm>)? ?uhr(?: <m>)?(?: und (?:um )?<h2>(?:[:.]<mm2>)? ?uhr)?",
    ),
    ("clock", r"(?:um |gegen )?<h>[:.]<mm>"),
    ("clock", r"(?:um|gegen) <h> und (?:um )?<h2>"),
    ("clock", r"(?:um|gegen|punkt) <h>"),
    ("noon", r"(?:um )?12 uhr mittags?"),
    ("midday", r"(?:am |um |zu )?(?:mittags?)"),
    ("midnight", r"(?:um |zu )?mitternacht"),
    ("day0", r"(?:am|zum) (?P<ord>\d{1,2}\.|ersten|funfzehnten|zehnten|zwanzigsten|dreissigsten)"),
    ("part", r"(?:ganz )?<part>"),
)

GERMAN = PhraseTable(
    numbers=NUMBERS,
    ordinals=ORDINALS,
    weekdays=WEEKDAYS,
    months=MONTHS,
    units=UNITS,
    parts=PARTS,
    holidays=HOLIDAYS,
    patterns=PATTERNS,
    idle=frozenset(
        "am um an in im der die das den dem und bitte erinnere mich uns sie an zu von fur uhr ein "
        "einen immer gegen so etwa circa ca punkt genau mal es mir sag daran".split()
    ),
    heavy=frozenset(
        "vor nach ausser nicht aber oder zwischen wenn sobald wahrend ohne sonnenaufgang "
        "sonnenuntergang mittagessen abendessen fruhstuck arbeit feierabend fruhestens spatestens "
        "letzter letzten nachste nachsten seit geburtstag feiertag halb viertel woche monat jahr "
        "stunde minute jeden jede jeder jedes jedem alle mittag bis ab vorletzten vorletzter "
        "pfingsten pfingstmontag fronleichnam quartal sommer winter fruhling herbst ferien "
        "urlaub tagsuber vorabend nur".split()
    ),
    joins="und|oder|&|am|sowie",
    inclusive=frozenset({8}),
)
