"""Rules for columns of texts: forms, names of people, addresses, free text, codes of one form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rwn_core.data.identity.doubt import Confidence, Found
from rwn_core.data.identity.profile import Profile
from rwn_core.data.identity.text_forms import INITIALS, common_form, street_share
from rwn_core.data.identity.word_set import plain_letters, word_set
from rwn_core.data.identity.words import Subject

FEW = 20  # different values up to which a column is taken for categories
NEARLY_UNIQUE = 0.95  # different values for each record
OFTEN_NEW = 0.3  # the same, where the name or the form says more
NAMES = 0.5  # of the different texts that are common names of people
WORDY = 4.0  # words of a text, on average, from which it is free text
_FEWEST_NAMES = 6
_CODE_LETTERS = 6  # of a code that may number people
_CAPITALIZED = re.compile(r"[^\W\d_][^\W\d_'’.-]*([ ,'’-]+[^\W\d_][^\W\d_'’.-]*){0,3}")
_SIGNED = re.compile(r"([A-Z]\. ?){1,3}[A-Z]\w+")


_SUBJECTS = (Subject.NUMBER, Subject.CONTACT, Subject.HOUSEHOLD, Subject.PLACE, Subject.POSTCODE)
GIVEN_NAMES = word_set(
    """
    aaron abdul abdullah achim adam adele adrian afonso agata agnes agnieszka ahmad ahmed ahmet
    aino aisha alain alan albert alberto alejandro aleksander aleksandra alessandro alessia
    alessio alex alexander alexandra alexandre alfred ali alice alicja alina aline amanda amelia
    amelie amina amir amy ana anais anders andre andrea andreas andrei andres andrew andrzej
    aneta angela angelika anita anja anke ann anna anne anneke annelies annette annie antje
    antoine anton antonella antoni antonia antonio antti arjen armando arne arthur astrid attila
    aurelie ayse balazs barbara bartosz beata beate beatrice beatriz bela ben bence benedikt
    benjamin bernadette bernard bernd bernhard betty bianca birgit birgitta bjorn bob bogdan
    boris bozena bram brandon brenda brian brigitte britta bruno burak caio camila camille
    carina carl carla carlos carmela carmen carol carolin carolina caroline carolyn caspar
    catarina catherine cecile celine chantal charles chiara chloe chris christa christian
    christiane christina christine christoph christophe christopher claire clara claudia claudio
    claus clemens clement colette conceicao concetta constantin cornelia cornelis cristian
    cristina cynthia daan dagmar damien daniel daniela daniele danielle danuta daria dariusz
    david davide deborah denis denise dennis diana diane diego dieter dimitris dirk dmitri
    domenico dominik dominique donald donna doris dorota dorothea dorothee dorothy dragan
    dragana duarte dusan edith edoardo eduard eduardo edward eeva einar elena eleni elfriede
    elias elif elisa elisabeth elise elizabeth elke ella ellen elodie elsa elzbieta emanuel emil
    emilia emilie emily emine emma emmanuel emre enrico eric erica erich erik erika ernst erwin
    erzsebet esra esther eugen eva evelyn ewa fabian fabien fabio fatima fatma federica federico
    felix femke ferdinand ferenc fernanda fernando filip filipe filippo finn florian florin
    francesca francesco francine francis francisco franciszek francois francoise frank frankie
    frantisek franz franziska fred frederic frederik friedrich fritz gabor gabriel gabriela
    gabriele gabrielle gary gennaro geoffrey georg george georges gerald gerard gerd gerda
    gerhard gerrit gertrud gheorghe giacomo gianluca gilles ginevra giorgio giorgos giovanni
    giulia giuseppe gloria goncalo goran gottfried grace grazyna greta grzegorz guido guilherme
    guillaume gunilla gunnar gunter gunther gustav gustavo hakan hakon halina hana hanna hannah
    hanne hannes hans harald harry hasan hassan hatice heather heike heiko heinrich heinz helen
    helena helene helga helmut hendrik henk henri henriette henrik henry henryk herbert hermann
    hilde hildegard holger horst hrvoje hubert hugo huseyin hussein ibrahim ida ilaria ildiko
    ilona ilse imre ineke ines inga inge ingeborg ingo ingrid ioana ionela irene irina iris irma
    isabel isabella isabelle istvan ivan ivana ivica iwona jacek jack jacob jacqueline jacques
    jadwiga jakob jakub james jan jana jane janet janine jaroslav jaroslaw jasmin jason jasper
    javier jean jeanne jeff jeffrey jelena jelle jennifer jens jeremy jeroen jerome jerry jerzy
    jessica jim jiri jitka joan joana joanna joao joaquim jochen joel joelle joerg johan johann
    johanna johannes john jonas jonathan joost jorg jorge jorgen jose josef josefine joseph
    joshua josiane jozef juan judit judith juhani jukka julia julian juliana juliane julie
    julien juliette jurgen justin justine justyna jutta kacper kamil karen kari karim karin
    karina karl karla karolina katalin katarzyna kate katerina katharina katherine kathleen
    kathrin kathryn katja katrin kay kazimierz kees keith kelly kemal kenneth kerstin kevin
    khadija kilian kim kirsten klaus knut koen konrad konstantin kostas krystyna krzysztof kurt
    kyle larissa larry lars laszlo laura laure laurence laurent lea leah leif lena lenka lennart
    leo leon leonard leonardo leonie leonor leopold leticia liam lidia lieke lilly lily lina
    linda linus lisa livia ljiljana lorenz lorenzo lothar lotte louis louise lubica luc luca
    lucas lucia lucie lucy ludovica ludwig luis luisa luise lukas lukasz lurdes lutz lydia
    maaike maarten maciej mafalda magdalena magnus mahmoud maja malgorzata malte manfred manon
    manuel manuela marc marcel marcin marco marcus margaret margarete margarida margit margot
    margriet maria mariam marianne marie marija marijke mario marion maritta mariusz mark
    marketa marko markus marlene marloes marta martha martin martina martine mary maryam massimo
    mateusz mathias mathieu mathilde matilde matteo matthew matthias matthieu matti mattia
    maurice maurizio max maxime maximilian mehmet melanie melissa mercedes meryem mette mia
    michael michaela michal michel michele michelle mieke miguel mihaela mihai mika mikael mike
    mila milan milica mirjam miroslav miroslaw mogens mohamed mohammad mohammed monica monika
    monique moritz muhammad murat mustafa nadia nadine nadja nancy natalia natalie nathalie
    nathan nele nicholas nick nico nicola nicolae nicolas nicole niels niklas nikola nikos nils
    nina noah noel noemi noor nora norbert nuno oksana olav ole olga oliver olivia olivier
    oliwia omar omer ondrej oscar oskar osman ottilie otto oyvind ozlem pablo paivi pamela
    panagiotis paola paolo pascal pasquale patricia patrick patrizia patryk paul paula paulina
    pauline paulo pawel pedro peggy pekka peter petr petra philip philipp philippe phillip pia
    pierre pieter pietro piotr rachel radu rafael rafal raffaele ragnar raimund rainer ralf
    ralph ramona raphael raymond rebecca regina regine reiner reinhard reinhold rembert renate
    rene ricarda ricardo riccardo richard rita ritva robert roberta roberto rodolphe roger
    roland rolf romain roman ronald rosa rosaria rosemarie rosi roswitha ruben rudolf rui rupert
    rutger ruth ryan ryszard sabine sabrina sally salma salvatore sam samantha samira samuel
    sander sandor sandra sandrine sandro sanne sara sarah sascha saskia scott sean sebastian
    selina selma serge sergei sergio serife serkan severin sharon shirley sibylle siegfried
    sigrid silke silvia simon simona simone sina sjoerd slawomir snezana sofia sofie solange
    solveig sonia sonja sophia sophie soren stanislaw stefan stefanie stefano stella stephan
    stephane stephanie stephen steve steven susan susana susanna susanne suzanne sven svenja
    svetlana sylvia sylvie sylwia szymon tadeusz tamara tamas tanja tatiana tatjana teresa
    tereza theo theodor theresa therese theresia thiago thierry thijs thomas thorsten tiago till
    tim timo timothy tina tineke tobias tom tomas tomasz tomislav tommaso torbjorn torsten tuula
    udo ulla ulrich ulrike ursula urszula usman ute uwe vaclav valentin valentina valerie
    vanessa vania vasco vasile vasiliki vera verena veronika veronique viktor vincent vincenzo
    vinicius virginie vittoria viviane vladimir vojtech volker walburga walter waltraud wanda
    werner wieslawa wiktoria wilfried wilhelm willem willi william wilma wim wladyslaw wojciech
    wolfgang wouter xavier yannick yasmin yiannis yusuf yves yvette yvonne zacharie zbigniew
    zdenek zdenka zehra zeljko zeynep zoe zofia zoltan zoran zsuzsanna zuzana zuzanna
    """
)
FAMILY_NAMES = word_set(
    """
    abbott acosta adamczyk adams aguilar ahmed aigner albrecht alexander ali allen almeida
    alonso alvarez andersen anderson andersson araujo arnold arslan ashworth aslan auer aydin
    babic bachmann bailey bakker balogh baran barbieri barbosa barnes baumann baumgartner beck
    becker bell benedetti benes bengtsson bennett benoit berg berger bergmann bernard bertrand
    bianchi binder blanc blanchard bohm bonnet boyer brandl brandt braun brooks brouwer brun
    brunner bruno bryant buchner burger butler campbell cardoso caruso carvalho castillo castro
    celik cerny cetin chavez chen chevalier christensen claes clement colin collins colombo
    conti cooper coppola correia cortes costa cox cruz cunha dabrowski david davies davis dekker
    dias diaz dietrich dijk dijkstra dogan dominguez dordevic dubois ducrot dudek dufour dumitru
    dumont dupont durand dvorak ebner eder edwards egger eichhorn engel erdogan eriksen eriksson
    esposito evans fabbri fabre farkas fernandes fernandez ferrari ferraro ferreira fiala
    fiedler flores fontaine foster fournier frank franke freitas friedrich fritsch fuchs fuentes
    galli gallo garcia garnier gartner gauthier georgiou gerard gheorghe giordano girard gomes
    gomez goncalves gonzalez gorski graaf grabowski graf greco grimm gross gruber guerin guerra
    gunther gustafsson gutierrez haas hagen hahn hajek hall hamalainen hamilton hansen hansson
    harris hartmann haslinger haugen hauser heikkinen heinrich heinz helmer henderson hendriks
    henry herman hermann hernandez herrera herrmann hill hoekstra hofer hoffmann hofmann holzer
    horak horn horvat horvath howard huang huber hughes huisman hussain ibrahim ilic ionescu
    ivanov jablonski jacob jacobs jager jahn jakobsson janda jankowska jankowski jansen janssen
    jansson jarvinen jaworski jelinek jenkins jensen jimenez johansen johansson johnsen johnson
    johnston jones jonsson jovanovic juhasz jung juric kaczmarek kainz kaminska kaminski karlsen
    karlsson kaya keller kelly kennedy khan kilic kim kirchner klein knapp koc koenig kohler kok
    konecny konig korhonen koskinen koster kovac kovacic kovacs kowalczyk kowalski kozlowski
    kraft kral kraus krause krawczyk kristiansen krol krueger kruger kucera kuhn kuipers kumar
    kwiatkowski laine lambert lang lange larsen larsson laurent lechner lee leeuwen lefebvre
    lefevre legrand lehmann lehner leitner lemoine leon leroy lewandowski lewis li lin lindberg
    lindner lindstrom liu lombardi lombardo long lopes lopez lorenz lucas ludwig lutz maes
    magnusson maier majewski makela makinen malinowski mancini marchand marchetti marek mariani
    maric marini marino markovic marques martin martinelli martinez martini martins mathieu
    mayer mayr mazur medina meier meijer mendes mendez mendoza mercier meyer michalski miguel
    mitchell mohamed mohr molina molnar monteiro moore morales moreau moreira morel moreno
    moretti morgan morin morris moser mulder muller munteanu murphy murray myers nascimento
    navarro nelson nemec nemeth neubauer neumann nguyen nicolas nielsen nieminen nikolic nilsen
    nilsson noel novak novakovic novotny nowak nowicki nunes nunez obrien oconnor ojeda oliveira
    olofsson olsen olsson olszewski ortega ortiz otto ozdemir ozturk papadopoulos papp parisi
    paul pawlowski pedersen peeters pereira perez perret perrin petersen peterson petit petrov
    petrovic pettersen pettersson pfeiffer pham phillips pichler pietrzak pinto piotrowski pires
    pohl pokorny popa popescu popov pospisil postma powell prochazka ramirez ramos rasmussen
    reed reinhardt reiter reyes ribeiro ricci richard richardson richter riedl rinaldi rios
    rivera rizzo robert roberts robertson robin robinson roche rodrigues rodriguez rogers rojas
    romano romero ross rossi roth rousseau roussel roux roy rubio ruiz russo rusu rutkowski
    ruzicka ryan sahin sanchez sanders sandoval santos sauer schaefer schafer schenk scherer
    schiller schlegel schmid schmidt schmitt schmitz schneeberger scholz schouten schreiber
    schroder schroeder schubert schulte schulz schulze schuster schwab schwarz scott sedlacek
    seidel sikora silva simon simpson simsek singh smirnov smit smithson soares sommer sorensen
    soto sousa souza stein steiner stephens stepien stewart stocker stoica stojanovic strobl
    suarez sullivan svensson svoboda szabo szymanski takacs tanaka tavares teixeira thomas
    thompson torres toth tran turner ullrich urban valentini varga vargas vasquez vazquez
    veenstra vermeulen vesely vidal vieira vincent virtanen visser vitale vogel vogl vogler vogt
    volk vries wagner walczak wallner walter wang watson weber wegner weinberger weiss wenzel
    werner wieczorek wiesner willems williams wilson wimmer winkler winter wisniewska wisniewski
    witkowski wojciechowski wojcik wolf wolff wong wood woods wozniak wright wrobel wu wunsch
    yang yildirim yildiz yilmaz young zajac zang zhang zhao ziegler zielinska zielinski
    zimmermann zuniga
    """
)


def find(profile: Profile) -> Found | None:
    """Say what texts look like that identify people; None where they do not."""
    texts = profile.texts
    if not texts:
        return None
    for rule in (_form, _person, _address, _free_text, _code, _numbered, _unique):
        found = rule(profile, texts)
        if found is not None:
            return found
    return None


def _form(profile: Profile, texts: Sequence[str]) -> Found | None:
    form = common_form(texts)
    marked = sum(text[0] in "+0" for text in texts) > NAMES * len(texts)
    short = ("names of user accounts", "pseudonyms of people", INITIALS)
    weak = form in short or (form == "telephone numbers" and not marked)
    few = _FEWEST_NAMES if form == INITIALS else FEW
    if not form or (weak and not (profile.distinct > few or profile.about(Subject.CONTACT))):
        return None
    return Found(form, "its texts have this form")


def _person(profile: Profile, texts: Sequence[str]) -> Found | None:
    """Names of people, by common names or by the name of the variable."""
    lettered = [text for text in texts if not any(letter.isdigit() for letter in text)]
    if len(lettered) < NAMES * len(texts):
        return None
    return _words_of_people(profile, lettered)


def _words_of_people(profile: Profile, texts: Sequence[str]) -> Found | None:
    """Judge words without digits."""
    known = [_is_name(text) for text in texts]
    judged = [each for each in known if each is not None]
    common = sum(judged)
    if common >= _FEWEST_NAMES and common >= NAMES * len(judged):
        return Found("names of people", "many of its texts are common names")
    signed = sum(_SIGNED.fullmatch(text) is not None for text in texts)
    if signed > 0.8 * len(texts) and profile.distinct > _FEWEST_NAMES:
        return Found("names of people", "its texts are initials before a word", Confidence.MODERATE)
    lettered = sum(_CAPITALIZED.fullmatch(text) is not None for text in texts)
    if lettered < 0.8 * len(texts) or profile.words_each >= WORDY:
        return None
    if profile.words.is_explicit and profile.distinct > 2:
        return Found("names of people", "the variable is called so, and its texts are words")
    if profile.about(Subject.PERSON) and not profile.words.is_measure:
        many = profile.distinct > (FEW if profile.words.is_thing else _FEWEST_NAMES)
        sure = common >= _FEWEST_NAMES // 2 or not profile.words.is_thing
        often = profile.share > (NAMES if profile.words.is_thing else 0.02)
        if many and often and sure:
            return Found("names of people", "the variable is called so, and its texts are words")
    both = sum(" " in text and text.istitle() for text in texts)
    if profile.share > NAMES and profile.distinct > FEW and both > NAMES * len(texts):
        return Found(
            "names of people",
            "its texts are words with capital letters that rarely repeat",
            Confidence.MODERATE,
        )
    return None


def _is_name(text: str) -> bool | None:
    """True where a word is a common name; None for words too short to judge."""
    words = re.findall(r"[a-z]{2,}", plain_letters(text).lower())
    if not words or len(words) > 5:
        return None if not words else False
    return any(word in GIVEN_NAMES or word in FAMILY_NAMES for word in words)


def _address(profile: Profile, texts: Sequence[str]) -> Found | None:
    share = street_share(texts)
    named = profile.about(Subject.ADDRESS) and not profile.words.is_measure
    if share > 0.3 and profile.share > OFTEN_NEW / 3 and profile.distinct > FEW // 2:
        return Found("addresses", "its texts read like streets with numbers")
    if named and profile.distinct > FEW and profile.share > OFTEN_NEW / 3:
        return Found("addresses", "the variable is called so, and its texts often differ")
    return None


def _free_text(profile: Profile, texts: Sequence[str]) -> Found | None:
    """Sentences, also in a column of few of them."""
    named = profile.about(Subject.TEXT) and not profile.words.is_measure
    new = profile.share > (OFTEN_NEW if named else 0.5)
    wordy = profile.words_each >= (2.0 if named else WORDY)
    enough = profile.distinct >= (4 if named else 8)
    if new and wordy and enough:
        return Found("free text", "its texts have many words and rarely repeat")
    if profile.distinct > max(FEW, 0.1 * profile.known) and profile.words_each >= WORDY:
        return Found("free text", "its texts have many words and often differ")
    return None


def _code(profile: Profile, texts: Sequence[str]) -> Found | None:
    """Codes of one form, a new one for nearly every record."""
    if profile.integers is not None or profile.numbers is not None or profile.dates is not None:
        return None
    if profile.distinct <= FEW:
        return None
    shapes = Counter(_shape(text) for text in texts)
    shape, times = shapes.most_common(1)[0]
    digits = shape.count("9")
    one_form = times >= 0.6 * len(texts) and len(shape) >= _CODE_LETTERS and digits >= 3
    measured = re.fullmatch(r"[^9A]*9+[.,:/]9+([.,:/]9+)?[^9]*", shape) is not None
    numbered = profile.about(Subject.NUMBER, Subject.CONTACT, Subject.HOUSEHOLD, Subject.PLACE)
    if one_form and not measured and profile.share > (OFTEN_NEW / 3 if numbered else 0.5):
        sure = Confidence.HIGH if numbered else Confidence.MODERATE
        return Found("numbers of people or objects", "its codes have one form and differ", sure)
    return None


def _shape(text: str) -> str:
    """A text with 9 for each digit and A for each letter."""
    return "".join(
        "9" if letter.isdigit() else "A" if letter.isalpha() else letter for letter in text
    )


def _numbered(profile: Profile, texts: Sequence[str]) -> Found | None:
    """Texts that often differ in a variable that is called like numbers or contacts."""
    if profile.dates is not None or profile.words.is_measure or profile.numbers is not None:
        return None
    for subject in _SUBJECTS:
        if not profile.about(subject) or profile.distinct <= FEW:
            continue
        if subject is Subject.POSTCODE:
            sure = Confidence.MODERATE if profile.share > OFTEN_NEW else Confidence.LOW
        else:
            sure = Confidence.HIGH if profile.share > OFTEN_NEW / 3 else Confidence.LOW
        return Found(str(subject), "the variable is called so, and its texts often differ", sure)
    return None


def _unique(profile: Profile, texts: Sequence[str]) -> Found | None:
    if profile.numbers is not None or profile.dates is not None:
        return None
    quantity = sum(
        re.match(r"[<>~€$£]? ?-?\d+([.,]\d+)*( ?[\w%€$£/]+)?$", t) is not None for t in texts
    )
    clock = sum(re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", text) is not None for text in texts)
    if max(quantity, clock) > 0.6 * len(texts):
        return None
    if profile.distinct > FEW and profile.share > NEARLY_UNIQUE:
        return Found("names or numbers of people", "nearly every record has a value of its own")
    return None
