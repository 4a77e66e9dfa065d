import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import net.spy.memcached.MemcachedNode;

/** Where spymemcached puts keys: the questions and answers of ../../vectors/make.py. */
public final class Owners {
  private Owners() {}

  public static void main(String[] args) throws Exception {
    var questions = new BufferedReader(new InputStreamReader(System.in));
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      var question = line.split("\t");
      var nodes = new ArrayList<MemcachedNode>();
      var weights = new HashMap<InetSocketAddress, Integer>();
      for (String member : question[1].split(" ")) {
        int star = member.lastIndexOf('*');
        var address = address(member.substring(0, star), question[0]);
        int weight = Integer.parseInt(member.substring(star + 1));
        nodes.add(node(address));
        weights.put(address, weight);
      }
      var locator = new Placement(question[0], weights).locator(nodes);
      var owners = new ArrayList<String>();
      for (String digits : question[2].split(" ")) {
        var key = new String(HexFormat.of().parseHex(digits), StandardCharsets.UTF_8);
        owners.add(Integer.toString(nodes.indexOf(locator.getPrimary(key))));
      }
      System.out.println(String.join(" ", owners));
    }
  }

  /**
   * {@code IP:PORT}, or {@code HOST/IP:PORT} for a name that was resolved. libmemcached's names hold
   * the host: without one the address would be looked up.
   */
  private static InetSocketAddress address(String text, String placement) throws Exception {
    int slash = text.indexOf('/');
    int colon = text.lastIndexOf(':');
    String ip = text.substring(slash + 1, colon);
    String host = slash > 0 ? text.substring(0, slash) : ip;
    var address = InetAddress.getByName(ip);
    if (slash > 0 || placement.endsWith(":libmemcached")) {
      address = InetAddress.getByAddress(host, address.getAddress());
    }
    return new InetSocketAddress(address, Integer.parseInt(text.substring(colon + 1)));
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
