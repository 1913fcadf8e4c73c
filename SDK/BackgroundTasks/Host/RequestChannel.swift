/// A way to the host for requests: a launch that is not over, or a live run. Usable from any thread.
protocol RequestChannel {
  func pending() throws -> [PendingRequest]

  /// Cancels what waits under the host's identifier, and of it only what was submitted as `identifier` where a wildcard covers several.
  func cancel(hostIdentifier: String, identifier: String) throws

  func cancelAll() throws

  /// Submits a request.
  ///
  /// - Parameter atOnce: Refuse it where it would not begin at once, as far as that is known.
  func submit(_ order: Order, atOnce: Bool) throws
}
