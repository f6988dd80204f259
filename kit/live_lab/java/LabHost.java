import java.util.Arrays;

/**
 * Runs the main class it is given and ends the process when the lab that started it is gone or the time is up,
 * so that nothing survives however the lab ends. Arguments: seconds, main class, its arguments.
 */
public final class LabHost {
    public static void main(String[] args) throws Throwable {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        // Standard input is a pipe from the lab: it closes with the lab's process, even one that was killed.
        guard("lab-gone", () -> {
            while (System.in.read() >= 0) {
                // what comes is of no interest
            }
        });
        guard("lab-deadline", () -> {
            while (System.nanoTime() < end) {
                Thread.sleep(500);
            }
        });
        Class.forName(args[1]).getMethod("main", String[].class).invoke(null, (Object) Arrays.copyOfRange(args, 2, args.length));
    }

    private interface Wait {
        void done() throws Exception;
    }

    private static void guard(String name, Wait wait) {
        Thread thread = new Thread(() -> {
            try {
                wait.done();
            } catch (Exception gone) {
                // ends below
            }
            // A shutdown that hangs must not keep the process alive either.
            Thread last = new Thread(() -> {
                try {
                    Thread.sleep(10_000);
                } catch (InterruptedException stopped) {
                    // ends below
                }
                Runtime.getRuntime().halt(3);
            }, "lab-halt");
            last.setDaemon(true);
            last.start();
            System.exit(3);
        }, name);
        thread.setDaemon(true);
        thread.start();
    }
}
