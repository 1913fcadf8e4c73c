/// The event that a request waits for.
public struct EventTrigger: Sendable, Hashable {
  /// The event's name; one that begins with ``filePrefix`` is made by a change of the file at the path that follows.
  public var name: String
  /// How long after the last of several events the run begins, so that a burst is one run; at most five times as long after the first.
  public var debounce: Duration

  /// A trigger as given.
  public init(_ name: String, debounce: Duration = .zero) {
    self.name = name
    self.debounce = debounce
  }

  /// With what the name of an event begins that stands for a change of a file.
  public static let filePrefix = "file:"

  /// The absolute path of the file that is watched; nil: the event is none of a file.
  public var path: String? { name.hasPrefix(Self.filePrefix) ? String(name.dropFirst(Self.filePrefix.count)) : nil }
}
