/// How a host and a port are written together.
public enum HostPortText {
  /// `127.0.0.1:7411`; an address of IPv6 stands in brackets: `[::1]:7411`.
  public static func text(_ host: String, _ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
