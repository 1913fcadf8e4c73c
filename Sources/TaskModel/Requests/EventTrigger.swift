/// The event that a request waits for.
public struct EventTrigger: Sendable, Hashable {
  /// The event's name. A name that begins with ``filePrefix`` stands for changes of the file at the path that follows.
  public var name: String
  /// The run starts this long after the last event of a burst, and at most five times this long after the first.
  public var debounce: Duration

  /// Creates a trigger.
  public init(_ name: String, debounce: Duration = .zero) {
    self.name = name
    self.debounce = debounce
  }

  /// The prefix of event names that stand for changes of a file.
  public static let filePrefix = "file:"

  /// The absolute path of the watched file; nil if the event does not stand for a file.
  public var path: String? { name.hasPrefix(Self.filePrefix) ? String(name.dropFirst(Self.filePrefix.count)) : nil }
}
