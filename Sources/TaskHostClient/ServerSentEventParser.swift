/// Divides a stream of bytes into events (WHATWG HTML, "Server-sent events"; lines that end in LF or CRLF, fields `event` and `data`).
package struct ServerSentEventParser {
  private var line: [UInt8] = []
  private var name = ""
  private var data: [UInt8] = []
  private var hasData = false

  /// The events that `bytes` complete.
  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in bytes {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if let event = endLine() { events.append(event) }
      line.removeAll(keepingCapacity: true)
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    if line.isEmpty {
      defer { (name, data, hasData) = ("", [], false) }
      return hasData ? .event(name, data) : nil
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    var value = line[(colon + 1)...]
    if value.first == UInt8(ascii: " ") { value.removeFirst() }
    switch String(decoding: line[..<colon], as: UTF8.self) {
    case "": return .comment(String(decoding: value, as: UTF8.self))
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data":
      if hasData { data.append(UInt8(ascii: "\n")) }
      data.append(contentsOf: value)
      hasData = true
    default: break
    }
    return nil
  }
}

/// A piece of an event stream.
package enum ServerSentEvent: Sendable, Hashable {
  case comment(String)
  case event(String, [UInt8])
}
