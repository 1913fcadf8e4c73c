public import TaskModel

/// How one handler stands.
public struct HandlerOverview: Sendable, Hashable {
  /// Its runs now.
  public var running: Int
  /// Why it takes no runs at this moment, in its launcher's words; nil: the launcher takes them.
  public var suspension: String?
  /// What counts against it.
  public var standing: Standing

  /// An overview as given.
  public init(running: Int, suspension: String? = nil, standing: Standing = Standing()) {
    self.running = running
    self.suspension = suspension
    self.standing = standing
  }
}
