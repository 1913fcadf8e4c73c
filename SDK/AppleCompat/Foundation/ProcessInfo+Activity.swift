import Dispatch
public import Foundation
import TaskHostSDK

extension ProcessInfo {
  /// What an activity needs, with Apple's numbers.
  public struct ActivityOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt64

    /// Options by their bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Has no effect here.
    public static let idleDisplaySleepDisabled = ActivityOptions(rawValue: 1 << 40)
    /// Has no effect here.
    public static let idleSystemSleepDisabled = ActivityOptions(rawValue: 1 << 20)
    /// The host does not end in the middle of the activity.
    public static let suddenTerminationDisabled = ActivityOptions(rawValue: 1 << 14)
    /// The host does not end in the middle of the activity.
    public static let automaticTerminationDisabled = ActivityOptions(rawValue: 1 << 15)
    /// Work that a person has started: the host does not end in the middle of it.
    public static let userInitiated = ActivityOptions(rawValue: 0x00FF_FFFF | 1 << 20)
    /// As ``userInitiated``.
    public static let userInitiatedAllowingIdleSystemSleep = ActivityOptions(rawValue: 0x00FF_FFFF & ~(1 << 20))
    /// Work that nobody has started: the host may end in the middle of it.
    public static let background = ActivityOptions(rawValue: 0x0000_00FF)
    /// Has no effect here.
    public static let latencyCritical = ActivityOptions(rawValue: 0xFF_0000_0000)
    /// As ``userInitiated``.
    public static let userInteractive = ActivityOptions([.userInitiated, .latencyCritical])

    /// Whether the host waits for the activity.
    fileprivate var keepsHost: Bool { !isDisjoint(with: [.suddenTerminationDisabled, .automaticTerminationDisabled]) }
  }

  /// Calls `block(false)` on a background queue, and keeps the host from ending in the middle of it: with an execution assertion of a live
  /// run, for at most 30 s. When that time is over, and `block(false)` has not returned, `block(true)` is called on another thread: end
  /// what is in progress.
  ///
  /// If the host is shutting down already, or no run is live, `block(true)` is called alone, as on iOS. The assertion ends with its run:
  /// wait for the activity before you complete the task.
  public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
    let run = CurrentRun.any
    DispatchQueue.global().async {
      guard let assertion = Self.assertion(of: run, reason, for: .seconds(30), onExpiration: { block(true) }) else { return block(true) }
      block(false)
      assertion.end()
    }
  }

  /// Begins an activity. With an option that disables termination, an execution assertion of a live run keeps the host from ending in the
  /// middle of it: until ``endActivity(_:)``, the end of that run, or for 10 minutes. Other options have no effect.
  ///
  /// - Returns: The activity. It ends when it is released, too.
  public func beginActivity(options: ActivityOptions = [], reason: String) -> any NSObjectProtocol {
    Activity(options.keepsHost ? Self.assertion(of: CurrentRun.any, reason, for: .seconds(600), onExpiration: nil) : nil)
  }

  /// Ends an activity of ``beginActivity(options:reason:)``; does nothing with another object, or if it has ended.
  public func endActivity(_ activity: any NSObjectProtocol) { (activity as? Activity)?.assertion?.end() }

  /// Calls `block` within an activity: see ``beginActivity(options:reason:)``.
  public func performActivity(options: ActivityOptions = [], reason: String, using block: () -> Void) {
    let activity = beginActivity(options: options, reason: reason)
    defer { endActivity(activity) }
    block()
  }

  /// Takes an assertion; `nil` if there is no live run, or the host grants none.
  private static func assertion(
    of run: GatedRun?, _ reason: String, for length: Duration, onExpiration: (@Sendable () -> Void)?
  ) -> ExecutionAssertion? {
    // The host takes 1,024 bytes; a character that is cut becomes one of three.
    let reason = reason.isEmpty ? nil : String(decoding: reason.utf8.filter { $0 != 0 }.prefix(1000), as: UTF8.self)
    return run?.call { run in
      try? ExecutionAssertion(run, run.identifier, reason: reason, for: length, onExpiration: onExpiration)
    } ?? nil
  }
}

/// An activity in progress. `@unchecked Sendable`: nothing of it changes.
private final class Activity: NSObject, @unchecked Sendable {
  let assertion: ExecutionAssertion?

  init(_ assertion: ExecutionAssertion?) { self.assertion = assertion }
}
