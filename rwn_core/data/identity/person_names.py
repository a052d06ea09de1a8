"""Common given and family names of several languages, without accents, for comparison only.

A name that is also an occupation, a color or a city is in neither list, being no evidence.
"""

from __future__ import annotations

from rwn_core.data.identity.word_set import word_set

GIVEN_NAMES = word_set(
    """
    aaron abdul abdullah achim adam adele adrian agata agnes agnieszka ahmad ahmed aisha alain
    alan albert alberto alejandro alessandro alessia alex alexander alexandra alexandre alfred
    ali alice alicja alina aline amanda amelia amelie amina amir amy ana anais andre andrea
    andreas andrei andres andrew angela angelika anita anja anke ann anna anne annette annie
    antje antoine anton antonia antonio arne arthur astrid aurelie ayse barbara bartosz beata
    beate beatrice ben benedikt benjamin bernadette bernard bernd bernhard betty bianca birgit
    bjorn bob boris brandon brenda brian brigitte britta bruno camille carina carl carla carlos
    carmen carol carolin caroline carolyn caspar catherine cecile celine chantal charles chiara
    chloe chris christa christian christiane christina christine christoph christophe
    christopher claire clara claudia claudio claus clemens clement colette cornelia cristina
    cynthia dagmar damien daniel daniela daniele danielle daria david deborah denis denise
    dennis diana diane diego dieter dirk dmitri dominik dominique donald donna doris dorothea
    dorothee dorothy edith eduard eduardo edward elena eleni elfriede elias elif elisa elisabeth
    elise elizabeth elke ella ellen elodie elsa emanuel emil emilia emilie emily emine emma
    emmanuel enrico eric erica erich erik erika ernst erwin esra esther eugen eva evelyn ewa
    fabian fabien fabio fatima fatma federica federico felix ferdinand fernando filip finn
    florian francesca francesco francine francis francisco francois francoise frank frankie
    franz franziska fred frederic frederik friedrich fritz gabriel gabriela gabriele gabrielle
    gary geoffrey georg george georges gerald gerard gerd gerda gerhard gertrud gilles giorgio
    giovanni giulia giuseppe gloria gottfried grace greta grzegorz guido guillaume gunter
    gunther gustav hakan hanna hannah hannes hans harald harry hasan hassan heather heike heiko
    heinrich heinz helen helena helene helga helmut henri henriette henrik henry herbert hermann
    hilde hildegard holger horst hubert hugo hussein ibrahim ida ilona ilse ines inga inge
    ingeborg ingo ingrid irene iris irina irma isabel isabella isabelle ivan jack jacek jacob
    jacqueline jacques jakob jakub james jan jana jane janet janine jasmin jason javier jean
    jeanne jeff jeffrey jennifer jens jeremy jerome jerry jessica jim joan joanna joao jochen
    joel joelle joerg johan johann johanna johannes john jonas jonathan jorg jorge jose josef
    josefine joseph joshua josiane juan judith julia julian juliane julie julien juliette jurgen
    justin justine jutta karen karim karin karina karl karla karolina katarzyna kate katharina
    katherine kathleen kathrin kathryn katja katrin kay keith kelly kenneth kerstin kevin
    khadija kilian kim kirsten klaus konrad konstantin krzysztof kurt kyle lars larissa larry
    laszlo laura laure laurence laurent lea leah leo leon leonard leonie leopold lena lennart
    liam lidia lilly lily lina linda linus lisa livia lorenz lorenzo lothar louis louise luc
    luca lucas lucia lucie lucy ludwig luis luisa luise lukas lutz lydia maciej magdalena
    mahmoud maja malgorzata malte manfred manon manuel manuela marc marcel marco marcin marcus
    margaret margarete margit margot maria marianne marie mariam mario marion maritta mark marko
    markus marlene marta martha martin martina martine mary maryam mateusz mathias mathieu
    mathilde matteo matthew matthias matthieu maurice maurizio max maxime maximilian mehmet
    melanie melissa mercedes mia michael michaela michal michel michele michelle miguel mika
    mike mila milan mirjam mohamed mohammad mohammed monica monika monique moritz muhammad murat
    mustafa nadia nadine nadja nancy natalia natalie nathalie nathan nele nicholas nick nico
    nicola nicolas nicole niklas nikola nils nina noah noel noemi nora norbert oksana ole olga
    olivia oliver olivier omar oscar oskar osman ottilie otto pablo pamela paola paolo pascal
    patricia patrick patrizia patryk paul paula paulina pauline pawel pedro peggy peter petra
    philip philipp philippe phillip pia pierre piotr rachel rafael raimund rainer ralf ralph
    ramona raphael raymond rebecca regina regine reiner reinhard reinhold rembert renate rene
    ricarda ricardo richard robert roberta roberto rodolphe roger roland rolf romain roman
    ronald rosa rosemarie rosi roswitha rudolf rupert ruth ryan sabine sabrina sally salma sam
    samantha samira samuel sandra sandrine sandro sara sarah sascha scott sean sebastian selina
    selma serge sergei sergio severin sharon shirley sibylle siegfried sigrid silke silvia simon
    simona simone sina sofia sofie solange sonia sonja sophia sophie stefan stefanie stefano
    stella stephan stephane stephanie stephen steve steven susan susanna susanne suzanne sven
    svenja svetlana sylvia sylvie tamara tanja tatiana tatjana theo theodor theresa therese
    theresia thierry thomas thorsten tiago till tim timo timothy tina tobias tom tomas tomasz
    torsten udo ulla ulrich ulrike ursula usman ute uwe valentin valentina valerie vanessa vera
    verena veronika veronique vincent viktor virginie viviane vladimir volker walburga walter
    waltraud wanda werner wilfried wilhelm willi william wolfgang xavier yannick yasmin yusuf
    yves yvonne yvette zacharie zeynep zofia zoe zuzana
    """
)

FAMILY_NAMES = word_set(
    """
    abbott acosta adams aguilar ahmed alexander ali allen almeida alonso alvarez andersen
    anderson andersson aigner albrecht arnold ashworth auer bachmann bailey barnes baumann
    baumgartner becker bell beck benedetti bennett benoit berg berger bergmann bernard bertrand
    bianchi binder blanc blanchard bohm bonnet boyer brandl brandt braun brooks brun brunner
    bruno bryant buchner burger butler campbell caruso castillo castro chavez chen chevalier
    clement colin collins colombo conti cooper cortes costa cox cruz cunha david davies davis
    diaz dias diaz dietrich dogan dominguez dubois ducrot dufour dumont dupont durand ebner eder
    edwards egger eichhorn engel erdogan eriksson esposito evans fabre fernandes fernandez
    ferrari ferreira fiala fiedler flores fontaine foster fournier frank franke freitas
    friedrich fritsch fuchs fuentes gallo garcia garnier gartner gauthier gerard giordano girard
    gomez gomes gonzalez goncalves graf greco gruber grimm gross guerin guerra gunther gutierrez
    haas hahn hall hamilton hansen hansson harris hartmann haslinger hauser heinrich heinz
    helmer henderson henry herman hermann hernandez herrmann herrera hill hofer hoffmann hofmann
    holzer horn horvath howard huang huber hughes hussain ibrahim ivanov jacob jacobs jahn jager
    janda janssen jansen jansson jenkins jensen jimenez jovanovic johansson johnson johnston
    jones jung kaczmarek kainz kaminski karlsson kaya keller kelly kennedy khan kim kirchner
    klein knapp koenig kohler konig konecny kovac kovacs kowalski kozlowski kraft kraus krause
    krueger kruger kuhn kumar laine lambert lang lange larsen larsson laurent lechner lee
    lefebvre lefevre legrand lehmann lehner leitner lemoine leon leroy lewandowski lewis li
    lindner lin liu lombardi long lopes lopez lorenz lucas ludwig lutz maier marchand mariani
    marino marques martin martinelli martinez martins mathieu mayer mayr mazur medina meier
    mendes mendez mendoza mercier meyer miguel mitchell mohamed mohr molina moore morales moreau
    morel moreno moretti morgan morin morris moser muller murphy murray myers navarro nelson
    neubauer neumann nguyen nicolas nielsen nikolic nilsson noel novak nowak nunez nunes obrien
    oconnor ojeda oliveira olsen olsson ortega ortiz otto ozturk paul pedersen pereira perez
    perret perrin petersen peterson petit petrov petrovic pfeiffer pham phillips pichler pinto
    pires piotrowski pohl pokorny popescu popov powell prochazka ramirez ramos rasmussen reed
    reinhardt reiter reyes ricci richard richardson richter riedl rinaldi rios rivera rizzo
    robert roberts robertson robin robinson roche rodrigues rodriguez rogers rojas romano romero
    ross rossi roth rousseau roussel roux roy rubio ruiz russo ryan sahin sanchez sanders
    sandoval santos sauer schafer schaefer schenk scherer schiller schlegel schmid schmidt
    schmitt schmitz schneeberger scholz schreiber schroder schroeder schubert schulz schulze
    schulte schuster schwab schwarz scott seidel silva simon simpson singh smirnov smithson
    soares sommer soto sousa sorensen stein steiner stephens stewart stocker strobl sullivan
    suarez svensson szabo takacs tanaka teixeira thomas thompson torres toth tran turner ullrich
    urban vargas varga vasquez vazquez vidal vieira vincent virtanen vogel vogl vogt volk vogler
    wagner wallner walter wang watson weber wegner weinberger weiss wenzel werner wiesner wilson
    williams wimmer winkler winter wojcik wolf wolff wong wood woods wright wu wunsch yang
    yilmaz young zang zhang zhao ziegler zielinski zimmermann zuniga
    """
)
