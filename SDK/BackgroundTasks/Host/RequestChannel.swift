/// Passes requests to the host: a launch in progress, or a live run. Usable from any thread.
protocol RequestChannel {
  func pending() throws -> [ListedRequest]

  /// Cancels the pending requests of the host's identifier; for a wildcard, only those submitted as `identifier`.
  func cancel(hostIdentifier: String, identifier: String) throws

  func cancelAll() throws

  /// Cancels these pending requests of the order's identifier, for which `submit` submits another one. They stay if that is refused.
  func replace(_ pending: [ListedRequest], of order: Order, submit: () throws -> Void) throws

  /// - Parameter atOnce: Refuse the request if it is known that it would not begin at once.
  func submit(_ order: Order, atOnce: Bool) throws
}
