import StrictText

/// What a notification says to people, read from its JSON.
public struct NoticeText: Sendable, Equatable {
  /// The name of the host.
  public var host: String
  /// The name of the rule.
  public var rule: String
  /// What it is about.
  public var title: String
  /// What happened; may have several lines.
  public var text: String
  /// The number of incidents.
  public var count: Int64

  /// nil if the bytes are no notification.
  public init?(_ payload: [UInt8]) {
    guard let root = try? JSONReader.read(payload), let title = root["title"]?.string, let text = root["text"]?.string else { return nil }
    self.title = Self.printable(title)
    self.text = text.split(separator: "\n").map { Self.printable(String($0)) }.joined(separator: "\n")
    host = Self.printable(root["host"]?.string ?? "")
    rule = Self.printable(root["rule"]?.string ?? "")
    count = root["count"]?.integer ?? 1
  }

  /// One line: the host, what it is about, and what happened if that is one thing.
  public var headline: String { (host.isEmpty ? "" : "\(host): ") + (count == 1 ? "\(title) \(text)" : title) }

  /// The headline, and each thing on a line of its own if there are several.
  public var body: String { count == 1 ? headline : headline + "\n" + text }

  /// Without control characters.
  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) ? " " : $0 }))
  }
}
