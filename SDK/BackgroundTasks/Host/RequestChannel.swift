/// Passes requests to the host: a launch in progress, or a live run. Usable from any thread.
protocol RequestChannel {
  func pending() throws -> [ListedRequest]

  /// Cancels the pending requests of the host's identifier; if that is a wildcard's, only those submitted as `identifier`.
  func cancel(hostIdentifier: String, identifier: String) throws

  func cancelAll() throws

  /// Submits a request.
  ///
  /// - Parameter atOnce: Refuse it if it would not begin at once, as far as that is known.
  func submit(_ order: Order, atOnce: Bool) throws
}
