import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import net.spy.memcached.ArrayModNodeLocator;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.KetamaNodeKeyFormatter;
import net.spy.memcached.KetamaNodeLocator;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.NodeLocator;

/** spymemcached's own locators, chosen by what Steersman calls them, such as {@code spymemcached-modula:crc}. */
record Placement(String name, Map<InetSocketAddress, Integer> weights) {
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

  NodeLocator locator(List<MemcachedNode> nodes) {
    int colon = name.indexOf(':');
    String family = colon < 0 ? name : name.substring(0, colon);
    String variant = colon < 0 ? "" : name.substring(colon + 1);
    return switch (family) {
      case "spymemcached-modula" -> new ArrayModNodeLocator(nodes, HASHES.get(variant));
      case "spymemcached-ketama" -> ketama(nodes, variant);
      default -> throw new IllegalArgumentException(name);
    };
  }

  private NodeLocator ketama(List<MemcachedNode> nodes, String variant) {
    var format =
        variant.equals("libmemcached")
            ? KetamaNodeKeyFormatter.Format.LIBMEMCACHED
            : KetamaNodeKeyFormatter.Format.SPYMEMCACHED;
    boolean even = weights.values().stream().allMatch(weight -> weight == 1);
    // Any weights at all choose another formula.
    Map<InetSocketAddress, Integer> given = even ? Map.of() : weights;
    return new KetamaNodeLocator(nodes, DefaultHashAlgorithm.KETAMA_HASH, format, given);
  }
}
