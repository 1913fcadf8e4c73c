import Glibc

/// The time zone of the machine.
public enum HostTimeZone {
  /// Its IANA name, from `TZ` or `/etc/localtime`; `UTC` if neither names a known zone.
  public static var name: String { name(environment: getenv("TZ").map { String(cString: $0) }, localTime: "/etc/localtime") }

  /// Computes ``name`` from a value of `TZ` and the path of a symbolic link into the time zone database.
  static func name(environment: String?, localTime: String) -> String {
    if let environment {
      let name = environment.hasPrefix(":") ? String(environment.dropFirst()) : environment
      if (try? ZoneDirectory().rules(of: name)) != nil { return name }
    }
    guard let resolved = realpath(localTime, nil) else { return "UTC" }
    defer { free(resolved) }
    let path = String(cString: resolved)
    guard let range = path.firstRange(of: "zoneinfo/") else { return "UTC" }
    let name = String(path[range.upperBound...])
    return (try? ZoneDirectory().rules(of: name)) != nil ? name : "UTC"
  }
}
