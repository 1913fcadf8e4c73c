public import TaskModel

/// A run to begin, as it travels. Its contract is the one in ``HostMessage/contracts(_:)`` with the same identifier.
public struct WireOrder: Sendable, Hashable {
  /// The run.
  public var run: RunID
  /// Its request.
  public var request: RequestID
  /// The identifier of its handler.
  public var identifier: TaskIdentifier
  /// At least 1, which is the request's first run.
  public var attempt: Int
  /// The submitted payload, at most ``TaskModel/Limits/payloadBytes``.
  public var payload: [UInt8]
  /// The packed arguments of a typed handler, at most ``TaskModel/Limits/argumentBytes``; nil for any other handler.
  public var arguments: [UInt8]?
  /// Whether the worker reports the run's begin with ``WorkerMessage/began(_:)``.
  public var tellsBegin: Bool
  /// The earliest time on the monotonic clock at which the handler may be called; nil: at once.
  public var notBefore: MonotonicTime?
  /// The run's trace; nil if its request was submitted without one.
  public var trace: RunTrace?
  /// For a request of a fleet: greater than that of every earlier owner of the request.
  public var fencingToken: Int64?

  /// Creates an order.
  public init(
    run: RunID, request: RequestID, identifier: TaskIdentifier, attempt: Int, payload: [UInt8], arguments: [UInt8]? = nil,
    tellsBegin: Bool = false, notBefore: MonotonicTime? = nil, trace: RunTrace? = nil, fencingToken: Int64? = nil
  ) {
    self.run = run
    self.request = request
    self.identifier = identifier
    self.attempt = attempt
    self.payload = payload
    self.arguments = arguments
    self.tellsBegin = tellsBegin
    self.notBefore = notBefore
    self.trace = trace
    self.fencingToken = fencingToken
  }

  /// The part of a launcher's order that travels.
  public init(_ order: RunOrder) {
    self.init(
      run: order.run, request: order.request, identifier: order.contract.identifier, attempt: order.attempt, payload: order.payload,
      arguments: order.arguments, tellsBegin: order.tellsBegin, notBefore: order.notBefore,
      trace: order.trace, fencingToken: order.fencingToken)
  }
}
