import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/** Decodes commit log files with RocketMQ's own decoder, bodies left out; prints one line a round: threads, records, bytes, seconds. */
public class DecodeBench {
    static long sink;

    static long[] decode(ByteBuffer whole) {
        ByteBuffer buffer = whole.duplicate();
        long records = 0, bytes = 0;
        while (buffer.remaining() > 8) {
            int at = buffer.position();
            int size = buffer.getInt(at);
            int magic = buffer.getInt(at + 4);
            if (size <= 0 || size > buffer.remaining() || (magic != -626843481 && magic != -626843477)) {
                break;
            }
            MessageExt message = MessageDecoder.decode(buffer, false, false, false);
            if (message == null) {
                break;
            }
            // Every property is in the message's map by now: the decoder splits them all.
            sink += message.getQueueOffset() + message.getProperties().size();
            records++;
            bytes += size;
            buffer.position(at + size);
        }
        return new long[] {records, bytes};
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        List<ByteBuffer> files = new ArrayList<>();
        for (int i = 2; i < args.length; i++) {
            try (RandomAccessFile file = new RandomAccessFile(args[i], "r")) {
                // On the heap, as a broker's own tools hold what they decode: no page faults in the timing.
                ByteBuffer held = ByteBuffer.allocateDirect((int) file.length());
                file.getChannel().read(held);
                held.flip();
                files.add(held);
            }
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            List<Future<long[]>> waiting = new ArrayList<>();
            for (ByteBuffer file : files) {
                waiting.add(pool.submit(() -> decode(file)));
            }
            long records = 0, bytes = 0;
            for (Future<long[]> one : waiting) {
                records += one.get()[0];
                bytes += one.get()[1];
            }
            System.out.println(threads + " " + records + " " + bytes + " " + (System.nanoTime() - start) / 1e9);
        }
        pool.shutdown();
        System.err.println(sink);
    }
}
