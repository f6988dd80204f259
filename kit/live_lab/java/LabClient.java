import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * The applications of the lab, on the client jars of whichever release is on the class path. One process is one application host:
 * it writes its application log, its tables and ledgers into its working directory and says DONE when its work is over.
 * Arguments: role (orders, consumer, sender), then name=value settings; lists are separated by commas.
 */
public final class LabClient {
    private final Map<String, String> set = new HashMap<>();
    private final PrintWriter log;

    private LabClient(String[] args) throws Exception {
        for (int i = 1; i < args.length; i++) {
            int at = args[i].indexOf('=');
            set.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        log = new PrintWriter(Files.newBufferedWriter(Paths.get(text("service") + ".log"), StandardCharsets.UTF_8,
            StandardOpenOption.CREATE, StandardOpenOption.APPEND), true);
    }

    public static void main(String[] args) throws Exception {
        LabClient app = new LabClient(args);
        switch (args[0]) {
            case "orders": app.orders(); break;
            case "consumer": app.consumer(); break;
            case "sender": app.sender(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("DONE");
        new CountDownLatch(1).await();
    }

    // --- a service whose orders and messages belong together ----------------------------------------------------------------

    private void orders() throws Exception {
        Table rows = new Table(text("table") + ".csv", "order_id,status,created_at");
        Table steps = new Table(text("table") + "_tx_log.csv", "order_id,biz,created_at");
        Set<Integer> unknown = numbers("unknown");
        Set<Integer> refused = numbers("refused");
        Set<Integer> broken = numbers("broken");
        int crash = number("crash", -1);
        boolean middle = "middle".equals(text("half"));
        String topic = text("topic");
        TransactionMQProducer producer = new TransactionMQProducer(text("group"));
        settle(producer);
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message msg, Object arg) {
                int n = (Integer) arg;
                String order = msg.getKeys();
                if (n == crash) {
                    // With the half message in the middle the order is in a transaction of its own, committed by now; one transaction for all is lost whole.
                    if (middle) {
                        rows.add(order, "PAID", now());
                    }
                    Runtime.getRuntime().halt(137);
                }
                if (refused.contains(n)) {
                    say("WARN", "order " + order + " rejected: insufficient stock", null);
                    return LocalTransactionState.ROLLBACK_MESSAGE;
                }
                if (broken.contains(n)) {
                    RuntimeException failure = new IllegalStateException("could not execute statement; SQL [insert into t_tx_log]; Deadlock found when trying to get lock; order=" + order);
                    if (middle) {
                        throw failure;
                    }
                    say("ERROR", "save order failed, order=" + order, failure);
                    return LocalTransactionState.ROLLBACK_MESSAGE;
                }
                steps.add(order, "order", now());
                if (!middle) {
                    rows.add(order, "PAID", now());
                    say("INFO", "order " + order + " saved, status=PAID", null);
                }
                return unknown.contains(n) ? LocalTransactionState.UNKNOW : LocalTransactionState.COMMIT_MESSAGE;
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt msg) {
                if (!topic.equals(msg.getTopic())) {
                    // No handler is registered for this topic: what is answered then is the setting that makes or stops the blow-up.
                    return LocalTransactionState.valueOf(set.getOrDefault("no_handler", "ROLLBACK_MESSAGE"));
                }
                return steps.has(msg.getKeys()) ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
            }
        });
        producer.start();
        onEnd(producer::shutdown);
        say("INFO", text("service") + " started, producerGroup=" + text("group"), null);
        List<Integer> bodies = new ArrayList<>();
        for (String size : list("bodies")) {
            bodies.add(Integer.parseInt(size));
        }
        String[] tags = list("tags");
        for (int n = number("first", 0); n < number("count", 20); n++) {
            String order = text("prefix") + (20260000 + n);
            int size = bodies.isEmpty() ? number("body", 200) : bodies.get(n % bodies.size());
            Message msg = new Message(topic, tags.length == 0 ? "PAID" : tags[n % tags.length], order, body(order, size));
            try {
                TransactionSendResult result = producer.sendMessageInTransaction(msg, n);
                say("INFO", "send transaction msg topic=" + topic + " keys=" + order + " result=" + result + " local=" + result.getLocalTransactionState(), null);
                if (middle && result.getLocalTransactionState() != LocalTransactionState.ROLLBACK_MESSAGE) {
                    // The send did not throw, so the outer transaction commits: nobody looks at what the local step said.
                    rows.add(order, "PAID", now());
                    say("INFO", "order " + order + " saved, status=PAID", null);
                }
            } catch (Exception failed) {
                say("ERROR", "send transaction msg failed, topic=" + topic + ", keys=" + order + ", body=" + size, failed);
            }
            Thread.sleep(number("pause", 100));
        }
    }

    // --- a service that consumes ------------------------------------------------------------------------------------------------

    private void consumer() throws Exception {
        Table ledger = new Table(text("table") + ".csv", "keys,uniq_key,offset_msg_id,reconsume_times,result,at");
        Set<Integer> failing = numbers("failing");
        Set<Integer> late = numbers("late");
        String dedup = set.getOrDefault("dedup", "none");
        Map<String, Boolean> granted = new ConcurrentHashMap<>();
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(text("group"));
        consumer.setNamesrvAddr(text("namesrv"));
        consumer.setHeartbeatBrokerInterval(1000);
        consumer.setPollNameServerInterval(1000);
        consumer.setPersistConsumerOffsetInterval(1000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeThreadMin(8);
        consumer.setConsumeThreadMax(8);
        consumer.setPullThresholdForQueue(number("threshold", 1000));
        if (set.containsKey("instance")) {
            consumer.setInstanceName(text("instance"));
        }
        consumer.subscribe(text("topic"), set.getOrDefault("expression", "*"));
        if (set.containsKey("suspends")) {
            consumer.registerMessageListener(inOrder(ledger, number("suspends", -1)));
            consumer.start();
            onEnd(consumer::shutdown);
            return;
        }
        long slow = System.currentTimeMillis() + number("slow_after", 0) * 1000L;
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt msg = messages.get(0);
            String offsetId = msg instanceof MessageClientExt ? ((MessageClientExt) msg).getOffsetMsgId() : msg.getMsgId();
            String about = "topic=" + msg.getTopic() + " keys=" + msg.getKeys() + " msgId=" + msg.getMsgId();
            int n = Integer.parseInt(msg.getKeys().replaceAll("\\D", "")) % 10000;
            boolean first = msg.getReconsumeTimes() == 0;
            if (first && failing.contains(n)) {
                ledger.add(msg.getKeys(), msg.getMsgId(), offsetId, msg.getReconsumeTimes(), "FAIL", now());
                say("WARN", "consume failed, " + about + " reconsumeTimes=" + msg.getReconsumeTimes() + ", will retry", null);
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            String id = "offset".equals(dedup) ? offsetId : msg.getMsgId();
            if (!"none".equals(dedup) && granted.putIfAbsent(id, true) != null) {
                ledger.add(msg.getKeys(), msg.getMsgId(), offsetId, msg.getReconsumeTimes(), "DUPLICATE", now());
                say("INFO", "duplicate ignored, dedupKey=" + id + " keys=" + msg.getKeys(), null);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
            callDownstream(System.currentTimeMillis() < slow ? 1 : number("work", 0));
            ledger.add(msg.getKeys(), msg.getMsgId(), offsetId, msg.getReconsumeTimes(), "OK", now());
            String named = "none".equals(dedup) ? about + " offsetMsgId=" + offsetId : "dedupKey=" + id + " keys=" + msg.getKeys() + " points=120";
            say("INFO", "points granted, " + named + " reconsumeTimes=" + msg.getReconsumeTimes(), null);
            // The work is done, only the answer is late: the broker delivers a copy of the message again.
            return first && late.contains(n) ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        onEnd(consumer::shutdown);
        say("INFO", text("service") + " started, consumerGroup=" + text("group"), null);
    }

    /** An ordered listener that never accepts one message: its queue waits for it. */
    private MessageListenerOrderly inOrder(Table ledger, int refused) {
        return (messages, context) -> {
            MessageExt msg = messages.get(0);
            String offsetId = msg instanceof MessageClientExt ? ((MessageClientExt) msg).getOffsetMsgId() : msg.getMsgId();
            boolean never = Integer.parseInt(msg.getKeys().replaceAll("\\D", "")) % 10000 == refused;
            ledger.add(msg.getKeys(), msg.getMsgId(), offsetId, msg.getReconsumeTimes(), never ? "FAIL" : "OK", now());
            if (never) {
                say("ERROR", "apply failed, keys=" + msg.getKeys() + " msgId=" + msg.getMsgId(), new IllegalStateException("unknown account " + msg.getKeys()));
            }
            return never ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT : ConsumeOrderlyStatus.SUCCESS;
        };
    }

    private static void callDownstream(int milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    // --- a service that sends under load --------------------------------------------------------------------------------------

    private void sender() throws Exception {
        Table ledger = new Table(text("table") + ".csv", "keys,start,cost_ms,outcome,uniq_key,offset_msg_id");
        DefaultMQProducer producer = new DefaultMQProducer(text("group"));
        settle(producer);
        producer.start();
        onEnd(producer::shutdown);
        long end = System.currentTimeMillis() + number("seconds", 5) * 1000L;
        AtomicInteger next = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < number("threads", 2); t++) {
            Thread thread = new Thread(() -> {
                while (System.currentTimeMillis() < end) {
                    String key = String.format("%s%07d", text("prefix"), next.incrementAndGet());
                    String[] tags = list("tags");
                    String tag = tags.length == 0 ? "STOCK" : tags[Math.abs(key.hashCode()) % tags.length];
                    Message msg = new Message(text("topic"), tag, key, body(key, number("body", 200)));
                    String start = now();
                    long began = System.nanoTime();
                    String outcome;
                    String offsetId = "";
                    try {
                        SendResult result = producer.send(msg);
                        outcome = result.getSendStatus().name();
                        offsetId = result.getOffsetMsgId();
                    } catch (Exception failed) {
                        outcome = failed.getClass().getSimpleName();
                        long cost = (System.nanoTime() - began) / 1_000_000;
                        say("ERROR", "send message failed, topic=" + text("topic") + ", keys=" + key + ", cost=" + cost + "ms", failed);
                    }
                    ledger.add(key, start, (System.nanoTime() - began) / 1_000_000, outcome, msg.getProperty("UNIQ_KEY"), offsetId);
                    try {
                        Thread.sleep(number("pause", 20));
                    } catch (InterruptedException stopped) {
                        return;
                    }
                }
            }, text("prefix") + "-sender-" + t);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    // --- what all of them need ------------------------------------------------------------------------------------------------

    private void settle(DefaultMQProducer producer) {
        producer.setNamesrvAddr(text("namesrv"));
        // A producer is asked about its transactions only after a heartbeat has made it known to the broker.
        producer.setHeartbeatBrokerInterval(1000);
        producer.setPollNameServerInterval(1000);
        producer.setSendMsgTimeout(number("send_timeout", 3000));
        // What an application has packed itself: the client's own compression would only hide how near the limit it is.
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        if (set.containsKey("max_body")) {
            producer.setMaxMessageSize(number("max_body", 0));
        }
    }

    private static byte[] body(String key, int size) {
        // Letters drawn by the key: the same body every time, and one that compression makes no smaller than a half.
        Random letters = new Random(key.hashCode());
        StringBuilder text = new StringBuilder("{\"order\":\"" + key + "\",\"note\":\"");
        while (text.length() < size - 2) {
            text.append((char) ('a' + letters.nextInt(26)));
        }
        text.setLength(Math.max(0, size - 2));
        return (text + "\"}").getBytes(StandardCharsets.UTF_8);
    }

    private synchronized void say(String level, String text, Throwable failure) {
        log.printf("%s %-5s [%s] %s - %s\n", now(), level, Thread.currentThread().getName(), text("logger"), text);
        if (failure != null) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            log.print(trace.toString().replace("\r", ""));
        }
        log.flush();
    }

    private static void onEnd(Runnable end) {
        Runtime.getRuntime().addShutdownHook(new Thread(end));
    }

    private static String now() {
        return new SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS").format(new Date());
    }

    private String text(String name) {
        return set.get(name);
    }

    private int number(String name, int otherwise) {
        return set.containsKey(name) ? Integer.parseInt(set.get(name)) : otherwise;
    }

    private String[] list(String name) {
        String text = set.getOrDefault(name, "");
        return text.isEmpty() ? new String[0] : text.split(",");
    }

    private Set<Integer> numbers(String name) {
        Set<Integer> found = new HashSet<>();
        for (String part : list(name)) {
            found.add(Integer.parseInt(part));
        }
        return found;
    }

    /** A table on disk: every row is there when `add` returns, so that a crash loses none. */
    private static final class Table {
        private final Path path;
        private final Set<String> keys = new HashSet<>();

        Table(String name, String head) throws Exception {
            path = Paths.get(name);
            if (!Files.exists(path)) {
                Files.writeString(path, head + "\n");
            }
            for (String line : Files.readAllLines(path)) {
                keys.add(line.substring(0, line.indexOf(',')));
            }
        }

        synchronized void add(Object... cells) {
            List<String> texts = new ArrayList<>();
            for (Object cell : cells) {
                texts.add(cell == null ? "" : cell.toString());
            }
            keys.add(texts.get(0));
            try {
                Files.writeString(path, String.join(",", texts) + "\n", StandardOpenOption.APPEND);
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }

        synchronized boolean has(String key) {
            return keys.contains(key);
        }
    }
}
