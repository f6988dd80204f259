import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs mqadmin commands one after the other in one JVM, each with an output file of its own, as somebody on the broker's host would save them.
 * Argument: a file with one command a line, the output file before a tab, arguments separated by tabs behind it.
 */
public final class LabAdmin {
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        PrintStream err = System.err;
        for (String line : Files.readAllLines(Paths.get(args[0]))) {
            List<String> parts = List.of(line.split("\t"));
            Path file = Paths.get(parts.get(0));
            String[] command = parts.subList(1, parts.size()).toArray(new String[0]);
            Files.writeString(file, "$ mqadmin " + String.join(" ", command) + "\n");
            try (PrintStream stream = new PrintStream(Files.newOutputStream(file, StandardOpenOption.APPEND), true, "UTF-8")) {
                System.setOut(stream);
                System.setErr(stream);
                MQAdminStartup.main0(command, null);
            } catch (Exception failed) {
                failed.printStackTrace(err);
            } finally {
                System.setOut(out);
                System.setErr(err);
            }
        }
        System.exit(0);
    }
}
