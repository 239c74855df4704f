"""Moments, spans and rules in words, in English, German, French and Spanish.

Friday 27 March, 09:00, in 1 day 19 hours
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct


class TimeWords(Struct, frozen=True, kw_only=True):
    """The words of one language; `asks` are questions by what is open, `says` everything else."""

    days: tuple[str, ...]
    months: tuple[str, ...]
    date: str
    units: tuple[tuple[str, str], ...]
    ahead: str
    soon: str
    both: str
    either: str
    says: dict[str, str]


ENGLISH = TimeWords(
    days=tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    months=tuple(
        "January February March April May June July August September October November "
        "December".split()
    ),
    date="{day} {n} {month}{year}, {time}",
    units=(("year", "years"), ("day", "days"), ("hour", "hours"), ("minute", "minutes")),
    ahead="in {span}",
    soon="in less than a minute",
    both=" and ",
    either=" or ",
    says={
        "hour": "At what time should that be?",
        "day": "On which day should that be?",
        "which": "Which is meant: {choices}?",
        "vague": 'When exactly is "{said}"? Give a day and a time, or how long from now.',
        "unclear": 'I am not sure what "{said}" means. Give a day and a time, please.',
        "confirm": 'Is "{said}" meant as {choices}?',
        "past": 'That is over already ("{said}"). Give a moment that is still to come.',
        "over": "{moment} is over already; give a moment that is still to come.",
        "far": "{moment} is more than ten years off; give one that is nearer.",
        "dense": "That would ring more often than every 5 minutes; take a longer step.",
        "empty": "This rule never rings; look at its days and at where it ends.",
        "differs": 'The words "{said}" say {wanted}, the form says {given}. Fill the form by '
        "the words, or ask which of them holds; nothing was set.",
        "unsaid": "The form lacks `said`, the person's own words of when; give them as they were.",
        "one": "Give exactly one of in (PT2H), at (2026-03-27T09:00) and rule (an RRULE).",
        "written": "{problem}. Fill the form anew; nothing was set.",
        "zone": 'There is no time zone "{zone}"; give one such as Europe/Berlin.',
        "elsewhere": 'The zone {zone} was not named in "{said}". Whose clock is meant?',
        "skipped": "the clocks are put forward over {time} then, so it rings at {real}",
        "twice": "the clocks are put back then; it rings the first time it is {time}",
        "once": "once, at a moment",
        "again": "again and again",
        "next": "{rule}; first {first}",
        "daily": "every day",
        "every": "every {n} {unit}",
        "each": "every {unit}",
        "weekdays": "every weekday",
        "on": "every {days}",
        "every_on": "every {n} {unit} on {days}",
        "monthday": "on day {days} of every month",
        "lastday": "on the last day of every month",
        "yearday": "every year on {n} {month}",
        "rings": "at {first}, then {then}",
        "ends": "{n} times in all",
        "last": "until {day}",
        "late": "was due {moment}",
        "held": "held back over your quiet hours",
        "unable": "{mate} cannot do it now",
    },
)
GERMAN = TimeWords(
    days=tuple("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),
    months=tuple(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
    ),
    date="{day}, {n}. {month}{year}, {time} Uhr",
    units=(("Jahr", "Jahren"), ("Tag", "Tagen"), ("Stunde", "Stunden"), ("Minute", "Minuten")),
    ahead="in {span}",
    soon="in weniger als einer Minute",
    both=" und ",
    either=" oder ",
    says={
        "hour": "Um wie viel Uhr soll das sein?",
        "day": "An welchem Tag soll das sein?",
        "which": "Was ist gemeint: {choices}?",
        "vague": "Wann genau ist „{said}“? Nenne Tag und Uhrzeit, oder in wie langer Zeit.",
        "unclear": "Ich bin nicht sicher, was „{said}“ heißt. Nenne bitte Tag und Uhrzeit.",
        "confirm": "Ist „{said}“ so gemeint: {choices}?",
        "past": "Das ist schon vorbei („{said}“). Nenne einen Zeitpunkt, der noch kommt.",
        "over": "{moment} ist schon vorbei; nenne einen Zeitpunkt, der noch kommt.",
        "far": "{moment} liegt mehr als zehn Jahre voraus; nenne einen näheren Zeitpunkt.",
        "dense": "Das käme öfter als alle 5 Minuten; nimm einen längeren Abstand.",
        "empty": "Diese Regel trifft nie zu; sieh dir ihre Tage an und wo sie endet.",
        "differs": "Die Worte „{said}“ sagen {wanted}, das Formular sagt {given}. Fülle es nach "
        "den Worten aus, oder frage, was gilt; nichts wurde gesetzt.",
        "unsaid": "Im Formular fehlt `said`, die eigenen Worte der Person; gib sie wörtlich an.",
        "one": "Gib genau eines an: in (PT2H), at (2026-03-27T09:00) oder rule (eine RRULE).",
        "written": "{problem}. Fülle das Formular neu aus; nichts wurde gesetzt.",
        "zone": "Die Zeitzone „{zone}“ gibt es nicht; nimm eine wie Europe/Berlin.",
        "elsewhere": "Die Zone {zone} kommt in „{said}“ nicht vor. Wessen Uhr ist gemeint?",
        "skipped": "{time} fällt dann wegen der Zeitumstellung aus, es kommt um {real}",
        "twice": "{time} gibt es dann zweimal, es kommt beim ersten Mal",
        "once": "einmal, zu einem Zeitpunkt",
        "again": "immer wieder",
        "next": "{rule}; zuerst {first}",
        "daily": "jeden Tag",
        "every": "alle {n} {unit}",
        "each": "jede {unit}",
        "weekdays": "jeden Werktag",
        "on": "jeden {days}",
        "every_on": "alle {n} {unit} am {days}",
        "monthday": "am {days}. jedes Monats",
        "lastday": "am letzten Tag jedes Monats",
        "yearday": "jedes Jahr am {n}. {month}",
        "rings": "{first}, dann {then}",
        "ends": "insgesamt {n}-mal",
        "last": "bis {day}",
        "late": "war fällig {moment}",
        "held": "wegen deiner Ruhezeit zurückgehalten",
        "unable": "{mate} kann es jetzt nicht tun",
    },
)
FRENCH = TimeWords(
    days=tuple("lundi mardi mercredi jeudi vendredi samedi dimanche".split()),
    months=tuple(
        "janvier février mars avril mai juin juillet août septembre octobre novembre "
        "décembre".split()
    ),
    date="{day} {n} {month}{year}, {time}",
    units=(("an", "ans"), ("jour", "jours"), ("heure", "heures"), ("minute", "minutes")),
    ahead="dans {span}",
    soon="dans moins d'une minute",
    both=" et ",
    either=" ou ",
    says={
        "hour": "À quelle heure ?",
        "day": "Quel jour ?",
        "which": "Lequel est le bon : {choices} ?",
        "vague": "« {said} », c'est quand exactement ? Donne un jour et une heure, ou un délai.",
        "unclear": "Je ne suis pas sûr de comprendre « {said} ». Donne un jour et une heure.",
        "confirm": "« {said} », est-ce bien {choices} ?",
        "past": "C'est déjà passé (« {said} »). Donne un moment à venir.",
        "over": "{moment} est déjà passé ; donne un moment à venir.",
        "far": "{moment} est dans plus de dix ans ; donne un moment plus proche.",
        "dense": "Cela sonnerait plus souvent que toutes les 5 minutes ; prends un pas plus long.",
        "empty": "Cette règle ne sonne jamais ; regarde ses jours et sa fin.",
        "differs": "Les mots « {said} » disent {wanted}, le formulaire dit {given}. Remplis-le "
        "d'après les mots, ou demande ce qui vaut ; rien n'a été enregistré.",
        "unsaid": "Il manque `said`, les mots mêmes de la personne ; donne-les tels quels.",
        "one": "Donne un seul de in (PT2H), at (2026-03-27T09:00) et rule (une RRULE).",
        "written": "{problem}. Remplis le formulaire à nouveau ; rien n'a été enregistré.",
        "zone": "Le fuseau « {zone} » n'existe pas ; donne-en un comme Europe/Paris.",
        "elsewhere": "Le fuseau {zone} n'est pas dans « {said} ». L'heure de qui ?",
        "skipped": "l'heure change alors et {time} n'existe pas, cela sonne à {real}",
        "twice": "l'heure change alors ; cela sonne la première fois qu'il est {time}",
        "once": "une fois, à un moment",
        "again": "à répétition",
        "next": "{rule} ; d'abord {first}",
        "daily": "tous les jours",
        "every": "toutes les {n} {unit}",
        "each": "chaque {unit}",
        "weekdays": "chaque jour de semaine",
        "on": "chaque {days}",
        "every_on": "toutes les {n} {unit} le {days}",
        "monthday": "le {days} de chaque mois",
        "lastday": "le dernier jour de chaque mois",
        "yearday": "tous les ans le {n} {month}",
        "rings": "{first}, puis {then}",
        "ends": "{n} fois en tout",
        "last": "jusqu'au {day}",
        "late": "était prévu {moment}",
        "held": "retenu pendant tes heures de calme",
        "unable": "{mate} ne peut pas le faire maintenant",
    },
)
SPANISH = TimeWords(
    days=tuple("lunes martes miércoles jueves viernes sábado domingo".split()),
    months=tuple(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
        "diciembre".split()
    ),
    date="{day} {n} de {month}{year}, {time}",
    units=(("año", "años"), ("día", "días"), ("hora", "horas"), ("minuto", "minutos")),
    ahead="dentro de {span}",
    soon="en menos de un minuto",
    both=" y ",
    either=" o ",
    says={
        "hour": "¿A qué hora?",
        "day": "¿Qué día?",
        "which": "¿Cuál es: {choices}?",
        "vague": "¿Cuándo es exactamente «{said}»? Di un día y una hora, o cuánto falta.",
        "unclear": "No estoy seguro de qué significa «{said}». Di un día y una hora.",
        "confirm": "¿«{said}» quiere decir {choices}?",
        "past": "Eso ya ha pasado («{said}»). Di un momento que esté por venir.",
        "over": "{moment} ya ha pasado; di un momento que esté por venir.",
        "far": "Para {moment} faltan más de diez años; di uno más cercano.",
        "dense": "Sonaría más a menudo que cada 5 minutos; toma un paso más largo.",
        "empty": "Esta regla no suena nunca; mira sus días y dónde termina.",
        "differs": "Las palabras «{said}» dicen {wanted}, el formulario dice {given}. Rellénalo "
        "según las palabras, o pregunta qué vale; no se ha guardado nada.",
        "unsaid": "Falta `said`, las palabras mismas de la persona; ponlas tal cual.",
        "one": "Da solo uno: in (PT2H), at (2026-03-27T09:00) o rule (una RRULE).",
        "written": "{problem}. Rellena el formulario de nuevo; no se ha guardado nada.",
        "zone": "No hay ninguna zona horaria «{zone}»; da una como Europe/Madrid.",
        "elsewhere": "La zona {zone} no está en «{said}». ¿La hora de quién?",
        "skipped": "entonces cambia la hora y las {time} no existen, suena a las {real}",
        "twice": "entonces cambia la hora; suena la primera vez que son las {time}",
        "once": "una vez, en un momento",
        "again": "una y otra vez",
        "next": "{rule}; primero {first}",
        "daily": "todos los días",
        "every": "cada {n} {unit}",
        "each": "cada {unit}",
        "weekdays": "cada día laborable",
        "on": "cada {days}",
        "every_on": "cada {n} {unit} el {days}",
        "monthday": "el día {days} de cada mes",
        "lastday": "el último día de cada mes",
        "yearday": "todos los años el {n} de {month}",
        "rings": "{first}, luego {then}",
        "ends": "{n} veces en total",
        "last": "hasta el {day}",
        "late": "era para {moment}",
        "held": "retenido durante tus horas de silencio",
        "unable": "{mate} no puede hacerlo ahora",
    },
)
TIME_WORDS = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH}


def words_of(language: str) -> TimeWords:
    """The words of a language by its code ("de", "de-AT"); English for any other."""
    return TIME_WORDS.get(language[:2].lower(), ENGLISH)


def localized_sentence(language: str, name: str, **values: str) -> str:
    """One of the sentences, filled in."""
    return words_of(language).says[name].format(**values)


def told_now(now: datetime, zone: ZoneInfo) -> str:
    """The time as minds are told it: "Saturday 21 November 2026, 14:05 (Europe/Paris)"."""
    here = now.astimezone(zone)
    return f"{here:%A} {here.day} {here:%B %Y, %H:%M} ({zone.key})"


def told_moment(at: datetime, now: datetime, language: str) -> str:
    """Such as "Friday 27 March, 09:00"; with the year where that is another."""
    words = words_of(language)
    return words.date.format(
        day=words.days[at.weekday()],
        n=at.day,
        month=words.months[at.month - 1],
        year=f" {at.year}" if at.year != now.year else "",
        time=f"{at:%H:%M}",
    )


def told_span(start: datetime, end: datetime, language: str) -> str:
    """How long from one aware moment to a later one, in its two largest units."""
    from dateutil.relativedelta import relativedelta

    words, ends = words_of(language), end.astimezone(UTC)
    minutes = round((ends - start.astimezone(UTC)) / timedelta(minutes=1))
    begun = (ends - timedelta(minutes=minutes)).astimezone(end.tzinfo)
    years = relativedelta(end, begun).years
    after = ends - (begun + relativedelta(years=years)).astimezone(UTC)
    days, rest = divmod(round(after / timedelta(minutes=1)), 1440)
    counts = (years, days, *divmod(rest, 60))
    told = [
        f"{count} {names[count != 1]}"
        for count, names in zip(counts, words.units, strict=True)
        if count
    ]
    return words.ahead.format(span=" ".join(told[:2])) if told else words.soon


def told_ahead(at: datetime, now: datetime, language: str) -> str:
    """Such as "Friday 27 March, 09:00, in 1 day 19 hours"; both aware, in the zone that holds."""
    return f"{told_moment(at, now, language)}, {told_span(now, at, language)}"


def localized_list(items: Sequence[str], language: str, *, either: bool = False) -> str:
    """Such as "A, B and C", or "A or B"."""
    words = words_of(language)
    last = words.either if either else words.both
    return last.join((", ".join(items[:-1]), items[-1])) if len(items) > 1 else "".join(items)
