import CalendarTime
import StrictText
import TaskModel

extension View {
  /// A moment in the host's time zone, and how far away it is. nil if it is unknown or never comes.
  ///
  /// - Parameter now: nil to leave out how far away it is.
  init?(time: WallTime?, now: WallTime?) {
    guard let time, time < .distantFuture, let text = RFC3339.format(time) else { return nil }
    let relative = now.map { MomentFormat.relative(time.unixMilliseconds, now: $0.unixMilliseconds) }
    self = [
      "datetime": text, "relative": relative,
      "local": MomentFormat.local(time.unixMilliseconds, omittingDateOf: now?.unixMilliseconds),
    ]
  }

  /// A form with one button.
  ///
  /// - Parameters:
  ///   - subject: What the button is about, for those who do not see where it stands.
  ///   - kind: "danger" for what cannot be taken back.
  init(button label: String, _ action: String, of subject: String, kind: String? = nil) {
    let button: View = ["label": label, "action": action, "of": subject, "kind": kind]
    self = ["button": button]
  }

  /// A line of a list of facts; nil if there is nothing to say.
  init?(fact label: String, _ text: String?, href: String? = nil) {
    guard let text, !text.isEmpty else { return nil }
    self = ["label": label, "text": text, "href": href]
  }

  /// A line of a list of facts with a moment.
  init?(fact label: String, _ time: WallTime?, now: WallTime) {
    guard let view = View(time: time, now: now) else { return nil }
    self = ["label": label, "time": view]
  }
}

extension Duration {
  /// `1h 30m`, `4.2s`, `300ms`.
  var words: String { DurationFormat.words(milliseconds: wholeMilliseconds) }
}

/// How payloads, outputs and messages of clients and plugins are shown.
enum ForeignText {
  private static let shownMessage = 500

  /// Bytes as text: JSON as it is, what is not UTF-8 by its size.
  static func bytes(_ bytes: [UInt8]) -> Lines? {
    guard !bytes.isEmpty else { return nil }
    return Lines(String(validating: bytes, as: UTF8.self) ?? "\(ByteCountFormat.words(bytes.count)) that are not text")
  }

  /// The beginning of a long message.
  static func short(_ text: String?) -> String? { text.map { $0.count > shownMessage ? "\($0.prefix(shownMessage))…" : $0 } }
}
