"""Canaries of twenty kinds and more: whatever a log, a row, a name or a path may hold of a site and its people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import recorded

import kit
from kit.redaction import leaks, mentioned_names, ordinary
from kit.redaction import report as redacted
from kit.redaction.redactor import Redactor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLANTED = {
    "address": ("connect to <10.77.3.9:10911> failed", "10.77.3.9"),
    "address in the name of a host": ("route to ip-10-77-3-10.ec2.internal lost", "10-77-3-10"),
    "address as one number": ("peer 172819211 (10.77.3.11)", "172819211"),
    "number said to be an address": ("clientIp=172819213 refused", "172819213"),
    "address in hex": ("id 0A4D030C00002A9F0000000000001C7B from 10.77.3.12", "0A4D030C"),
    "long address": ("bound to [fd12:3456:789a::42]:9876", "fd12:3456:789a::42"),
    "network card": ("mac 3c:22:fb:8a:10:9e up", "3c:22:fb:8a:10:9e"),
    "host without dots": ("failover to mqcanary7 done", "mqcanary7"),
    "host after a word": ("java.net.UnknownHostException: canarydb", "canarydb"),
    "host with dots": ("resolved ns.canary-corp.com", "canary-corp"),
    "mail": ("mail to lin.wei@canary.example.org sent", "lin.wei@canary"),
    "telephone": ("sms to 13917720344 sent", "13917720344"),
    "telephone with signs": ("call +86 139-1772-0345 now", "139-1772-0345"),
    "identity card": ("certNo 310104198703124417 checked", "310104198703124417"),
    "bank card": ("charged 6222021001116245703 twice", "6222021001116245703"),
    "bank card in groups": ("card 4532 0151 1283 0366 declined", "4532 0151 1283 0366"),
    "bearer token": ("Authorization: Bearer mF_9.B5f-4.1JqM", "mF_9.B5f-4.1JqM"),
    "signed token": ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.s5Gn_canary used", "eyJzdWIiOiJjYW5hcnkifQ"),
    "access key": ("with LTAI5tCanary7hGq2 signed", "LTAI5tCanary7hGq2"),
    "secret in JSON": ('acl {"secretKey": "canary s3cret/7+"}', "s3cret/7+"),
    "secret in XML": ("<secretKey>canary-s3cret-8</secretKey>", "canary-s3cret-8"),
    "password in settings": ("spring.datasource.password=canary!pw9", "canary!pw9"),
    "password in an address of the web": ("jdbc:mysql://app:canarypw@dbcanary1:3306/shop", "canarypw"),
    "body of several words": ("body=Dear Ms Canary please deliver to Lane 5, queueId=3", "Ms Canary please"),
    "body as JSON": ('payload: {"buyer": {"name": "Canary Bird"}} sent', "Canary Bird"),
    "body in a field": ('{"body": "canary bird seed", "tags": "A"}', "canary bird seed"),
    "topic": ("topic=canary_topic_x not found", "canary_topic_x"),
    "group": ("consumerGroup=CANARY-GROUP paused", "CANARY-GROUP"),
    "business key": ("keys=CANARY20260017 stored", "CANARY20260017"),
    "client": ("instanceName=canary-east-3 up", "canary-east-3"),
    "package": ("at com.canarycorp.pay.Listener.run", "canarycorp"),
    "path": ("wrote /home/canaryli/dump.hprof", "canaryli"),
    "long address as Java prints it": ("from /fd12:3456:789a:0:0:0:0:43:51234 accepted", "fd12:3456:789a"),
    "short long address with a port": ("from /fd12:3456:789b::43:51234 accepted", "fd12:3456:789b"),
    "password in an address of Oracle": (
        "jdbc:oracle:thin:canaryuser/CanaryPw!three@//dbcanary3:1521/shop",
        "CanaryPw!three",
    ),
    "user in an address of Oracle": ("jdbc:oracle:thin:canaryuser/CanaryPw!three@dbcanary3:1521:shop", "canaryuser"),
    "password in an address of Postgres": ("postgresql://app:CanaryPw!four@dbcanary4/shop open", "CanaryPw!four"),
    "password in an address of AMQP": ("amqp://app:canary,CanaryPwFive@dbcanary5:5672/%2f open", "CanaryPwFive"),
    "password as an option": ("java -jar x.jar --password CanaryPw!six --x y", "CanaryPw!six"),
    "password in a list": ('args ["--db-password", "CanaryPw!seven", "-x"]', "CanaryPw!seven"),
    "user and password": ("curl -s -u canary:CanaryPw!eight localhost", "CanaryPw!eight"),
    "password of mysql": ("mysql -uroot -pCanaryPw!nine shop", "CanaryPw!nine"),
    "secret key by its short name": ("ak=canaryak sk=CanarySk+nine region=a", "CanarySk+nine"),
    "pod": ("pod canary-svc-7d9f8b6c5d-x2x7k restarted", "canary-svc"),
    "pod of a set": ("lost mq-canary-0 again", "mq-canary-0"),
    "container": ("hostname 3f2a9c1b7e4d changed", "3f2a9c1b7e4d"),
    "order in JSON": ('got {"orderId":"canary20261120"} now', "canary20261120"),
    "order as a number in JSON": ('got {"orderId":9820261120,"a":1} now', "9820261120"),
    "order after a colon": ("orderNo: CN-20261121 paid", "CN-20261121"),
    "telephone in Chinese": ("手机号13917720345元，已扣", "13917720345"),
    "telephone with a sign in Chinese": ("联系电话：139-1772-0346。", "139-1772-0346"),
    "identity card in Chinese": ("身份证310104198703124418号已核验", "310104198703124418"),
    "bank card in Chinese": ("卡号6222021001116245704扣款", "6222021001116245704"),
    "mail in Chinese": ("邮箱lin.wei2@canary.example.org已通知", "lin.wei2@canary"),
    "mail of digits": ("邮箱88123456@canarymail.com已通知", "88123456@canarymail"),
    "password in Chinese": ("密码：CanaryPw!ten，已重置", "CanaryPw!ten"),
    "password in a Chinese sentence": ("数据库口令为CanaryPw!el", "CanaryPw!el"),
    "order in Chinese": ("订单号：CN20261122，已支付", "CN20261122"),
    "order without a sign": ("订单号CN20261123 已支付", "CN20261123"),
    "address in Chinese": ("地址fd12:3456:789c::44不可达，主机10.77.3.19超时", "fd12:3456:789c::44"),
    "host in Chinese": ("主机mqcanary8已切换", "mqcanary8"),
    "host with dots in Chinese": ("访问ns.canary-corp2.com失败", "canary-corp2"),
    "topic in Chinese": ("主题topic=canary_topic_y不存在", "canary_topic_y"),
    "body in Chinese": ("消息体：请送到金丝雀路五号, queueId=3", "金丝雀路"),
    "package in Chinese": ("类com.canarycorp2.pay.Listener异常", "canarycorp2"),
    "token in Chinese": ("令牌eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkyIn0.s5Gn_canary失效", "eyJzdWIiOiJjYW5hcnkyIn0"),
    "password of Redis": ("requirepass CanaryPw11", "CanaryPw11"),
    "password in SQL": ("create user x identified by 'CanaryPw12'", "CanaryPw12"),
    "password behind a blank": ("login with password CanaryPw13 refused", "CanaryPw13"),
    "signature of an address of the web": ("GET /x?se=1&sig=CanarySig14%3D done", "CanarySig14"),
    "access key with a blank": ("ACCESS KEY: canary15ak used", "canary15ak"),
    "account of a chat": ("微信号canary_wx21已绑定", "canary_wx21"),
    "account of digits": ("QQ：2199887722 已绑定", "2199887722"),
    "user by id": ("userId: 9988776636 locked", "9988776636"),
    "person": ("收货人：金丝雀 已签收", "金丝雀"),
    "person in English": ('got {"receiverName": "Kanarie", "n": 1}', "Kanarie"),
    "home": ("收货地址：上海市金丝雀路五号 已确认", "金丝雀路"),
    "plate": ("车牌京A·C1234K 进场", "C1234K"),
    "passport": ("护照E12345678 已核验", "E12345678"),
    "company": ("统一社会信用代码91310000CANARY1X28 有效", "91310000CANARY1X28"),
    "account of a bank": ("IBAN DE89370400440532013061 charged", "DE89370400440532013061"),
    "social security": ("SSN 123-45-6762 checked", "123-45-6762"),
    "mail with a domain in Chinese": ("发给金丝雀@公司.cn 了", "金丝雀@公司"),
    "wide digits": ("手机１３８００１３８０８４ 已绑定", "１３８００１３８０８４"),
    "path of the web": ("read file:///home/canary42/a.txt now", "canary42"),
    "bucket": ("put s3://canary-bucket-44/x now", "canary-bucket-44"),
    "share": ("open \\\\canary43srv\\share\\x now", "canary43srv"),
    "network card of a switch": ("mac 3c22.fb8a.1059 up", "3c22.fb8a.1059"),
    "host of two parts": ("nacos canary49.internal lost", "canary49"),
    "host of two parts in Chinese": ("访问canary50.com失败", "canary50"),
}
SEEN = (
    "long address",
    "Oracle",
    "Postgres",
    "AMQP",
    "option",
    "user and",
    "short name",
    "pod",
    "order",
    "Chinese",
    "digits",
    "of Redis",
    "in SQL",
    "signature",
    "passport",
    "social",
    "company",
    "account of a bank",
)
"""Kinds that the check knows by their form."""
UNSEEN = ("set", "sentence", "host", "topic", "body", "package", "number in JSON")


def redactor() -> Redactor:
    """A redactor that knows what `kit.redaction.names` learns from texts alone."""
    texts = [line for line, _ in PLANTED.values()]
    return Redactor(b"salt", dict(mentioned_names.names(texts)), mentioned_names.addresses(texts))


@pytest.mark.parametrize("kind", PLANTED)
def test_every_kind_is_replaced_and_the_rest_of_the_line_stays(kind: str) -> None:
    line, canary = PLANTED[kind]
    new = redactor().text(f"2026-11-20 15:09:22.955 WARN {line} (code 2, queueOffset=13958643712)")
    assert canary not in new
    assert new.startswith("2026-11-20 15:09:22.955 WARN ") and new.endswith("(code 2, queueOffset=13958643712)")


@pytest.mark.parametrize("kind", PLANTED)
def test_the_check_sees_forms_of_its_own_and_nothing_in_what_was_redacted(kind: str) -> None:
    line, nothing = PLANTED[kind][0], leaks.Originals(frozenset(), frozenset())
    made = redactor()
    assert leaks.leak(made.text(line), nothing, made.is_pseudonym) is None
    if any(part in kind for part in SEEN) and not any(part in kind for part in UNSEEN):
        assert leaks.leak(line, nothing) is not None


@pytest.mark.parametrize("kind", PLANTED)
def test_no_place_keeps_a_canary(kind: str) -> None:
    line, canary = PLANTED[kind]
    made = redactor()
    told = made.value(
        {
            "table": {"columns": [{"name": "text"}], "rows": [[line]]},
            line: {"buyer": [line, {"note": f"日志{line}"}]},
            "body": f"body={line}",
            "file": made.path(f"logs/{line}.log"),
        }
    )
    assert canary not in json.dumps(told, ensure_ascii=False)


def test_a_name_with_a_backslash_is_replaced_in_a_path() -> None:
    made = Redactor(b"salt", {"canary\\'; --": "topic"})
    new = made.path("store/consumequeue/canary\\'; --/0/00000000000000000000")
    assert "canary" not in new and new.startswith("store/consumequeue/") and new.endswith("/0/00000000000000000000")
    assert "canary" not in made.path("C:\\data\\canary-host\\store\\x.log")


def test_ordinary_numbers_and_sentences_stay() -> None:
    made = redactor()
    for text in (
        "offset 13958643712 of 1763651362955 at 00000000013958643712, 1763651362955123 us, 9 ns",
        "maxOffset=13958643712, commitLogOffset: 13812345678, took 13812 ms",
        "body size 4096, the body exceeds the limit; token bucket, secret of success, 4.6.1, 127.0.0.1:9876",
        "index 20261120150922955 rolled, thread ConsumeMessageThread_1, pool-1-thread-17, http-nio-8080-exec-3",
        "2026-11-20 15:09:22,955 INFO lz4 utf8 log4j2 sha256 p99",
        "最大偏移量为13958643712，位点13958643712，写入13812345678字节，耗时13812毫秒，密码是否正确",
        "disk=8 task=5 -u 7 --passwords; breaks: 3, order: 4 paid, topic-a 12:30:45:123",
        "userId: null, userIds 5, the password of 12 users, java.net and java.io, 2026-11-20 10:00:00.123-456",
        "给客户端配置其账号的密钥；账号存在，但主题或组的权限不允许；用户名，并用其密码签名；看该账号的 defaultTopicPerm",
    ):
        assert made.text(text) == text
    assert dict(mentioned_names.names(["pool-1-thread-17 lz4 utf8 log4j2 queue3 deadbeef12 a.b7 store0 level18"])) == {}


def test_what_is_ordinary_is_a_list_of_its_own() -> None:
    assert ordinary.is_ordinary("order") and ordinary.is_ordinary("Order") and ordinary.is_ordinary("ORDER")
    sites = ("trade-order", "orderTopic", "hotel", "shop", "acme", "PAID", "payment", "umbrella", "canary")
    assert not [name for name in sites if ordinary.is_ambiguous(name)]
    assert redactor().names.keys().isdisjoint(ordinary.WORDS)


@pytest.mark.recordings
@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    [
        "transaction-consistency",
        "half-topic-blowup",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("broker-unreachable", "duplicate-client-id", "message-identity")
        ),
    ],
)
def test_no_canary_is_in_any_file_of_a_redacted_report(spark: SparkSession, tmp_path: Path, name: str) -> None:
    evidence = recorded.unpack(name, tmp_path / "canaryfolder")
    lines = [line for line, _ in PLANTED.values()]
    for number, log in enumerate(sorted(evidence.rglob("*.log"))):
        said = log.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        new = [
            f"{text} {lines[n % len(lines)]}" if text.strip() and not text[0].isspace() else text
            for n, text in enumerate(said)
        ]
        log.write_text("\n".join(new), encoding="utf-8", errors="surrogateescape")
        log.rename(log.with_name(f"主机canaryhost{number}手机13917720345-{log.name}"))
    for table in evidence.rglob("*.csv"):
        head, *rows = table.read_text(encoding="utf-8").splitlines()
        quoted = [line.replace('"', '""') for line in lines]
        made = [f'{row},Canary Wei {n},13917720{n % 1000:03},"{quoted[n % len(lines)]}"' for n, row in enumerate(rows)]
        table.write_text("\n".join([f"{head},buyer,phone,备注", *made]) + "\n", encoding="utf-8")
    (evidence / "notes.txt").write_text(
        "".join(f"2026-11-20 15:09:22,955 WARN x - {line}\n" for line in lines), encoding="utf-8"
    )
    case = kit.open_case(evidence, tmp_path / "cache")
    plain = kit.triage(case)
    redacted.run(case, tmp_path / "out")
    canaries = {*(canary for _, canary in PLANTED.values()), "Canary Wei", "canaryfolder", "canaryhost", "1391772"}
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not [canary for canary in canaries if canary in text], path
    told = json.loads((tmp_path / "out" / "findings.json").read_text(encoding="utf-8"))
    assert told["root_causes"] == plain["root_causes"] and name in plain["root_causes"]
    # The canaries were there to be found.
    assert sum(canary in json.dumps(plain, ensure_ascii=False) for canary in canaries) >= 3
