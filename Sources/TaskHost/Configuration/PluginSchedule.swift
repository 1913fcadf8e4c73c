/// `schedule` of a plugin: when the host's own request for it repeats.
public enum PluginSchedule: Sendable, Equatable {
  /// `every 6h`: at this interval.
  case every(Duration)

  /// `cron 0 8 * * * Europe/Berlin`: at the times of a five-field expression, in a time zone by its IANA name; nil is the host's. Only the
  /// form is checked here.
  case cron(expression: String, zone: String?)

  /// Reads a schedule.
  ///
  /// - Throws: ``TextProblem`` that says what is wrong with the text.
  init(_ text: String) throws(TextProblem) {
    let words = text.split(separator: " ").map(String.init)
    switch words.first {
    case "every" where words.count == 2:
      self = .every(try DurationText.parse(words[1]))
    case "cron":
      let fields = words.dropFirst().prefix(5)
      guard fields.count == 5, words.count <= 7 else {
        throw TextProblem("a cron schedule has five fields and, if wanted, a time zone: \"cron 0 8 * * * Europe/Berlin\"")
      }
      if let wrong = fields.first(where: { !Self.isText($0, Self.fieldCharacters) }) {
        throw TextProblem("\"\(wrong)\" is no field of a cron expression")
      }
      let zone = words.count == 7 ? words[6] : nil
      if let zone, !Self.isText(zone, Self.zoneCharacters) || zone.utf8.first == UInt8(ascii: "/") {
        throw TextProblem("\"\(zone)\" is no name of a time zone, such as Europe/Berlin")
      }
      self = .cron(expression: fields.joined(separator: " "), zone: zone)
    default:
      throw TextProblem("expected \"every 6h\" or \"cron 0 8 * * * Europe/Berlin\", found \"\(text)\"")
    }
  }

  private static let alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
  private static let fieldCharacters = Set((alphanumerics + "*/,-?#").utf8)
  private static let zoneCharacters = Set((alphanumerics + "/_+-").utf8)

  private static func isText(_ text: String, _ characters: Set<UInt8>) -> Bool {
    text.utf8.allSatisfy { characters.contains($0) }
  }
}
