import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import net.spy.memcached.CachedData;
import net.spy.memcached.ConnectionFactory;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.transcoders.Transcoder;

/**
 * spymemcached under the contract of the measured programs (../../contract).
 *
 * <p>A client is one connection that all threads share; it merges reads that wait. Threads are
 * dealt out over so many clients. The warm-up is longer than elsewhere, for the compiler.
 */
public final class SpymemcachedPeer {
  private static final int KEYS = 10_000;
  private static final int BYTES = 64 * 1024 * 1024;
  private static final int KEYS_PER_TASK = 16;
  private static final long WARM_UP_MILLIS = 2_000;

  private enum Phase {
    WARMING,
    COUNTING,
    OVER
  }

  private static volatile Phase phase = Phase.WARMING;

  private static final LongAdder OPERATIONS = new LongAdder();
  private static final LongAdder ERRORS = new LongAdder();

  private SpymemcachedPeer() {}

  public static void main(String[] args) throws Exception {
    if (args.length != 6 || !List.of("get", "set").contains(args[4])) {
      System.err.println("usage: HOST:PORT CONNECTIONS TASKS SECONDS get|set VALUE_SIZE");
      System.exit(1);
    }
    System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
    java.util.logging.Logger.getLogger("net.spy").setLevel(java.util.logging.Level.OFF);
    int colon = args[0].lastIndexOf(':');
    var server =
        new InetSocketAddress(
            args[0].substring(0, colon), Integer.parseInt(args[0].substring(colon + 1)));
    int connections = Integer.parseInt(args[1]);
    int tasks = Integer.parseInt(args[2]);
    long nanos = (long) (Double.parseDouble(args[3]) * 1e9);
    boolean reads = args[4].equals("get");
    byte[] value = new byte[Integer.parseInt(args[5])];
    Arrays.fill(value, (byte) 'x');

    ConnectionFactory factory =
        new ConnectionFactoryBuilder()
            .setShouldOptimize(true)
            .setUseNagleAlgorithm(false)
            .setDaemon(true)
            .setOpTimeout(1_000)
            .build();
    var clients = new MemcachedClient[connections];
    for (int number = 0; number < connections; number++) {
      clients[number] = new MemcachedClient(factory, List.of(server));
    }
    var threads = new Thread[tasks];
    for (int number = 0; number < tasks; number++) {
      var client = clients[number % connections];
      var keys = keys(number, value.length);
      threads[number] = new Thread(() -> work(client, keys, reads, value));
      threads[number].start();
    }
    Thread.sleep(WARM_UP_MILLIS);
    long began = System.nanoTime();
    phase = Phase.COUNTING;
    TimeUnit.NANOSECONDS.sleep(nanos);
    phase = Phase.OVER;
    double seconds = (System.nanoTime() - began) / 1e9;
    for (var thread : threads) {
      thread.join();
    }
    System.out.printf(
        "{\"operations\":%d,\"seconds\":%s,\"errors\":%d}%n",
        OPERATIONS.sum(), seconds, ERRORS.sum());
    System.exit(0);
  }

  private static String[] keys(int task, int size) {
    int count = Math.max(1, Math.min(KEYS, BYTES / Math.max(1, size)));
    var keys = new String[KEYS_PER_TASK];
    for (int index = 0; index < keys.length; index++) {
      keys[index] = String.format("key%05d", (task * 7919L + index * 31L) % count);
    }
    return keys;
  }

  private static void work(MemcachedClient client, String[] keys, boolean reads, byte[] value) {
    long operations = 0;
    long errors = 0;
    for (int index = 0; phase != Phase.OVER; index++) {
      boolean done = once(client, keys[index % keys.length], reads, value);
      if (phase == Phase.COUNTING) {
        if (done) {
          operations++;
        } else {
          errors++;
        }
      }
    }
    OPERATIONS.add(operations);
    ERRORS.add(errors);
  }

  private static boolean once(MemcachedClient client, String key, boolean reads, byte[] value) {
    try {
      if (reads) {
        byte[] found = client.get(key, Raw.INSTANCE);
        return found != null && found.length == value.length;
      }
      return client.set(key, 0, value, Raw.INSTANCE).get(1, TimeUnit.SECONDS);
    } catch (Exception error) {
      return false;
    }
  }

  /** Bytes as they are: no serialisation, no compression, no thread of its own for decoding. */
  private enum Raw implements Transcoder<byte[]> {
    INSTANCE;

    @Override
    public boolean asyncDecode(CachedData data) {
      return false;
    }

    @Override
    public CachedData encode(byte[] bytes) {
      return new CachedData(0, bytes, getMaxSize());
    }

    @Override
    public byte[] decode(CachedData data) {
      return data.getData();
    }

    @Override
    public int getMaxSize() {
      return CachedData.MAX_SIZE;
    }
  }
}
