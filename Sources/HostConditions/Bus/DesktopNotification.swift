import HostThreads
import StrictText
import TaskModel

/// A notification for the desktop of a user, by `org.freedesktop.Notifications` on their session bus.
///
/// - Source: Desktop Notifications Specification 1.2, `Notify`.
public struct DesktopNotification: Sendable {
  /// Why it was not shown, a sentence.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
  }

  private static let service = "org.freedesktop.Notifications"
  /// The time limit of the whole exchange with the bus.
  private static let patience = Duration.seconds(2)

  private let title: String
  private let text: String
  private let percent: Int?

  /// - Parameters:
  ///   - title: One line.
  ///   - text: Some lines. Markup is escaped.
  ///   - percent: How far something has come, 0 to 100: a hint that some desktops show as a bar; nil for none.
  public init(title: String, text: String, percent: Int?) {
    self.title = title
    self.text = text
    self.percent = percent
  }

  /// Shows it. Blocks for at most two seconds.
  ///
  /// - Parameters:
  ///   - socket: The path of the bus's socket.
  ///   - number: The notification that it takes the place of; 0 for none.
  /// - Returns: Its number.
  public func show(on socket: String, replacing number: UInt32) throws(Failure) -> UInt32 {
    let deadline = SystemClock.now + Self.patience
    do throws(BusConnection.Failure) {
      let connection = try BusConnection(socket, until: deadline)
      let answer = try connection.call(message(replacing: number), until: deadline)
      guard answer.kind == .answer, answer.signature == "u",
        let shown = BusReader(answer.body, isBigEndian: answer.isBigEndian).number(at: 0)
      else { throw BusConnection.Failure(reason: "the desktop does not show it: \(answer.errorName ?? "its answer is not a number")") }
      return shown
    } catch { throw Failure(description: error.reason) }
  }

  /// The call `Notify(susssasa{sv}i)`.
  func message(replacing number: UInt32) -> BusMessage {
    var body = BusWriter()
    body.append(string: "taskhost")
    body.append(number: number)
    body.append(string: "")
    body.append(string: Self.plain(title))
    body.append(string: Self.plain(text).escapingMarkup)
    body.append(number: 0)  // no actions
    body.appendHints(percent.map { ["value": $0] } ?? [:])
    body.append(number: UInt32(bitPattern: -1))  // the desktop decides how long
    return BusMessage(
      kind: .call, serial: 0, path: "/org/freedesktop/Notifications", interface: Self.service, member: "Notify", destination: Self.service,
      signature: "susssasa{sv}i", body: body.bytes, startsService: true)
  }

  /// A D-Bus string has no NUL.
  private static func plain(_ text: String) -> String { text.replacing(scalars: ["\0": ""]) }
}

extension BusWriter {
  /// A dictionary of names and whole numbers, `a{sv}` with values of the type `i`, in the order of the names.
  fileprivate mutating func appendHints(_ hints: [String: Int]) {
    // An element begins at a multiple of eight, which the length before it does not count.
    align(4)
    let lengthPlace = bytes.count
    append(number: 0)
    align(8)
    let start = bytes.count
    for (name, value) in hints.sorted(by: { $0.key < $1.key }) {
      align(8)
      append(string: name)
      append(signature: "i")
      append(number: UInt32(bitPattern: Int32(clamping: value)))
    }
    withUnsafeBytes(of: UInt32(bytes.count - start).littleEndian) { bytes.replaceSubrange(lengthPlace..<lengthPlace + 4, with: $0) }
  }
}
