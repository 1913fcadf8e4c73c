public import TaskModel

/// A run to begin, as it travels: its contract is the one with the same identifier in ``HostMessage/contracts(_:)``.
public struct WireOrder: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// 1 for a request's first run; at least 1.
  public var attempt: Int
  /// What was submitted; at most ``TaskModel/Limits/payloadBytes``.
  public var payload: [UInt8]
  /// What a typed handler is called with, packed; at most ``TaskModel/Limits/argumentBytes``. nil for every other handler.
  public var arguments: [UInt8]?
  /// Its begin is told with ``WorkerMessage/began(_:)``.
  public var tellsBegin: Bool

  /// An order as given.
  public init(
    run: RunID, request: RequestID, identifier: TaskIdentifier, attempt: Int, payload: [UInt8], arguments: [UInt8]? = nil,
    tellsBegin: Bool = false
  ) {
    self.run = run
    self.request = request
    self.identifier = identifier
    self.attempt = attempt
    self.payload = payload
    self.arguments = arguments
    self.tellsBegin = tellsBegin
  }

  /// What of a launcher's order travels.
  public init(_ order: RunOrder) {
    self.init(
      run: order.run, request: order.request, identifier: order.contract.identifier, attempt: order.attempt, payload: order.payload,
      arguments: order.arguments, tellsBegin: order.tellsBegin)
  }
}
