import Glibc
public import Synchronization

/// Which point ends the process, at which hit. One for the process, set before its threads begin and never again.
public enum FailpointTrigger {
  /// The environment variable that arms one: `NAME`, or `NAME:N` for its Nth hit.
  public static let variable = "TASKHOST_FAILPOINT"

  /// Whether one is armed.
  @usableFromInline static let isArmed = Atomic(false)
  private static let armed = Mutex<(point: Failpoint, hitsLeft: Int)?>(nil)

  /// Arms what the environment of the process names, nothing when it names nothing.
  ///
  /// - Returns: What was armed, as it was named.
  /// - Throws: A ``FailpointError`` when it names no point: a test must not pass because of a misspelt name.
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

  /// Has the process end at the `hit`th hit of `point`, counted from now; 1 is the next.
  static func arm(_ point: Failpoint, hit: Int) {
    armed.withLock { $0 = (point, hit) }
    isArmed.store(true, ordering: .releasing)
  }

  /// A point was hit while one is armed.
  @usableFromInline @inline(never) static func strike(_ point: Failpoint) {
    let isOver = armed.withLock { armed in
      guard armed?.point == point else { return false }
      armed?.hitsLeft -= 1
      return armed?.hitsLeft == 0
    }
    // No handler, no flush, no answer: as when the machine takes the process away. The kernel lets no thread of it go on.
    if isOver { _ = kill(getpid(), SIGKILL) }
  }
}
