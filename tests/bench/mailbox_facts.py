"""The facts that a generated mailbox is about: things, what can be said of them, and how it is asked for.

A fact is a kind ("owner") about a thing ("the staging database") with values (a person). Each thing has a second name
and each kind has questions in other words, so that a paraphrase shares no telling word with what a mail says of it:
tests/tree/test_mailbox_maker.py checks that for every pair. `mailbox_maker` uses it.
"""

from __future__ import annotations

import random
from typing import NamedTuple

THINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "system": (
        ("the staging database", "the pre-production data store"),
        ("the invoice exporter", "the tool that writes out bills"),
        ("the login gateway", "the sign-in front door"),
        ("the image resizer", "the program that shrinks photos"),
        ("the payroll import", "the job that loads salaries"),
        ("the search cluster", "the machines behind our lookup box"),
        ("the translation cache", "the memory for texts in foreign tongues"),
        ("the print spooler", "the paper output daemon"),
        ("the parcel tracker", "the page that follows shipments"),
        ("the ticket robot", "the automatic helpdesk sorter"),
        ("the weather feed", "the forecast stream"),
        ("the badge reader", "the card scanner for doors"),
        ("the video encoder", "the converter for films"),
        ("the billing ledger", "the accounting journal"),
        ("the map server", "the cartography host"),
        ("the newsletter sender", "the mass mailing engine"),
        ("the sensor gateway", "the collector for measurements"),
        ("the booking widget", "the reservation element on our site"),
        ("the audit archive", "the long-term compliance vault"),
        ("the voice menu", "the telephone answering tree"),
    ),
    "item": (
        ("the label printer", "the sticker machine"),
        ("the van with the ramp", "the delivery vehicle that has a slope"),
        ("the spare projector", "the second beamer"),
        ("the big whiteboard", "the large wipeable panel"),
        ("the espresso machine", "the coffee maker"),
        ("the server rack", "the cabinet for computers"),
        ("the fire extinguisher", "the device against flames"),
        ("the forklift", "the pallet truck"),
        ("the oscilloscope", "the instrument that shows waveforms"),
        ("the standing desk", "the height-adjustable table"),
        ("the drone", "the flying camera"),
        ("the cargo bike", "the three-wheeler for loads"),
        ("the paper shredder", "the document destroyer"),
        ("the safe", "the strongbox"),
        ("the sewing robot", "the automatic stitching arm"),
        ("the microscope", "the magnifying apparatus"),
        ("the loudspeaker pair", "the stereo equipment"),
        ("the ladder", "the climbing aid"),
        ("the kiln", "the pottery oven"),
        ("the telescope", "the stargazing tube"),
    ),
    "event": (
        ("the summer party", "the July celebration"),
        ("the security workshop", "the course about protection"),
        ("the onboarding week", "the days for newcomers"),
        ("the customer forum", "the gathering of clients"),
        ("the blood donation", "the Red Cross collection"),
        ("the fire drill", "the evacuation exercise"),
        ("the chess evening", "the board game night"),
        ("the harvest market", "the autumn fair"),
        ("the supplier audit", "the inspection of vendors"),
        ("the release rehearsal", "the dry run for shipping"),
        ("the choir concert", "the singers' performance"),
        ("the photo walk", "the stroll with cameras"),
        ("the budget retreat", "the offsite about money"),
        ("the language class", "the lessons in French"),
        ("the bicycle check", "the free tune-up of bikes"),
        ("the open house", "the visitors' day"),
        ("the strategy lunch", "the midday talk on direction"),
        ("the flea market", "the second-hand sale"),
        ("the hackathon", "the coding marathon"),
        ("the retirement dinner", "the farewell meal"),
    ),
    "paper": (
        ("the grant application", "the request for funding"),
        ("the lease renewal", "the extension for our premises"),
        ("the safety manual", "the handbook against accidents"),
        ("the annual report", "the yearly review booklet"),
        ("the patent draft", "the text protecting our invention"),
        ("the tender response", "the bid"),
        ("the insurance claim", "the demand for damages"),
        ("the travel policy", "the rules for trips"),
        ("the exhibition catalogue", "the museum show brochure"),
        ("the tax return", "the filing for the revenue office"),
        ("the press release", "the statement to journalists"),
        ("the thesis review", "the opinion on her dissertation"),
        ("the supplier questionnaire", "the form for vendors"),
        ("the menu translation", "the foreign food list"),
        ("the privacy notice", "the data protection leaflet"),
        ("the building permit", "the construction approval"),
        ("the training syllabus", "the teaching outline"),
        ("the warranty certificate", "the guarantee slip"),
        ("the customs declaration", "the border paperwork"),
        ("the wedding speech", "the toast for bride and groom"),
    ),
}


class FactKind(NamedTuple):
    """What can be said of the things of one group, in three ways, and asked in two with its words and two without."""

    name: str
    group: str
    sentences: tuple[str, str, str]
    questions: tuple[str, str]
    paraphrases: tuple[str, str]


def _kind(name: str, group: str, *texts: str) -> FactKind:
    return FactKind(name, group, (texts[0], texts[1], texts[2]), (texts[3], texts[4]), (texts[5], texts[6]))


KINDS: tuple[FactKind, ...] = (
    _kind(
        "move", "system",
        "{thing} moves to {city} on {date}.", "We decided to move {thing} to {city} on {date}.",
        "The move of {thing} is fixed: {city}, {date}.",
        "Where does {thing} move, and on which date?", "When will we move {thing}?",
        "To what place is {other} being relocated?", "What is the new home for {other}?",
    ),
    _kind(
        "owner", "system",
        "{person} owns {thing} from now on.", "{thing} is owned by {person} now.",
        "The owner of {thing} is {person}, not the old team.",
        "Who owns {thing}?", "Who is the owner of {thing} now?",
        "Which colleague takes care and responsibility for {other}?", "Whom should I ask if {other} misbehaves?",
    ),
    _kind(
        "outage", "system",
        "{thing} went down because {cause}.", "{thing} was down again: {cause}.",
        "We know why {thing} went down: {cause}.",
        "Why did {thing} go down?", "{thing} was down, what do we know?",
        "What made {other} fail?", "What reason was found for the crash affecting {other}?",
    ),
    _kind(
        "limit", "system",
        "{thing} accepts at most {number} requests a minute.", "The limit for {thing} is {number} requests a minute.",
        "Please stay below {number} requests a minute with {thing}, it accepts no more.",
        "How many requests a minute does {thing} accept?", "What is the limit of requests for {thing}?",
        "What load can {other} take?", "Is there a ceiling on calls against {other}?",
    ),
    _kind(
        "contract", "system",
        "We renew the contract for {thing} with {vendor}.", "The contract for {thing} stays with {vendor}.",
        "{vendor} gets the contract for {thing} again.",
        "With whom do we renew the contract for {thing}?", "Who has the contract for {thing}?",
        "Which supplier did we choose regarding {other}?", "What firm do we keep using, concerning {other}?",
    ),
    _kind(
        "cost", "system",
        "{thing} costs {number} euros a month.", "The monthly cost of {thing} is {number} euros.",
        "I checked the cost of {thing}: {number} euros each month.",
        "What does {thing} cost a month?", "How many euros a month is the cost of {thing}?",
        "How much do we pay for {other}?", "What is the price for running {other}?",
    ),
    _kind(
        "version", "system",
        "{thing} stays on version {version} until {date}.", "Until {date} {thing} runs version {version}.",
        "No upgrade yet: version {version} of {thing} stays until {date}.",
        "On which version does {thing} stay?", "Until when does {thing} stay on its version?",
        "Which release is installed for {other}?", "Has {other} been updated, or is an older edition in use?",
    ),
    _kind(
        "backup", "system",
        "The backup of {thing} starts at {clock} every night.", "{thing} has its nightly backup at {clock}.",
        "I moved the nightly backup of {thing}, it starts at {clock}.",
        "At what time does the backup of {thing} start?", "When is the nightly backup of {thing}?",
        "At what hour is {other} copied for safety?", "When are duplicates taken of what is in {other}?",
    ),
    _kind(
        "location", "item",
        "{thing} now stands in {place}.", "I put {thing} in {place}.", "Since this morning {thing} stands in {place}.",
        "Where does {thing} stand now?", "In which place does {thing} stand?",
        "Where can I find {other}?", "Where has {other} gone?",
    ),
    _kind(
        "repair", "item",
        "{vendor} repairs {thing} for {number} euros.", "The repair of {thing} by {vendor} takes {number} euros.",
        "{thing} is broken; {vendor} offers the repair at {number} euros.",
        "Who repairs {thing}, and for how many euros?", "What does the repair of {thing} take?",
        "Who is going to mend {other}?", "What will fixing {other} set us back?",
    ),
    _kind(
        "key", "item",
        "The key for {thing} is with {person}.", "{person} has the key for {thing}.",
        "If you need {thing}, {person} keeps the key.",
        "Who has the key for {thing}?", "With whom is the key of {thing}?",
        "Who can unlock {other}?", "Whom do I see when {other} is locked up?",
    ),
    _kind(
        "order", "item",
        "We ordered {thing} from {vendor}.", "{thing} is ordered, {vendor} delivers it on {date}.",
        "The order for {thing} went to {vendor}.",
        "From whom did we order {thing}?", "Is {thing} ordered, and from whom?",
        "Which shop sells us {other}?", "Where was {other} bought?",
    ),
    _kind(
        "weight", "item",
        "{thing} weighs {number} kilos.", "With its box {thing} weighs {number} kilos.",
        "Careful, the weight of {thing} is {number} kilos.",
        "How many kilos does {thing} weigh?", "{thing} weighs how many kilos?",
        "How heavy is {other}?", "Can two people lift {other}, or is that too much?",
    ),
    _kind(
        "when", "event",
        "{thing} takes place on {date}.", "The date for {thing} is {date}.", "We have a date for {thing}: {date}.",
        "On which date does {thing} take place?", "When does {thing} take place, has it a date?",
        "When is {other} scheduled?", "For what day should I reserve my calendar, regarding {other}?",
    ),
    _kind(
        "cancel", "event",
        "{thing} is cancelled because {cause}.", "We had to cancel {thing}: {cause}.",
        "No {thing_bare} this year, it is cancelled: {cause}.",
        "Why is {thing} cancelled?", "Did we cancel {thing}, and why?",
        "For what reason will {other} not happen?", "What prevented {other}?",
    ),
    _kind(
        "host", "event",
        "{person} organises {thing}.", "{thing} is organised by {person}.",
        "I asked {person} to organise {thing}, and the answer was yes.",
        "Who organises {thing}?", "By whom is {thing} organised?",
        "Which colleague runs {other}?", "Who is in charge regarding {other}?",
    ),
    _kind(
        "capacity", "event",
        "{thing} has room for {number} people.", "There is room for {number} people at {thing}.",
        "{thing}: the room is full with {number} people.",
        "For how many people does {thing} have room?", "How many people is there room for at {thing}?",
        "How many guests can attend {other}?", "What is the maximum number of participants for {other}?",
    ),
    _kind(
        "due", "paper",
        "{thing} is due on {date}.", "{date} is the deadline for {thing}.", "The deadline of {thing} moved to {date}.",
        "When is {thing} due?", "What is the deadline for {thing}?",
        "By when must {other} be handed in?", "How long do we have left to finish {other}?",
    ),
    _kind(
        "signer", "paper",
        "{person} signs {thing}.", "{thing} is signed by {person}.", "Send {thing} to {person}, who will sign it.",
        "Who signs {thing}?", "By whom is {thing} signed?",
        "Whose autograph does {other} need?", "Which person gives the final OK for {other}?",
    ),
    _kind(
        "length", "paper",
        "{thing} may have {number} pages at most.", "At most {number} pages are allowed for {thing}.",
        "They count the pages of {thing}: {number} at most.",
        "How many pages may {thing} have?", "How many pages are allowed for {thing}?",
        "What is the maximum length for {other}?", "How long can {other} be?",
    ),
    _kind(
        "language", "paper",
        "{thing} must be written in {language}.", "They want {thing} written in {language}.",
        "{language} it is: {thing} must be written in it.",
        "In which language must {thing} be written?", "Which language do they want for {thing}?",
        "What tongue do we have to use regarding {other}?", "Should {other} be composed as English prose or not?",
    ),
)  # fmt: skip

CITIES = (
    "Frankfurt", "Porto", "Tampere", "Leeds", "Ghent", "Turin", "Lyon", "Gdansk", "Malmo", "Zagreb", "Cork", "Aarhus",
    "Graz", "Seville", "Tartu",
)  # fmt: skip
VENDORS = tuple(
    f"{name} {form}"
    for name in (
        "Norvane",
        "Kestrelworks",
        "Blauberg",
        "Tindra",
        "Quillon",
        "Pellworth",
        "Serrano",
        "Wexcomb",
        "Fjellby",
    )
    for form in ("Ltd", "GmbH", "AB", "Systems")
)
PLACES = tuple(
    f"{room} {floor}"
    for room in ("the archive", "room 214", "the bay", "the kitchen", "the workshop", "the cellar")
    for floor in ("on the ground floor", "of building C", "behind reception", "at the north entrance")
)
CAUSES = (
    "a certificate had expired", "the disk was full", "two people were ill", "a cable was cut in the street",
    "the landlord wants the rooms back", "somebody deleted the wrong table", "the clocks were an hour apart",
    "the heating froze", "the licence had run out", "a fan had stopped", "the roof leaks", "the trains are on strike",
    "the password had been changed", "a pigeon sat in the vent", "the lorry never came", "the queue overflowed",
)  # fmt: skip
LANGUAGES = ("Finnish", "Portuguese", "Polish", "Greek", "Danish", "Catalan", "Hungarian", "Welsh", "Estonian")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class MailFact(NamedTuple):
    """One fact with its values, ready to be said in three ways and asked in four."""

    kind: FactKind
    thing: tuple[str, str]
    values: dict[str, str]

    def say(self, variant: int) -> str:
        """Return the sentence that states it, in one of three ways."""
        return self._fill(self.kind.sentences[variant % 3])

    def ask(self, variant: int) -> str:
        """Return a question with the words of the mail."""
        return self._fill(self.kind.questions[variant % 2])

    def ask_otherwise(self, variant: int) -> str:
        """Return a question in other words."""
        return self._fill(self.kind.paraphrases[variant % 2])

    def _fill(self, template: str) -> str:
        bare = self.thing[0].removeprefix("the ")
        text = template.format(thing=self.thing[0], other=self.thing[1], thing_bare=bare, **self.values)
        return text[0].upper() + text[1:]


def all_topics() -> list[tuple[FactKind, tuple[str, str]]]:
    """Return every kind with every thing that it can be said of."""
    return [(kind, thing) for kind in KINDS for thing in THINGS[kind.group]]


def make_fact(rng: random.Random, kind: FactKind, thing: tuple[str, str], person: str) -> MailFact:
    """Return a fact of a kind with values drawn at random; `person` is who it names, if it names one."""
    values = {
        "person": person,
        "city": rng.choice(CITIES),
        "date": f"{rng.randint(1, 28)} {rng.choice(MONTHS)}",
        "cause": rng.choice(CAUSES),
        "number": str(rng.randint(12, 990)),
        "vendor": rng.choice(VENDORS),
        "version": f"{rng.randint(1, 19)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}",
        "clock": f"{rng.randint(0, 5)}:{rng.randint(0, 59):02}",
        "place": rng.choice(PLACES),
        "language": rng.choice(LANGUAGES),
    }
    return MailFact(kind, thing, values)
