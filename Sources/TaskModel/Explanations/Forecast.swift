/// What would run in a time to come, if everything stayed as it is now.
public struct Forecast: Sendable, Hashable {
  /// A run to come.
  public struct Entry: Sendable, Hashable {
    /// When it would start.
    public var at: WallTime
    /// Whose handler.
    public var identifier: TaskIdentifier
    /// Which request.
    public var request: RequestID
    /// For a repeating request: the schedule's time of the occurrence.
    public var occurrence: WallTime?
    /// How long it would take; nil: nothing is known of that.
    public var duration: Duration?
    /// Whether it rests on an assumption, as that a condition holds then.
    public var assumed: Bool

    /// An entry as given.
    public init(
      at: WallTime, identifier: TaskIdentifier, request: RequestID, occurrence: WallTime? = nil, duration: Duration? = nil,
      assumed: Bool = false
    ) {
      self.at = at
      self.identifier = identifier
      self.request = request
      self.occurrence = occurrence
      self.duration = duration
      self.assumed = assumed
    }
  }

  /// A request that would not run in that time.
  public struct Held: Sendable, Hashable {
    /// Which request.
    public var request: RequestID
    /// Whose handler.
    public var identifier: TaskIdentifier
    /// What holds it, without a full stop.
    public var reason: String

    /// A request as given.
    public init(request: RequestID, identifier: TaskIdentifier, reason: String) {
      self.request = request
      self.identifier = identifier
      self.reason = reason
    }
  }

  /// Where it begins: now.
  public var from: WallTime
  /// Where it ends.
  public var to: WallTime
  /// The runs, the earliest first.
  public var entries: [Entry]
  /// The requests that would not run.
  public var held: [Held]
  /// What was assumed, a sentence each without a full stop.
  public var notes: [String]
  /// Whether there is more than was asked for.
  public var isTruncated: Bool

  /// A forecast as given.
  public init(from: WallTime, to: WallTime, entries: [Entry] = [], held: [Held] = [], notes: [String] = [], isTruncated: Bool = false) {
    self.from = from
    self.to = to
    self.entries = entries
    self.held = held
    self.notes = notes
    self.isTruncated = isTruncated
  }
}
