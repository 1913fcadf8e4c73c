/// The calls of a plugin that a test can make fail or slow down.
public struct HostCall: OptionSet, Sendable, Hashable {
  /// The bits of the calls below.
  public let rawValue: UInt32

  /// A set of the calls below.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Reading a value of the state.
  public static let stateGet = HostCall(rawValue: 1)
  /// Writing or deleting a value of the state.
  public static let stateSet = HostCall(rawValue: 2)
  /// Reading the checkpoint.
  public static let checkpointGet = HostCall(rawValue: 4)
  /// Writing or deleting the checkpoint.
  public static let checkpointSet = HostCall(rawValue: 8)
  /// Submitting a request, changing or postponing one.
  public static let submit = HostCall(rawValue: 16)
  /// Cancelling requests, also through the extension.
  public static let cancel = HostCall(rawValue: 32)
  /// Listing requests and runs, and asking about them and the machine.
  public static let list = HostCall(rawValue: 64)
  /// Raising an event.
  public static let notify = HostCall(rawValue: 128)
  /// Taking or ending an execution assertion. One that fails with `unavailable` looks like a host that is shutting down.
  public static let assertion = HostCall(rawValue: 256)

  /// The calls that need disk space, and fail when there is none.
  public static let writes: HostCall = [.stateSet, .checkpointSet, .submit, .cancel, .notify]
  /// The calls that reach the store.
  public static let all: HostCall = [.stateGet, .checkpointGet, .list, .writes]
}
