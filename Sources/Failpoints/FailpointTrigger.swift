import Glibc
public import Synchronization

/// Which point kills the process, at which hit. There is one per process, set once before its threads begin.
public enum FailpointTrigger {
  /// The environment variable that arms a point: `NAME`, or `NAME:N` for its Nth hit.
  public static let variable = "TASKHOST_FAILPOINT"

  /// Whether a point is armed.
  @usableFromInline static let isArmed = Atomic(false)
  private static let armed = Mutex<(point: Failpoint, hitsLeft: Int)?>(nil)

  /// Arms the point that the process's environment names; none if the variable is not set.
  ///
  /// - Returns: The variable's value; nil if it is not set.
  /// - Throws: A ``FailpointError`` if the value is invalid: a test must not pass because of a misspelt name.
  @discardableResult public static func armFromEnvironment() throws(FailpointError) -> String? {
    guard let value = getenv(variable) else { return nil }
    let setting = String(cString: value)
    let (point, hit) = try parse(setting)
    arm(point, hit: hit)
    return setting
  }

  /// Reads `NAME` or `NAME:N`.
  static func parse(_ setting: String) throws(FailpointError) -> (point: Failpoint, hit: Int) {
    let parts = setting.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let point = parts.first.flatMap({ Failpoint(rawValue: String($0)) }) else { throw FailpointError(setting) }
    guard parts.count == 2 else { return (point, 1) }
    guard let hit = Int(parts[1]), hit > 0 else { throw FailpointError(setting) }
    return (point, hit)
  }

  /// Arms `point` to kill the process at its `hit`th hit, counted from now; 1 is the next.
  static func arm(_ point: Failpoint, hit: Int) {
    armed.withLock { $0 = (point, hit) }
    isArmed.store(true, ordering: .releasing)
  }

  /// Handles a hit of `point` while some point is armed.
  @usableFromInline @inline(never) static func strike(_ point: Failpoint) {
    let isOver = armed.withLock { armed in
      guard armed?.point == point else { return false }
      armed?.hitsLeft -= 1
      return armed?.hitsLeft == 0
    }
    // No handler runs and nothing is flushed or answered, as in a power loss. The kernel lets none of the process's threads continue.
    if isOver { _ = kill(getpid(), SIGKILL) }
  }
}
