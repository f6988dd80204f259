import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Decodes commit log files with RocketMQ's own decoder, bodies left out; prints one line a round: threads, records, bytes, seconds.
 * `decode`: of what was read before. `read`: what the kit does too, reads the file and checks the CRC of each body.
 */
public class DecodeBench {
    static long sink;

    static boolean intact(ByteBuffer buffer, int at, MessageExt message) {
        int hosts = ((message.getSysFlag() & 1 << 4) == 0 ? 8 : 20) + ((message.getSysFlag() & 1 << 5) == 0 ? 8 : 20);
        int size = at + 68 + hosts; // where the length of the body stands
        ByteBuffer body = buffer.duplicate();
        body.position(size + 4).limit(size + 4 + buffer.getInt(size));
        CRC32 crc = new CRC32();
        crc.update(body);
        return (crc.getValue() & 0x7FFFFFFF) == message.getBodyCRC();
    }

    static long[] decode(ByteBuffer whole, boolean checks) {
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
            if (message == null || checks && !intact(buffer, at, message)) {
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

    static ByteBuffer read(FileChannel channel, ByteBuffer into) throws IOException {
        into.clear();
        while (into.hasRemaining() && channel.read(into, into.position()) > 0) {}
        into.flip();
        return into;
    }

    public static void main(String[] args) throws Exception {
        boolean reads = args[0].equals("read");
        int threads = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        List<FileChannel> channels = new ArrayList<>();
        List<ByteBuffer> files = new ArrayList<>();
        for (int i = 3; i < args.length; i++) {
            FileChannel channel = new RandomAccessFile(args[i], "r").getChannel();
            channels.add(channel);
            files.add(ByteBuffer.allocateDirect((int) channel.size()));
            read(channel, files.get(i - 3));
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int round = 0; round < rounds; round++) {
            long start = System.nanoTime();
            List<Future<long[]>> waiting = new ArrayList<>();
            for (int i = 0; i < files.size(); i++) {
                ByteBuffer file = files.get(i);
                FileChannel channel = channels.get(i);
                waiting.add(pool.submit(() -> decode(reads ? read(channel, file) : file, reads)));
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
