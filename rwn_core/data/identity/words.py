"""Words in the name of a variable, and the subjects that identify people."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from itertools import pairwise

from rwn_core.data.identity.word_set import plain_letters, word_set

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=\D)|(?<=\D)(?=\d)")
_LEAST_STEM = 5  # letters of a stem that may stand anywhere within a word


class Subject(StrEnum):
    """Subjects of variables that identify people."""

    PERSON = "names of people"
    CONTACT = "ways to contact people"
    ADDRESS = "addresses"
    NUMBER = "numbers of people, cases or objects"
    BIRTH = "dates of birth or death"
    PLACE = "coordinates"
    HOUSEHOLD = "numbers of households"
    TEXT = "free text"
    MOMENT = "times of events"
    POSTCODE = "postal codes"
    WEIGHT = "sampling weights"


# Of each subject: whole words, and stems of at least five letters found anywhere in a word.
# English, German, French, Spanish, and some Italian, Portuguese and Dutch.
_WORDS: dict[Subject, str] = {
    Subject.PERSON: """
        name names fname lname sname mname givenname firstname lastname surname forename middlename
        fullname maidenname familyname nickname vorname nachname zuname rufname familienname
        geburtsname nom noms prenom prenoms patronyme nombre nombres apellido apellidos nome cognome
        sobrenome naam voornaam achternaam initials kuerzel signature unterschrift contactperson
        first_name given last maiden patient person respondent employee client customer member
        owner tenant resident student pupil teacher doctor physician nurse spouse mother father
        child guardian worker mitarbeiter kunde kundin patientin person befragter schueler lehrer
        arzt paciente cliente empleado alumno eleve employe salarie assure versicherter inhaber
        author user username login informant caregiver witness victim suspect donor participant
        proband probandin teilnehmer subject applicant candidate family
        imie imiona nazwisko jmeno prijmeni fornavn etternavn efternavn fornamn efternamn
        etunimi sukunimi keresztnev vezeteknev prezime soyad soyadi adi voornamen
        achternamen roepnaam apelido init inits inicjaly iniciais iniziali initialen имя
        фамилия отчество фио ονομα επωνυμο 姓名 氏名 名前""",
    Subject.CONTACT: """
        email mail emails phone phones telephone tel fon telefon telefono mobile mobil handy cell
        cellphone fax url website homepage web link twitter facebook instagram linkedin whatsapp
        skype handle telegram tiktok snapchat github courriel correo portable kontakt contact xing
        orcid
        komorka telemovel cellulare telefoonnummer телефон почта 电话 電話""",
    Subject.ADDRESS: """
        address addr adresse anschrift direccion indirizzo endereco adres street str strasse rue
        calle via rua straat road house hausnummer hausnr housenumber domicile wohnadresse
        adres ulica bydliste lakcim morada gade osoite адрес 地址 住所""",
    Subject.NUMBER: """
        id ids uid uuid guid pid sid cid nid rid eid oid idnum idno idnr idcode ident identifier
        identifiant kennung kennzeichen kennziffer number nr nummer numero num no matricule
        matricula ssn nhs nino svnr svn ahv avs bsn nif dni nie nir pesel cpf curp tin ein insee
        sozialversicherungsnummer passport pass reisepass ausweis licence license licenceplate
        plate plates numberplate vin imei imsi mac ip ipv4 ipv6 ipaddress device serial account acct
        konto kontonummer iban bic card kreditkarte creditcard case caseid casenumber fall
        fallnummer
        fallnr aktenzeichen akte file record rec recordid mrn token cookie session barcode rfid
        patient patientid person persid persnr personnr respondent respid employee empid empno
        emp staff client clientid customer custid kunde kundennr kundennummer member memberid
        user userid student studentid pupil participant participantid subject subjid subj proband
        probandnr teilnehmer versichertennummer versicherungsnummer steuernummer steuerid
        personalnummer matrikelnummer dossier beneficiary taxpayer policy policyid contract vertrag
        vertragsnummer invoice rechnung order orderid transaction transactionid sample_id specimen
        seq seqno sequence index rownum row key hash pseudonym lfdnr lfd mitarbeiter""",
    Subject.BIRTH: """
        dob birth birthdate birthday dateofbirth born bday geb gebdat gebdatum geburt geburtsdatum
        geburtstag naissance nacimiento nascita nascimento geboortedatum dod death died deathdate
        todesdatum sterbedatum deces
        urodzenia urodziny narozeni fodselsdato fodelsedatum syntymaaika szuletesi dogum
        doodsdatum overlijdensdatum
        рождения 生年月日 出生日期""",
    Subject.PLACE: """
        lat lon lng long latitude longitude latitud longitud gps coord coords coordinate coordinates
        koordinate koordinaten geo geocode geocoord geopoint geom geometry geohash location loc
        breite laenge breitengrad laengengrad easting northing utm lv95 wgs84 ostwert
        hochwert rechtswert xcoord ycoord what3words lieu
        szerokosc dlugosc latitudine longitudine breddegrad lengdegrad широта долгота""",
    Subject.HOUSEHOLD: """
        household hh hhid hhnr hhno hid hhold householdid haushalt haushaltsnummer haushaltsnr
        hhnum foyer menage hogar famiglia family famid fam familyid familie famille familia couple
        dwelling wohnung domestic
        gezin huishouden rodzina gospodarstwo agregado nucleo hushall husstand husholdning
        domacnost""",
    Subject.TEXT: """
        remark remarks comment comments note notes freetext text texts description narrative
        bemerkung bemerkungen kommentar anmerkung notiz freitext beschreibung remarque remarques
        commentaire observacion observaciones comentario details memo feedback statement openended
        verbatim other_specify sonstiges anamnese
        uwagi komentarz opmerking opmerkingen poznamka anmarkning observacoes osservazioni
        комментарий 备注""",
    Subject.MOMENT: """
        timestamp ts datetime time moment zeitstempel uhrzeit zeit zeitpunkt heure horodatage hora
        epoch unixtime""",
    Subject.POSTCODE: """
        zip zipcode plz postleitzahl postcode postal postalcode codepostal cap cep""",
    Subject.WEIGHT: """
        pweight dweight wgt pwgt dwgt hhweight hochrechnung hochrechnungsfaktor fpc""",
}
_STEMS: dict[Subject, str] = {
    Subject.PERSON: """surname firstname lastname vorname nachname prenom apellido cognome fullname
        familyname givenname username""",
    Subject.CONTACT: "email phone telefon telefono telephone website twitter courriel handynr",
    Subject.ADDRESS: "address adresse anschrift strasse direccion street",
    Subject.NUMBER: """nummer number passport ausweis account identifi kontonr patientid userid
        personid personnr kundennr memberid clientid""",
    Subject.BIRTH: "birth geburt naissance nacimiento gebdat",
    Subject.PLACE: """latitud longitud coord koordinat geocod breitengrad laengengrad easting
        northing""",
    Subject.HOUSEHOLD: "household haushalt",
    Subject.TEXT: "remark comment freetext freitext bemerk kommentar anmerkung description",
    Subject.MOMENT: "timestamp datetime zeitstempel",
    Subject.POSTCODE: "postleit zipcode postcode postal",
    Subject.WEIGHT: "hochrechnung",
}
_MEASURES = word_set(
    """
    income salary wage wages earnings pay rent price cost costs amount value balance revenue
    turnover sales expense expenses spending spend tax budget debt loan savings credit score
    scores index rate ratio percent percentage pct share height mass length width area volume
    distance duration minutes hours seconds days weeks months years age ages year count counts
    total sum mean average visits steps calories kcal glucose cholesterol pressure bp hr pulse
    temp temperature rain rainfall wind humidity population density dose mg ml level levels
    grade rank points mileage km miles speed power energy kwh consumption usage platelets
    leukocytes hemoglobin creatinine sodium potassium size type status category group class flag
    satisfaction quality ownership owned change access consent weightkg bmi gehalt einkommen
    lohn miete preis betrag kosten alter jahr jahre dauer punkte umsatz steuer anzahl menge wert
    groesse typ stufe zufriedenheit zahl quote anteil monat tage stunden revenu salaire loyer
    prix montant annee taille duree nombrede age_ans ingreso ingresos salario precio edad altura
    renta importe sueldo anos puntos reddito eta prezzo month quarter week semester day color
    inkomen salaris loon dochod wynagrodzenie pensja renda stipendio cena wiek preco idade
    colour unit units square sqm floor rooms beds children persons people employees members
    kinder personen enfants hijos viscosity weight gewicht poids peso order parity cause
    """
)
_SERIES = word_set("year jahr annee ano age alter rank rang day week month monat quarter")
_SURVEY = word_set(
    "sampling sample design survey final expansion replicate calibration calibrated person hh "
    "household population post base stichprobe"
)
_BODY_WEIGHT = word_set("weight wt gewicht poids peso faktor factor")
_NUMBERED = word_set("id nr no nummer number num key uid")
_EXPLICIT = word_set(
    "firstname lastname surname givenname forename vorname nachname zuname familienname prenom "
    "apellido cognome voornaam achternaam fullname familyname maidenname nomdefamille fname lname "
    "voornamen roepnaam nazwisko prijmeni fornavn etternavn efternavn fornamn efternamn etunimi "
    "sukunimi keresztnev vezeteknev фамилия отчество"
)
_EXPLICIT_WORDS = word_set("imie imiona jmeno prezime adi soyad soyadi fio имя фио 姓名 氏名 名前")
_COUNTED_FIRST = word_set("number num no nr n anzahl nombre numero")
_THINGS = word_set(
    """
    brand product drug company firm country city town village region district state county
    school hospital clinic department dept station river species variety crop medication
    medicine substance disease diagnosis variable file sheet model plan course subject_area
    project category event party league team club bank produkt marke firma land stadt gemeinde
    schule klinik abteilung pays ville ecole pais ciudad escuela game song movie film job
    occupation industry sector language breed
    """
)


class NameWords:
    """Words and subjects in the name of a variable.

    Attributes
    ----------
    words : tuple of str
        In lower case, without accents; camel case and digits are split.
    subjects : frozenset of Subject
    is_measure : bool
        A quantity or a kind of something, such as household income or address type.
    is_series : bool
        A unit of time or a rank, whose values may all differ.
    is_thing : bool
        What is named is a thing, such as a product.
    is_explicit : bool
        It can be nothing but given or family names.
    """

    def __init__(self, name: str) -> None:
        parts = re.split(r"[\W_]+", _CAMEL.sub(" ", plain_letters(name)))
        self.words = tuple(part.lower() for part in parts if part)
        found = set(self.words)
        letters = [word for word in self.words if not word.isdigit()]
        self.is_measure = bool(found & _MEASURES) or self._counts(letters)
        if letters and letters[-1] in _NUMBERED and not self._counts(letters):
            self.is_measure = False  # the number of something, such as tax_id
        self.is_series = bool(found & _SERIES)
        self.is_thing = bool(found & _THINGS)
        self.subjects = frozenset(self._subjects(letters))
        stems = any(stem in "".join(letters) for stem in _EXPLICIT)
        self.is_explicit = stems or bool(set(letters) & _EXPLICIT_WORDS)

    def _counts(self, letters: list[str]) -> bool:
        """True for "number of rooms", where a word of numbers comes first and counts the rest."""
        return len(letters) > 1 and letters[0] in _COUNTED_FIRST and letters[1] in ("of", "de")

    def _subjects(self, letters: list[str]) -> set[Subject]:
        whole = "".join(letters)
        words = {*letters, whole, *(a + b for a, b in pairwise(letters))}
        found = {subject for subject in Subject if words & _subject_words(subject)}
        for subject, stems in _STEMS.items():
            if any(stem in whole for stem in stems.split() if len(stem) >= _LEAST_STEM):
                found.add(subject)
        if any(len(word) > 3 and word.endswith(("nr", "num")) for word in letters):
            found.add(Subject.NUMBER)
        if set(letters) & _BODY_WEIGHT and set(letters) & _SURVEY:
            found.add(Subject.WEIGHT)
        return found


@cache
def _subject_words(subject: Subject) -> frozenset[str]:
    return word_set(_WORDS[subject])


def names_people(name: str) -> bool:
    """True if a variable is called like a direct identifier, whatever its values are."""
    words = name_words(name)
    weak = {Subject.MOMENT, Subject.POSTCODE, Subject.WEIGHT, Subject.TEXT}
    return bool(words.subjects - weak) and not words.is_measure


@cache
def name_words(name: str) -> NameWords:
    """Split the name of a variable."""
    return NameWords(name)
