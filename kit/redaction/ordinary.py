"""Words that are no names: those of sentences about RocketMQ. A topic called `order` is replaced only where a topic is expected.

A list kept by hand, whatever the kit's own texts say: a word that is not in it is replaced wherever it is a name of the evidence, even in the middle
of a sentence. What a site might call its own (trades, hotel, customers) does not belong here.
"""

from __future__ import annotations

import re
from typing import Final

_ENGLISH: Final = """
a able aborted about above absent absurd accept acceptable accepted accepts access accord according accounted
acknowledged across act acted action actions active actual add added adding adds administrator advance advances
advancing after again against age ago agree ahead alarm aliases alike all allow allowed allows almost alone along
already also although always among amount an and anew another answer answered answering answers any anybody anyone
anything anyway anywhere apart appear appeared appears appending appends applies arbitrary archives are arise around
arrival arrivals arrive arrived arrives as aside ask asked asking asks assumed at attempted authors away axis back bad
badly band bar bars base based batches be bear because become becomes been before began begin beginning begins begun
behind being belief belong belongs below beside best better between beyond big birth bit bites bits blame block
blocked blocks bodies body both bottom bound bounds box brackets break breaks brew bring brings broke broken built
burn burns burst business busy but by call called caller calls came can cannot capture captures care careful carried
carries carry case cases catalogue catch catches catching caught cause caused causes certain certainly chain chance
change changed changes changing characters chart charts check checked checker checks choose chose chosen claim class
clean cleanly clear clears close closed code codes cold collection collections column columns come comes command
commands commas comment common commonest compare compared compares compensate compile complain complete compute
computed computes concerned condition confirm confirmed consider consistent consuming contain contained containers
contains content contents continue continues contradicts contributing control copied copies copy correct cost costs
could count counted counter counters counts course cover covered covers crashes create created creates creating
current cut damage damaged dashboard data date day days dead deadline deadlock decide decided decides deciding
decision decisions deduplicates deep default defaults delay delayed delays deleted deliver delivered deliveries
delivers delivery depend depends descend describe described detail details detect detection diagram did dies differ
difference different differently differs digit digits direction directly disagree disagrees disappear disappears
discard discarded discards distinct distributed distributions diverted diverts do document documented does doing done
double doubled doubles doubling doublings down draft drained draw drawn drill drop dropped drops dry due dumps
duplicate duplicated duplicates duplication during each earlier early edge effect effects eight either else elsewhere
empty enable enabled encrypted end ended ending ends enlarge enlarges enough entire entries entry equal error errors
even event events ever every everybody everything everywhere exact exactly examined examining example exceed exceeded
exceeds except exception exceptions exhausted exist exists expect expected explain explained explains explanation
explanations explicit explode expressions extended extension extensions fact fail failed failing fails failure
failures fall falling falls false far fast faster fate fault faults fed feeding feeds few fewer field fields fifty
figure figures file files fill filled filler fills final finally find finding findings finds fine finish finished
first fit fits fitted five fix fixed flag flat flood flows folder folders follow followed following follows for
forbidden form former forms forth found four free freed frequent fresh from front full further gap gaps garbage gave
general get gets give given gives go goes going gone good got granted great grew group groups grow growing grown grows
growth guess had half hand handed handle handled handlers handles hands handy happen happened happens hard harm
harmless has hash hashes have having hazard he header health healthy hears held help helps hence here hides high
higher highest hint hold holds hole host hosts hour hours how however idle if ignore ignored ignores illegal immunity
impact in incident incidents includes inconsistent inquiry inside install instance instances instead interval
intervals into invalid investigation invisible is issue issues it item items its itself jars join joined joins journey
just keep keeps kept kills kind kinds kit knew know knowing known knows labels lack lacks lags language large larger
largest last lasting late later latest lead leads leak leaked leaks learns least leave leaves ledgers left length
lengths less let lets letter letters level levels lie lies life like likely limit limits line lines link links list
listed listeners listens lists little live lives loader local lock log logarithmic logged logs long longer longest
look looked looking looks loopback loops lose loses losing loss lost low lower lowering lowest machine machines made
main maintenance majority make makes manifest many mark marked marks match matched matches matter may maybe me mean
meaning means meant meanwhile measure measured measures median medium member members memory mention mentioned met
middle might millisecond milliseconds mine minute minutes mismatch missed missing mistaken mistyped mitigate mode
model moment moments month months more most mostly move moved moves moving much multiplies multiply must my name named
names nanoseconds near nearer nearest nearly necessary need needed needless needs neighbour neighbouring neither never
nevertheless new newer newest next no nobody none nor normal normally not note notebook notebooks notes nothing
noticed now nowhere null number numbered numbers object odd of off offload often old older oldest on once one ones
only onto open opened opening option options or order ordered ordering orders ordinary original originals other others
otherwise our out outage outcome outdated outer outgrew outgrows outlasted outlasts outlives output outside over
overlap overridden overrides own page pages pair panels part parts pass passed passes past path paths patience
pause paused pauses per perhaps period perm permits physical pids pile pipe place placeholders placement places plain
plainly plan please plus point pointed points pop popped portions possible postmortem power practice prefer prefers
prepares present prevent prevented previous print printed prints private probably problem problems process processed
processes programmer proof proper properties property proposed protects proven pseudonym pseudonyms public pull pulled
pulls purpose push put puts queried question queue queued queues quick quickly quite quote quoted raise raised raising
ran random range ranges rank rare rate rates rather ratio ratios raw reach reached reaches read reading reads ready
real really reason reasons receive received receives recent reckon recognise recognised recognises record recorded
recording recordings records recovering reentrant reference references refusal refusals refuse refused refuses refutes
region rejected relative release released releases remain remained remaining remains remedy remembers remove removed
removes renewed repair repairs repeat repeated replace replaced replay replayed reply report reported reports reput
request requests require required resend resending resent reset resolution respond response rest restart restarted
result results return returned returns rewrite right rightly rise rising risk role roll rolls root round rounds row
rows rule ruled run running runs safe safer said same sample samples save saved saw say says scale scenario scenarios
schedule scheduled schema search searched searches second seconds secret secrets section sections see seem seems seen
sees self send sender senders sending sends sense sent separate separated separates separators sequence server servers
service sessions set sets setting settings several severity shaded shall share shared she short shorten shortened
shortens shorter shortest should show shown shows shrank shut shutting side sides sign silent silently similar simple
since single six size sizes skip skipped skips sleep slow slower slows small smaller smallest so some somebody someone
something sometimes somewhere soon sooner source space spaces speak speaks special speed spelling spent spin spite
split spread stacked stacks stage stages stall stalled stalls are standing is standstill standstills start
started starts state states stay stayed stays steal step stepped steps still stood stop stopped stops storage store
stored stores strongest stuck sub subscribes succeeded such suddenly suffix summary support supporting sure survived
surviving suspect suspected swallow swallowed switch switched switching symptom system table tables tag tags take
taken takes taking talks target task tasks tell tells terminal test tests text texts than that the their theirs them
themselves then there therefore these they thin thing things think third this those though thread threads three threw
through throughput throw thrown throws ticket tightest time timed timeline timer times timezone title to today
together told tolerate too took top topic topics topmost total totals touch toward trace traces track treat treats
tried tries trigger trouble true truncated truth try trying turn turns twice two type types typically unacknowledged
unchecked uncompressed unconsumed under undo unfilled unhandled unit units unknown unless unlike unpack unpacks unread
unregistered unseen until unused unwritten up update updated upgrade upper us usable usage use used useful useless
user users uses using usual usually valid value values verdict verdicts verify version versions very via view visible
wait waited waiting waits want wanted wants warn warning was watch way ways we weakest week weeks well went were what
whatever wheel when whenever where whether which whichever while who whoever whole whom whose why wide wider widest
will window windows with within without word words work worked worker workers works worst worth would writable write
writes writing written wrong wrongly wrote yes yesterday yet you your yours zero zone zones
"""
_TECHNICAL: Final = """
ack acked acks address addresses admin agent api app append appended application applications archive args array arrow async asynchronous atomic attempt
attempts auth available average background backlog backup batch benign binary bind blank bool boolean born broadcast broadcasting broker brokers buffer
buffers build bug bytes byte cache cached callback cell cells channel charset checkpoint chunk client clientid clients clock cluster clustering clusters
collect collected collector commit commitlog commits committed compress compressed compression concurrent concurrently config configuration connect
connected connecting connection connections constructor consume consumed consumequeue consumer consumergroup consumers consumes consumption container
context controller cookie corrupt coordinator core cores count crash cron csv database debug decode decoded deduplicate default delete demo deploy
deployment dev device directory dirty disconnect disk dispatch dispatched dlq domain driver dump dynamic element encode encoded endpoint engine entity env
environment evidence evict exchange execute executed executor exit expire expired expires exporter expression factory fallback fatal fetch fetched filter
filtered flow flush flushed flushes force forward frame framework gateway getter global grid handler hang hdd headless heap heartbeat heartbeats hex
hostname html http https id idempotent idempotently identity ids immutable import inactive index inner input insert instance int integer interface
internal interrupt interrupted invoke invoked io iostat ip jar java job jobs json jvm kernel key keys lag latency layout leader ledger lib library
limited listener load loaded locale lock locked locks logger logging logical login loop looping lookup mail manager mapping master maximum mechanism
message messageid messages meta metadata method metric metrics migrate minimum mirror monitor mq mqadmin msg msgid msgs multi mutex name namesrv
namespace native nested netty network node nodes notify offline offset offsets online op operation operator ops overload overloaded package packet parallel
parameter parameters parse parsed parser partition patch pending percent performance permission permissions persist pid ping pipeline plugin poll polling
pool port ports post prepared prod production producer producergroup producers profile program progress project protocol provider proxy publish
publisher query raft reader rebalance recall receiver reconsume recover recovered recovery redis reflect register registered registry reject remote
remoting replica replicas replication repository resource retries retry retried revision rmq rocketmq rollback rolled rolling router route routes script
scheduler select selector sequence serial serialize session setter setup shard shell shutdown signal simulated simulation skew slave slaves snapshot socket
spark spring sql ssd ssl stack standby static statistics stats status stream string strings subscribe subscribed subscriber subscription subscriptions
success successful swap symbolic sync synchronous syslog tail tcp template temporary timeout timeouts timestamp tls tmp token tool tools traffic transaction
transactional transactions transfer transient tx uid uniq unique unlock unreadable upload upstream uri url utf uuid vip virtual volume warm watermark web
weight worker workspace xml yaml
"""
_SYMBOLS: Final = """
128k 32k 64k b c d e g gb gib h i j k kb kib l m mb mib min ms n ns p p50 p90 p95 p99 q r s sec t tb us v v1 v2 v3 v4 v5 w x y z
utf8 utf16 ipv4 ipv6 sha1 sha256 md5 crc32 lz4 zstd zlib gzip log4j log4j2 int32 int64 iso8601 base64 http2 java8 java11 java17 java21 jdk8 jdk11 jdk17
"""
WORDS: Final = frozenset((_ENGLISH + _TECHNICAL + _SYMBOLS).split())
"""In lower case; a word counts in any case."""

_WORD: Final = re.compile(r"[A-Za-z0-9]+")

PUBLIC: Final = ("https://rocketmq.apache.org", "https://github.com/apache/", "https://spark.apache.org")
"""Addresses of the web that anybody's page may hold."""


def is_ordinary(name: str) -> bool:
    """Return whether it is an ordinary word (`order`, `Order`); `order-group` and `orderTopic` are names."""
    return (
        _WORD.fullmatch(name) is not None
        and name.lower() in WORDS
        and (name.islower() or name.isupper() or name.istitle() or name.isdigit())
    )


DATED: Final = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?|\d+(?:[.,]\d+)+"
)
"""Dates, times, amounts and releases: a key that looks like one is not taken for it in the middle of a text."""
SHORT: Final = 3
"""Characters from which a name is replaced wherever it is shown."""
NUMBER: Final = 10
"""Digits from which a number that is a key is replaced wherever it is shown; commitlog files are called by twenty."""


def is_ambiguous(name: str) -> bool:
    """Return whether a name is also something else: it is replaced only where a name or a key is expected, and searched for nowhere else."""
    number = name.isdigit() and (len(name) < NUMBER or len(name) == 20)
    return len(name) < SHORT or number or DATED.fullmatch(name) is not None or is_ordinary(name)
