/// Passes requests to the host: a launch in progress, or a live run. Usable from any thread.
protocol RequestChannel {
  func pending() throws -> [ListedRequest]

  /// Cancels the pending requests of the host's identifier; for a wildcard, only those submitted as `identifier`.
  func cancel(hostIdentifier: String, identifier: String) throws

  func cancelAll() throws

  /// - Parameter atOnce: Refuse the request if it is known that it would not begin at once.
  func submit(_ order: Order, atOnce: Bool) throws
}
