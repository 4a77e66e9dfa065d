import java.util.List;
import net.spy.memcached.CachedData;
import net.spy.memcached.DefaultConnectionFactory;
import net.spy.memcached.MemcachedNode;
import net.spy.memcached.NodeLocator;
import net.spy.memcached.transcoders.SerializingTranscoder;
import net.spy.memcached.transcoders.Transcoder;

/** spymemcached's defaults, but for the locator and what is compressed. */
final class Factory extends DefaultConnectionFactory {
  private static final int COMPRESSED_FROM = 1000;

  private final Placement placement;

  Factory(Placement placement) {
    this.placement = placement;
  }

  @Override
  public NodeLocator createLocator(List<MemcachedNode> nodes) {
    return placement.locator(nodes);
  }

  @Override
  public Transcoder<Object> getDefaultTranscoder() {
    var transcoder = new SerializingTranscoder();
    transcoder.setCompressionThreshold(COMPRESSED_FROM);
    return transcoder;
  }

  /** Bytes as they are, whatever their flags. */
  static final Transcoder<byte[]> BYTES =
      new Transcoder<>() {
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
      };
}
