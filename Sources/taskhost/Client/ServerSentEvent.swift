/// A piece of an event stream.
enum ServerSentEvent: Sendable, Hashable {
  /// A line that begins with a colon.
  case comment(String)
  /// An event's name and data.
  case event(String, [UInt8])
}
