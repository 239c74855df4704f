"""English words of when."""

from loopforge.schedule.phrases.phrase_patterns import PhraseTable

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}
NUMBERS: dict[str, float] = {
    **{word: value for value, word in enumerate(_ONES)},
    **_TENS,
    **{f"{ten} {_ONES[one]}": _TENS[ten] + one for ten in _TENS for one in range(1, 10)},
    "a": 1,
    "an": 1,
    "half a": 0.5,
    "half an": 0.5,
    "a half": 0.5,
    "a quarter of an": 0.25,
    "quarter of an": 0.25,
    "three quarters of an": 0.75,
}
_NTH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
ORDINALS = {
    **{word: value for value, word in enumerate(_NTH, 1)},
    **{f"twenty {_NTH[one - 1]}": 20 + one for one in range(1, 10)},
    "thirtieth": 30,
    "thirty first": 31,
}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4}
WEEKDAYS = {
    **{day: value for value, day in enumerate(_DAYS)},
    **{f"{day}s": value for value, day in enumerate(_DAYS)},
    **_SHORT,
    "sat": 5,
    "sun": 6,
}
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
MONTHS = {
    **{month: value for value, month in enumerate(_MONTHS, 1)},
    **{month[:3]: value for value, month in enumerate(_MONTHS, 1)},
    "sept": 9,
}
UNITS = {
    "seconds": "s",
    "second": "s",
    "secs": "s",
    "sec": "s",
    "minutes": "min",
    "minute": "min",
    "mins": "min",
    "min": "min",
    "m": "min",
    "hours": "h",
    "hour": "h",
    "hrs": "h",
    "hr": "h",
    "h": "h",
    "days": "d",
    "day": "d",
    "weeks": "w",
    "week": "w",
    "fortnight": "f",
    "fortnights": "f",
    "months": "mo",
    "month": "mo",
    "years": "y",
    "year": "y",
}
PARTS = {"morning": "morning", "afternoon": "afternoon", "evening": "evening", "night": "night"}
PARTS |= {"mornings": "morning", "afternoons": "afternoon", "evenings": "evening"}
HOLIDAYS = {
    "christmas": "12-25",
    "christmas day": "12-25",
    "christmas eve": "12-24",
    "boxing day": "12-26",
    "new year's eve": "12-31",
    "new years eve": "12-31",
    "new year's day": "01-01",
    "new years day": "01-01",
    "new year's": "01-01",
    "new year": "01-01",
    "valentine's day": "02-14",
    "valentines day": "02-14",
    "halloween": "10-31",
    "easter": "easter",
    "easter sunday": "easter",
    "easter monday": "easter+1",
    "good friday": "easter-2",
}

_ONCE = "(?<!every )(?<!each )"
_REST = "(?:every ?day|each day|daily|every week ?day|each week ?day|all week)"
_NTHDAY = "third|fourth|fifth|sixth|3rd|4th|5th|6th"

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "past",
        r"yesterday|<n> <unit> ago|last (?:<wd>|week|month|year|night)(?! (?:of|in|each|every))",
    ),
    ("until", r"(?:until|till|through) (?P<rest>(?:(?! (?:at|every|each|daily) ).)+)"),
    ("count", r"(?:for )?<n> times"),
    ("count", r"(?P<n>once|twice)$"),
    ("span", r"for (?:the next )?<n> (?P<unit>days|weeks|months|years|day|week|month|year)"),
    ("every", r"once (?:an?|per|every|each) (?P<unit>hour|day|week|month|year)"),
    ("weekon", r"(?<!every )(?:a|one|1) week (?:on |from )(?:on )?<wd>|<wd> week"),
    (
        "weekoff",
        rf"{_ONCE}<n> (?P<unit>weeks?|fortnights?|days?) (?:from )?(?P<from>today|tomorrow|now)",
    ),
    ("weekoff", r"(?P<from>today|tomorrow|<wd>) (?P<unit>week|fortnight)"),
    ("offset", rf"{_ONCE}<n> (?P<unit>months?|years?) from (?:today|now)"),
    ("weekoff", rf"{_ONCE}<n> (?P<unit>weeks?|fortnights?) (?:on|from) <wd>"),
    (
        "window",
        r"(?:from|between) (?:<h>(?::<mm>)? ?(?P<ap>am|pm)?) (?:to|until|till|and|through) "
        r"<h2>(?::00)? ?(?P<ap2>am|pm)?",
    ),
    (
        "from",
        r"(?:starting|beginning|from)(?: on)? (?P<rest>(?:this |next )?<wd>|tomorrow|today|"
        r"next week|next month)(?! (?:to|through|-) )(?: on(?:wards?)?)?",
    ),
    (
        "from",
        r"(?:starting|beginning|from)(?: on)? (?:the )?(?P<rest><mon> <ord>|<ord>(?: of)? "
        r"<mon>|<mon>|<ord>)(?: on(?:wards?)?)?",
    ),
    ("vague", r"(?:in )?(?:a )?(?:few|several|some|couple(?: of)?) (?:more )?<unit>"),
    (
        "vague",
        r"(?:in a (?:bit|while|moment|minute or two|sec)|later(?: on)?|soon(?:ish)?|some ?time|"
        r"some day|someday|(?<!in )(?<!after )one day(?! later| from)|whenever|eventually|shortly|asap|now and then|from time to time|"
        r"regularly|often|(?:bi ?weekly|bi ?monthly|semi ?weekly|fortnightish))",
    ),
    ("vague", r"(?:his|her|their|your|my [a-z]+'s|[a-z]+'s) (?:local )?time(?! from)"),
    ("vague", r"(?:twice|thrice|<n> times|several times|once) (?:a|per|every|each) <unit>"),
    ("except", rf"{_REST},? (?:except|but|but not|save|bar)(?: for)?(?: on)? <wds>"),
    (
        "nthwork",
        r"(?:on )?the (?P<ord>first|second|third|last|1st) (?:week ?day|work(?:ing)? ?day|business day)"
        r" (?P<mo>(?:of|in) (?:every|each|the|a) month|(?:every|each) month)",
    ),
    ("range", r"(?:from )?<wd> (?:to|through|until|till|-) <wd2>"),
    ("weekdays", r"(?:(?:every|each|on|all) )?(?:week ?days?|work(?:ing)? ?days?|business days?)"),
    (
        "weekends",
        r"(?:(?:every|each|on) )week ?ends?|week ?ends|(?:every|each) (?:saturday and sunday)",
    ),
    ("vague", r"(?:(?:this|next|at the|on the|over the) )?week ?end"),
    (
        "nth",
        r"(?:(?:on )?the |every )?(?P<ord>first|second|third|fourth|fifth|last|1st|2nd|3rd|4th|5th)"
        r" <wd> (?P<mo>(?:of|in) (?:every|each|the|a) month|(?:every|each) month|of the month|monthly)",
    ),
    (
        "nthof",
        r"(?:the )?(?P<ord>first|second|third|fourth|last) <wd> (?:of|in) (?P<mon>next month|"
        r"this month|january|february|march|april|may|june|july|august|september|october|november|"
        r"december)",
    ),
    (
        "monthend",
        r"(?P<mo>(?:on |at )?(?:the )?(?:end|last day) of (?:every|each|the|this|a|next) "
        r"month|month's end|month end|(?:every|each) month on the last day)",
    ),
    ("monthdays", r"(?:on )?the <ord>(?: and (?:the )?<ord2>)? of (?:every|each|the) month"),
    ("monthdays", r"(?:every|each) month on the <ord>(?: and (?:the )?<ord2>)?"),
    ("monthdays", r"monthly on the <ord>(?: and (?:the )?<ord2>)?"),
    ("monthdays", r"(?:every|each) (?P<ord>\d{1,2}(?:st|nd|rd|th)) of the month"),
    ("everyday", r"(?:every|each) other (?:<wds>)"),
    (
        "everyday",
        r"(?:every|each) (?P<second>second|2nd|two weeks on(?: a)?|2 weeks on(?: a)?) (?:<wds>)",
    ),
    ("everyday", r"(?:every|each) (?P<nth>third|3rd|fourth|4th) (?:<wds>)"),
    ("yearly", r"(?:every|each)(?= (?:the )?(?:<mon> <ord>|<ord>(?: of)? <mon>|<hol>))"),
    ("every1", r"(?:every|each) <wds>"),
    ("every", r"(?:every|each) (?P<other>other|second) (?P<unit>day|week|month|year|hour)"),
    ("every", rf"(?:every|each) (?P<nth>{_NTHDAY}) (?P<unit>day|week|month|year|hour)"),
    ("everypart", r"(?P<part>night)ly"),
    ("every", r"(?:every|each) (?P<n>half) (?:an )?(?P<unit>hour)|half[ -]?hourly"),
    ("every", r"(?:every|each) <n> ?<unit>"),
    ("every", r"(?:every|each|per) (?:single )?(?P<unit>minute|hour|day|week|month|year)"),
    ("every", r"(?P<unit>hourly|daily|weekly|fortnightly|monthly|yearly|annually)"),
    ("everypart", r"(?:every|each) (?P<part>morning|afternoon|evening|night)"),
    (
        "offset",
        r"(?:in|after|within|for in) (?P<n>half an|a quarter of an|three quarters of an) (?P<unit>hour)",
    ),
    ("offset", r"(?:in |after )?<n> (?P<half>and a half) <unit>(?: from now| time)?"),
    (
        "offset",
        r"(?:in |after )?<n> <unit> and (?:(?P<half>a half)|(?P<quarter>a quarter))(?: from now)?",
    ),
    (
        "offset",
        r"(?:in |after )?<n> ?(?:h|hrs?|hours?) ?(?:and )?<m> ?(?:m|mins?|minutes?)(?: from now)?",
    ),
    ("offset", r"(?:in|after) <n> ?h ?(?P<m>[0-5]\d)"),
    ("hhmm", r"(?:at |@ ?)(?P<h>[01]?\d|2[0-3]) ?h(?: ?(?P<mm>[0-5]\d))?"),
    ("offset", r"(?:in|after) <n> <unit>(?: and)? <n2> <unit2>(?: from now)?"),
    ("shifted", r"<n> <unit> (?P<dir>before|after) (?:the )?<hol>"),
    ("shifted", r"the (?P<unit>day) (?P<dir>before|after) <hol>"),
    ("offset", r"(?:in|after) <n> <unit>(?:'s? time)?(?: from (?:now|today))?"),
    ("offset", r"<n> <unit> from now"),
    ("offset", r"(?P<n>\d{1,3}) ?<unit>"),
    ("plus2", r"(?:the )?day after tomorrow"),
    ("plus1", r"tomorrow|tmrw|tmr|tomorow"),
    ("plus0", r"today"),
    ("tonight", r"tonight|this (?P<part>evening|night)"),
    ("part0", r"(?:this|later this) (?P<part>morning|afternoon)"),
    ("week2", r"(?:in )?(?:the )?week after next"),
    ("wdweek", r"<wd>(?: of)? next week|next week(?: on)? <wd>"),
    ("wdweek0", r"<wd>(?: of)? this week|this week(?: on)? <wd>"),
    ("week1", r"(?:in )?next week"),
    ("month1", r"(?:in )?next month"),
    ("nextwd", r"(?:the )?(?:next|nxt) <wd>|(?:the )?<wd> after next"),
    ("date", r"(?P<y>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)"),
    (
        "slash",
        r"(?P<a>\d{1,2})(?:/|\.(?=\d{1,2}\.20))(?P<b>\d{1,2})(?:[/.](?P<y>20\d\d|\d\d))?(?!\d)",
    ),
    ("date", r"(?:the )?<ord>(?: day)? of <mon>(?: <y>)?"),
    ("date", r"(?<!\d )(?<!st )(?<!nd )(?<!rd )(?<!th )<mon> (?:the )?<ord>(?: <y>)?"),
    ("date", r"<ord> <mon>(?: <y>)?"),
    ("holiday", r"(?:on )?<hol>(?: <y>)?"),
    ("thiswd", r"(?:this|this coming|the coming|coming) <wd>"),
    (
        "plurals",
        r"(?:on )?(?P<wds>(?:mon|tues|wednes|thurs|fri|satur|sun)days(?:(?: and|,)? "
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)days)*)",
    ),
    ("wdday", r"(?:on )?<wd> (?P<ord>\d{1,2}(?:st|nd|rd|th))"),
    ("wds", r"(?:on )?<wds>"),
    ("time", r"(?:at |by )?half past <h>(?: ?<ap>)?"),
    ("quarterpast", r"(?:at )?(?:a )?quarter (?:past|after) <h>(?: ?<ap>)?"),
    ("quarterto", r"(?:at )?(?:a )?quarter (?:to|of|till) <h>(?: ?<ap>)?"),
    ("minpast", r"(?:at )?<m> (?:minutes? )?past <h>(?: ?<ap>)?"),
    ("minto", r"(?:at )?<m> (?:minutes? )?(?:to|till) <h>(?: ?<ap>)?"),
    ("hhmm", r"(?:at |@ ?|by )?(?P<h>[01]\d|2[0-3])(?P<mm>[0-5]\d) ?(?:hours|hrs|h)"),
    ("hhmm", r"(?:at |@ ?)(?P<h>[01]\d|2[0-3])(?P<mm>[0-5]\d)"),
    ("clock", r"(?:at |@ ?|by |around |about )?<h>[:.]<mm> ?(?P<ap>am|pm)?(?: hours| o'clock)?"),
    (
        "clock",
        r"(?:at |@ ?|by |around |about )?<h> ?(?P<ap>am|pm)(?: and (?:at )?<h2> ?(?P<ap2>am|pm)?)?",
    ),
    ("clock", r"(?:at |@ ?|by |around |about )?<h> ?o'? ?clock(?: sharp)?"),
    (
        "clock",
        r"(?:at|@|by|around|about) <h> (?P<mm>fifteen|thirty|forty five|twenty|ten|fifty|forty)"
        r"(?: ?<ap>)?",
    ),
    ("clock", r"<h> (?P<mm>fifteen|thirty|forty five)(?: ?<ap>)?"),
    ("clock", r"(?:at|@) <h> and (?:at )?<h2>"),
    ("clock", r"(?:at|@|by|around|about) <h>(?: sharp)?"),
    ("noon", r"(?:at )?(?:high )?(?:noon|midday|mid day)|12 noon|twelve noon"),
    ("midnight", r"(?:at )?(?:12 |twelve )?mid ?night"),
    (
        "day0",
        r"(?:on )?the (?P<ord>\d{1,2}(?:st|nd|rd|th)|first|twentieth|thirtieth|fifteenth|tenth)",
    ),
    ("part", r"(?:in the |at |on |during the |early (?:in the )?)?<part>"),
    ("clock", r"<h>(?= (?:in the|this|tomorrow|tonight))"),
    ("ampm", r"<ap>"),
)

ENGLISH = PhraseTable(
    numbers=NUMBERS,
    ordinals=ORDINALS,
    weekdays=WEEKDAYS,
    months=MONTHS,
    units=UNITS,
    parts=PARTS,
    holidays=HOLIDAYS,
    patterns=PATTERNS,
    idle=frozenset(
        "at on the in of and please remind me us them to tell for i i'd want by day a an that s "
        "time around about exactly sharp my".split()
    ),
    heavy=frozenset(
        "before after except not but or unless between when if while without sunrise sunset dawn "
        "dusk lunch lunchtime dinner breakfast work bedtime early late last next until till since "
        "birthday holiday other half quarter this week month year hour minute every each per "
        "thanksgiving ramadan penultimate nightly quarterly summer winter spring autumn season "
        "holidays vacation during daytime eve only".split()
    ),
    joins="and|or|&|on|plus",
)
