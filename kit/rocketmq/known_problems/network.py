"""Known problems of connections: Netty, TLS, time-outs, protocol."""

from __future__ import annotations

from typing import Final

from kit.i18n import T
from kit.rocketmq.known_problems.problem import Problem, problem

PROBLEMS: Final[tuple[Problem, ...]] = (
    problem(
        "connect-failed",
        T("A connection to a broker cannot be made"),
        (
            "createChannel: connect remote host[",
            "RemotingConnectException: connect to",
            "Get and create channel of {} failed",
            "createChannel: create channel exception",
        ),
        T(
            "The address cannot be reached from this host. Broker addresses come from the route: each broker advertises brokerIP1, which may be an inner address (container, second network card)."
        ),
        T("Which address is printed, and can this host reach it? Compare brokerIP1 with what clusterList shows."),
        "remoting/netty/NettyRemotingClient.createChannel",
        cause="broker-unreachable",
        verdict="suspected",
        decides=T(
            "An address of another network (172.17…, 127.0.0.1): brokerIP1. The right address: port, firewall, process down; listenPort − 2 (10909) belongs to the VIP channel."
        ),
    ),
    problem(
        "request-timeout",
        T("A request got no answer in time"),
        (
            "wait response on the channel <",
            "wait response timeout exception, the channel[",
            "close socket because of timeout",
            "wait response from {} timeout",
            "wait response timeout",
            "RemotingTimeoutException",
        ),
        T(
            "The request was sent and no answer came within its limit: the other side is slow, paused or gone, or the answer was lost. A send may have been stored."
        ),
        T("Which peer, and what did it do at that time (its GC, flow control, disk)?"),
        "remoting/netty/NettyRemotingAbstract.invokeSyncImpl",
        cause="client-timeout",
        verdict="suspected",
        unlike=T("a broker that refuses answers at once: a time-out is no flow control"),
    ),
    problem(
        "late-answer",
        T("An answer came after its request had been given up"),
        ("but not matched any request",),
        T(
            "The other side answered later than the time-out. Code 0 of a send means that the message was stored although the caller saw a time-out."
        ),
        T("code and extFields of the printed command; msgId there is the offset id of what was stored."),
        "remoting/netty/NettyRemotingAbstract.processResponseCommand",
        remedy=T("Raise sendMsgTimeout above the slow answers or find out why they are slow."),
        risk=T("Sending again after such a time-out stores the message twice."),
        verdict="suspected",
        least=5,
    ),
    problem(
        "send-request-failed",
        T("A request could not be written to its connection"),
        (
            "RemotingSendRequestException",
            "send a request command to channel <",
            "Failed to write a request command to",
            "send request exception, so close the channel",
            "Failed to write response[request code",
            "process request over, but response failed",
        ),
        T("The connection broke or its outgoing buffer is full. Requests are tried again by the caller's own rule."),
        T("Which peer; did it close the connection, or does it not read?"),
        "remoting/netty/NettyRemotingAbstract",
        remedy=T("Look at the peer's log at that second."),
        risk=T("None."),
        verdict="suspected",
        least=10,
        lasts=60.0,
        unlike=T("a few when a process stops are normal"),
    ),
    problem(
        "channel-trouble",
        T("Connections break or stay idle"),
        (
            "NETTY SERVER PIPELINE: IDLE exception",
            "NETTY CLIENT PIPELINE: IDLE exception",
            "NETTY SERVER PIPELINE: exceptionCaught",
            "NETTY CLIENT PIPELINE: exceptionCaught",
            "Connection reset by peer",
            "Broken pipe",
            "远程主机强迫关闭了一个现有的连接",
        ),
        T("A connection was idle for 120 s or was reset by the other side."),
        T(
            "Which address, how often? Port scanners, health checks and load balancers on 9876 or 10911 leave such lines too."
        ),
        "remoting/netty/NettyRemotingServer, NettyRemotingClient",
        remedy=T("Nothing for single ones; take RocketMQ ports out of generic health checks."),
        risk=T("None."),
        verdict="suspected",
        least=50,
        lasts=120.0,
        unlike=T("a client that ends leaves one of them"),
    ),
    problem(
        "answer-undeliverable",
        T("Answers find no client"),
        ("processRequestWrapper response to", "Failed to write response[request code:"),
        T(
            "The client had closed its connection before the broker answered. Where it stopped, that was a waiting pull; a send answered 0 is stored."
        ),
        T(
            "Which clients, and do they stop? If they run on: their time-outs, their network and load balancers between."
        ),
        "remoting/netty/NettyRemotingAbstract",
        remedy=T("Find out why clients that run on close their connections; handle what they sent as unknown."),
        risk=T("None."),
        verdict="suspected",
        passing=("response-lost",),
        unlike=T("a client that stops leaves one for each waiting pull"),
        example="processRequestWrapper response to /10.20.29.21:35364 failed",
    ),
    problem(
        "event-queue-full",
        T("Connection events were dropped"),
        ("so drop this event", "event queue size[{}] enough"),
        T(
            "More than 10,000 connection events wait; further ones are dropped, so the broker may not notice that clients left."
        ),
        T("Connections per second; a load balancer or scanner?"),
        "remoting/netty/NettyRemotingAbstract.NettyEventExecutor",
        remedy=T("Stop the source of the connections."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "callback-failed",
        T("A callback of an asynchronous request failed"),
        (
            "execute callback in executor exception",
            "executeInvokeCallback Exception",
            "execute callback in requestFail, and callback throw",
            "execute requestCallback in requestFail",
            "scanResponseTable, operationComplete Exception",
        ),
        T("The application's callback threw an exception or the callback pool is full."),
        T("The exception in the line; does the callback block?"),
        "remoting/netty/NettyRemotingAbstract.executeInvokeCallback",
        remedy=T("Catch exceptions in callbacks and do not block there."),
        risk=T("What the callback should have done was not done."),
        verdict="suspected",
        least=2,
    ),
    problem(
        "tls-failed",
        T("A TLS connection cannot be made"),
        (
            "Clients intend to establish an insecure connection while this server is running in SSL enforcing mode",
            "Clients intend to establish an SSL connection while this server is running in SSL disabled mode",
            "Trying to establish an SSL connection but sslContext is null",
            "SSLHandshakeException",
            "NotSslRecordException",
            "Error while removing HandshakeHandler",
            "can't load the certificate dynamically",
        ),
        T("One side speaks TLS and the other does not, or the certificate cannot be read or is not trusted."),
        T(
            "tls.server.mode (disabled, permissive, enforcing) of the server, tls.enable of the client, paths and permissions of the key files."
        ),
        "remoting/netty/NettyRemotingServer.HandshakeHandler",
        remedy=T("Use permissive while clients change over; correct the certificate."),
        risk=T("permissive lets plain connections in."),
        verdict="confirmed",
    ),
    problem(
        "tls-not-available",
        T("The process starts without TLS"),
        ("Failed to create SSLContext", "Connections are insecure as SSLContext is null"),
        T(
            "No TLS context could be made: no certificate, or a library that does not fit the JDK. Without TLS in use the process works as before."
        ),
        T("Only if TLS is meant to be used: tls.server.mode, tls.properties, the exception below."),
        "remoting/netty/NettyRemotingServer.loadSslContext",
        unlike=T("it is no failure of plain connections, which are the default"),
    ),
    problem(
        "host-name-unknown",
        T("A process cannot find out its own host's name"),
        ("Failed to obtain the host name",),
        T("The host's own name is not in DNS or /etc/hosts; RocketMQ uses a default instead."),
        T("Set brokerName and brokerIP1 explicitly."),
        "common/BrokerConfig.localHostName",
    ),
    problem(
        "protocol-broken",
        T("Bytes on a connection are not RocketMQ's protocol"),
        (
            "decode exception,",
            "RocketMQ protocol decoding failed",
            "decode error, bad header length",
            "Adjusted frame length exceeds",
            "TooLongFrameException",
            "encode exception,",
            "string length exceed limit",
        ),
        T(
            "Something else talks to the port (HTTP health check, scanner, TLS against a plain port), the frame exceeds com.rocketmq.remoting.frameMaxLength (16 MB), or versions do not match."
        ),
        T("The peer's address; the printed length as text (1195725856 is `GET `)."),
        "remoting/netty/NettyDecoder",
        decides=T(
            "Length 1195725856 or 1347375956: HTTP. 369295616 or so: TLS. A plausible length above 16 MB: large batches or many topics."
        ),
        remedy=T(
            "Take the port out of HTTP checks; for large answers raise -Dcom.rocketmq.remoting.frameMaxLength on both sides."
        ),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "field-missing",
        T("A request lacks a field the other side needs"),
        (
            "the custom field <{}> is null",
            "the custom field {}.{} is null",
            "Failed field [{}] decoding",
            "Failed to access field [",
            "the custom field <{}> type is not supported",
            "parser specified protocol error",
        ),
        T(
            "Client and broker disagree about a request's fields: versions far apart, another client library, or a proxy in between."
        ),
        T("The field's name, request code and the client's version and language."),
        "remoting/protocol/RemotingCommand",
        classes=("remoting/RemotingCommand", "remoting/FastCodesHeader"),
        remedy=T("Bring client and broker to compatible versions."),
        risk=T("None."),
        verdict="confirmed",
    ),
    problem(
        "network-other",
        T("The network layer reports a difficulty"),
        (
            "closeChannel: try to lock channel table, but timeout",
            "remove timeout request,",
            "scanResponseTable exception",
        ),
        T(
            "A line of the remoting layer that does not decide by itself: a lock that was not got in time, a request that was cleaned up."
        ),
        T("Whether it repeats for one address."),
        "remoting/netty",
        classes=(
            "remoting/NettyRemotingAbstract",
            "remoting/NettyRemotingClient",
            "remoting/NettyRemotingServer",
            "remoting/NettyDecoder",
            "remoting/NettyEncoder",
            "remoting/RemotingUtil",
            "remoting/RemotingHelper",
            "remoting/ServiceThread",
            "remoting/RegisterBrokerBody",
            "common/NetworkUtil",
            "common/MixAll",
            "common/UtilAll",
            "common/ServiceThread",
            "common/ThreadUtils",
            "common/ThreadFactoryImpl",
            "common/BrokerConfig",
            "common/BrokerIdentity",
            "remoting/NettyLogger",
        ),
    ),
    problem(
        "host-unknown",
        T("A host name cannot be resolved"),
        (
            "UnknownHostException",
            "dns lookup address by domain error",
            "UnresolvedAddressException",
            "Name or service not known",
            "nodename nor servname provided",
        ),
        T(
            "The name in the address is not known to this host: a container name outside its network, jmenv.tbsite.net (no name server configured), or the host's own name missing in /etc/hosts."
        ),
        T("The name in the line; getent hosts NAME on this host."),
        "java.net",
        printed="any log",
        remedy=T(
            "Use a name or address that this host resolves; set brokerIP1; add the host's own name to /etc/hosts."
        ),
        risk=T("None."),
        verdict="confirmed",
        example="java.net.UnknownHostException: rmqnamesrv",
        unless=r"Failed to obtain the host name|getLocalHost|localHostName",
        least=3,
    ),
    problem(
        "connection-refused",
        T("Nobody listens at the address"),
        ("Connection refused", "拒绝连接", "No route to host", "Network is unreachable", "Connection timed out"),
        T(
            "`refused`: the host answers and no process listens on the port. `timed out` or `no route`: a firewall or a wrong address."
        ),
        T("The address printed; ss -ltn on that host."),
        "java.net.ConnectException",
        printed="any log, from the operating system",
        decides=T("Refused: the process is down or listens elsewhere. Timed out: the packets are dropped."),
        remedy=T("Start the process, open the port, or correct the address."),
        risk=T("None."),
        verdict="suspected",
        least=20,
        lasts=60.0,
        example="java.net.ConnectException: Connection refused: /10.20.30.41:10911",
    ),
)
