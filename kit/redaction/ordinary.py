"""Words that are nobody's name: what a sentence about RocketMQ is made of. A topic called `order` is replaced only where a topic is expected.

A list kept by hand, whatever the kit's own texts say: a word that is not in it is replaced wherever it is a name of the evidence, even in the middle
of a sentence. What a site might call its own (trades, hotel, points) does not belong here.
"""

from __future__ import annotations

import re
from typing import Final

_ENGLISH: Final = """
a able about above absent accept accepted accepts according across act action actions active actual add added adding adds advance advances after again
against age ago agree ahead alike all allow allowed allows almost alone along already also although always among amount an and anew another answer answered
answers any anyone anything anyway anywhere apart appear appeared appears are arise around arrival arrive arrived arrives as aside ask asked asks at away
back bad badly bar bars base based be because become becomes been before began begin beginning begins behind being below beside best better between beyond
big block blocked blocks body both bottom bound box break breaks bring brings broken built busy but by call called caller calls came can cannot care
careful carries carry case cases catch caught cause caused causes certain chain chance change changed changes chart check checked checks choose claim class
clean clear clears close closed code column columns come comes command commands comment common compare compared complete concerned condition confirmed
consider consistent contain contained contains content continue control copied copies copy correct cost could count counted counter counts cover covered
covers create created creates current cut damaged data date day days dead decide decided decides decision deep default defaults delay delayed deleted
deliver delivered delivers delivery depend depends describe described detail details did differ difference different digit digits disagree discard
discarded do document documented does done double doubled doubles doubling down draw drawn drop dropped drops due duplicate duplicated during each earlier
early edge effect either else empty enable enabled end ended ending ends enough entire entries entry equal error errors even event events ever every
everybody everything everywhere exact exactly example exceed exceeded exceeds except exception exceptions exist exists expect expected explain explained
explains fact fail failed failing fails failure failures fall falls false far fast fate fault faults few fewer field fields figure figures file files fill
filled filler final finally find finds fine finish finished first fit fits fix fixed flag folder folders follow followed following follows for forbidden
form former forms found four free freed fresh from full further gap gaps gave general get gets give given gives go goes going gone good got great group
groups grow growing grown grows growth had half hand handle handled handles happen happened happens hard harmless has hash have having hazard he header
healthy held help helps hence here high higher highest hold holds host hosts hour hours how however idle if ignored impact in inside instance instances
instead interval into invalid is it item items its itself join joined joins just keep keeps kept kind kinds knew know known knows lack lacks large larger
largest last late later latest lead leads leak leaked leaks least leave leaves left length less let letter letters level levels lie lies life like likely
limit limits line lines link list listed lists little live local lock log logged logs long longer longest look looked looks lose lost low lower lowest made
main make makes many mark marked marks match matched matches matter may maybe me mean meaning means meant measure measured median member memory mention
mentioned met middle might millisecond milliseconds mine minute minutes missing mode model moment month more most mostly move moved moves much must my name
named names near nearly necessary need needed needs neither never new newer newest next no nobody none nor normal not note notes nothing now nowhere null
number numbers object odd of off often old older oldest on once one ones only onto open opened option options or order ordered ordinary original other
others otherwise our out outcome output outside over own page pages pair part parts pass passed passes past path paths pause per perhaps period physical
place places plain please point pointed points possible power prefer present previous print printed prints private probably problem problems process
processes proof proper properties property public pull pulled pulls purpose push put puts question queue queued queues quick quickly quite quote quoted
raise raised ran random range ranges rank rare rate rather raw reach reached reaches read reads ready real really reason reasons receive received receives
recent recognised record recorded records reference references refusal refusals refuse refused refuses region rejected relative release released releases
remain remaining remains remedy remove removed removes repeat repeated replace replaced reply report reported reports request requests require required
resend resent reset respond response rest restart restarted result results return returned returns right risk role root round rounds row rows rule ruled
run running runs safe said same save saved saw say says scale schedule scheduled schema search second seconds section see seem seems seen sees self send
sender senders sending sends sense sent separate sequence server servers service set sets setting settings several shall share shared she short shortened
shorter should show shown shows shut side sides sign silent silently similar simple since single six size sizes skip skipped slow slower small smaller
smallest so some somebody someone something sometimes somewhere soon sooner source space special split spread stage stall stalled start started starts
state states stay stays step steps still stop stopped stops storage store stored stores such suddenly summary support sure suspected switch symptom system
table tables tag tags take taken takes target task tasks tell tells test tests text texts than that the their them then there therefore these they thing
things think third this those though thread threads three threw through throw thrown throws time timed timer times title to today together told too took
top topic topics total touch toward trace traces track tried tries true truncated try trying turn twice two type types under undo unit units unknown
unless unlike unread until unused up update updated upper us usage use used useful user users uses using usual usually valid value values verdict verify
version versions very via view visible wait waited waiting waits want wanted wants warn warning was watch way ways we week weeks well went were what
whatever when whenever where whether which while who whole whom whose why wide will window windows with within without word words work worked worker
workers works would write writes writing written wrong wrote yes yesterday yet you your zero zone zones
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
    """Tell a word of any sentence (`order`, `Order`); `order-group` and `orderTopic` are names."""
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
    """Tell names that are also something else: they are replaced only where a name or a key is expected, and looked for nowhere else."""
    number = name.isdigit() and (len(name) < NUMBER or len(name) == 20)
    return len(name) < SHORT or number or DATED.fullmatch(name) is not None or is_ordinary(name)
