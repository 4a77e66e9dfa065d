import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import net.spy.memcached.ArrayModNodeLocator;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.KetamaNodeKeyFormatter;
import net.spy.memcached.KetamaNodeLocator;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.NodeLocator;

/** Where spymemcached puts keys: the questions and answers of ../../vectors/make.py. */
public final class Owners {
  private static final Map<String, DefaultHashAlgorithm> HASHES =
      Map.of(
          "", DefaultHashAlgorithm.NATIVE_HASH,
          "native", DefaultHashAlgorithm.NATIVE_HASH,
          "crc", DefaultHashAlgorithm.CRC_HASH,
          "fnv1_64", DefaultHashAlgorithm.FNV1_64_HASH,
          "fnv1a_64", DefaultHashAlgorithm.FNV1A_64_HASH,
          "fnv1_32", DefaultHashAlgorithm.FNV1_32_HASH,
          "fnv1a_32", DefaultHashAlgorithm.FNV1A_32_HASH,
          "ketama", DefaultHashAlgorithm.KETAMA_HASH);

  private Owners() {}

  public static void main(String[] args) throws Exception {
    var questions = new BufferedReader(new InputStreamReader(System.in));
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      var question = line.split("\t");
      var nodes = new ArrayList<MemcachedNode>();
      var weights = new HashMap<InetSocketAddress, Integer>();
      for (String member : question[1].split(" ")) {
        int star = member.lastIndexOf('*');
        var address = address(member.substring(0, star));
        int weight = Integer.parseInt(member.substring(star + 1));
        nodes.add(node(address));
        weights.put(address, weight);
      }
      if (weights.values().stream().allMatch(weight -> weight == 1)) {
        weights.clear();
      }
      var locator = locator(question[0], nodes, weights);
      var owners = new ArrayList<String>();
      for (String digits : question[2].split(" ")) {
        var key = new String(HexFormat.of().parseHex(digits), StandardCharsets.UTF_8);
        owners.add(Integer.toString(nodes.indexOf(locator.getPrimary(key))));
      }
      System.out.println(String.join(" ", owners));
    }
  }

  private static NodeLocator locator(
      String placement, List<MemcachedNode> nodes, Map<InetSocketAddress, Integer> weights) {
    int colon = placement.indexOf(':');
    String family = colon < 0 ? placement : placement.substring(0, colon);
    String variant = colon < 0 ? "" : placement.substring(colon + 1);
    return switch (family) {
      case "spymemcached-modula" -> new ArrayModNodeLocator(nodes, HASHES.get(variant));
      case "spymemcached-ketama" ->
          new KetamaNodeLocator(
              nodes,
              DefaultHashAlgorithm.KETAMA_HASH,
              variant.equals("libmemcached")
                  ? KetamaNodeKeyFormatter.Format.LIBMEMCACHED
                  : KetamaNodeKeyFormatter.Format.SPYMEMCACHED,
              weights);
      default -> throw new IllegalArgumentException(placement);
    };
  }

  /** {@code IP:PORT}, or {@code HOST/IP:PORT} for a name that was resolved. */
  private static InetSocketAddress address(String text) throws Exception {
    int slash = text.indexOf('/');
    int colon = text.lastIndexOf(':');
    var ip = InetAddress.getByName(text.substring(slash + 1, colon));
    if (slash > 0) {
      ip = InetAddress.getByAddress(text.substring(0, slash), ip.getAddress());
    }
    return new InetSocketAddress(ip, Integer.parseInt(text.substring(colon + 1)));
  }

  /** A node that only has an address: all that the locators ask of it. */
  private static MemcachedNode node(InetSocketAddress address) {
    return (MemcachedNode)
        Proxy.newProxyInstance(
            Owners.class.getClassLoader(),
            new Class<?>[] {MemcachedNode.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "getSocketAddress" -> address;
                  case "equals" -> proxy == args[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "toString" -> address.toString();
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
