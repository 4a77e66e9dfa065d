import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import net.spy.memcached.MemcachedClient;

/** spymemcached for the tests: {@code Peer PLACEMENT NODE=WEIGHT...}, see ../../README.md. */
public final class Peer {
  /** What {@code put} stores, by name. */
  private static final Map<String, Object> VALUES =
      Map.of(
          "text", "grüß dich 日本",
          "integer", 70_000,
          "negative", -5L,
          "boolean", true,
          "float", 1.5,
          "json", "{\"name\": \"Ada\", \"visits\": [1, 2, 3]}",
          "long-text", "abcdef".repeat(1000),
          "long-bytes", new byte[5000],
          "object", new ArrayList<>(List.of("of", "this language")));

  private Peer() {}

  public static void main(String[] args) throws Exception {
    System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
    java.util.logging.Logger.getLogger("net.spy").setLevel(java.util.logging.Level.OFF);
    var servers = new ArrayList<InetSocketAddress>();
    var weights = new HashMap<InetSocketAddress, Integer>();
    for (String node : List.of(args).subList(1, args.length)) {
      int colon = node.lastIndexOf(':');
      int equals = node.lastIndexOf('=');
      int port = Integer.parseInt(node.substring(colon + 1, equals));
      var server = new InetSocketAddress(node.substring(0, colon), port);
      servers.add(server);
      weights.put(server, Integer.parseInt(node.substring(equals + 1)));
    }
    var client = new MemcachedClient(new Factory(new Placement(args[0], weights)), servers);
    var questions = new BufferedReader(new InputStreamReader(System.in));
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      System.out.println(answer(client, line.split(" ")));
    }
    System.exit(0);
  }

  private static String answer(MemcachedClient client, String[] question) {
    try {
      var key = new String(HexFormat.of().parseHex(question[1]), StandardCharsets.UTF_8);
      switch (question[0]) {
        case "set":
          return store(client, key, HexFormat.of().parseHex(question[2]));
        case "put":
          return store(client, key, VALUES.get(question[2]));
        case "get":
          var value = client.get(key, Factory.BYTES);
          return value == null ? "missing" : "=" + HexFormat.of().formatHex(value);
        default:
          return "error unknown verb " + question[0];
      }
    } catch (Exception error) {
      return "error " + error;
    }
  }

  private static String store(MemcachedClient client, String key, Object value) throws Exception {
    boolean stored = client.set(key, 0, value).get(10, TimeUnit.SECONDS);
    return stored ? "ok" : "error not stored";
  }
}
