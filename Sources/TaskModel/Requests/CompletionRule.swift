/// Of one identifier, what is submitted in the commit in which a request of it ends: a report for who waits for that.
public struct CompletionRule: Sendable {
  /// The identifier. The scheduler records who submits its requests, see ``TaskRequest/owner``.
  public var identifier: TaskIdentifier
  /// Why whoever waits for a request, as its payload says, cannot be told by this owner's requests; nil if it can, or nobody waits. Called
  /// on the scheduler's thread.
  public var refusal: @Sendable (_ payload: [UInt8], _ owner: TaskIdentifier?) -> RequestRefusal?
  /// The file whose change ends the backoff of a request, because its last run lacked something that is in it; nil if time alone does. Called
  /// on the scheduler's thread.
  ///
  /// - `payload`: The request's, as it was submitted.
  /// - `output`: That of its last run.
  public var awaitedFile: @Sendable (_ payload: [UInt8], _ output: [UInt8]) -> String?
  /// The request that removes what a request has left that ends without another run; nil if nothing can be left. It has run. Called on the
  /// scheduler's thread.
  public var sweep: @Sendable (_ ended: RequestRecord) -> TaskRequest?
  /// The request that tells who waits; nil if nobody does. Called on the scheduler's thread.
  ///
  /// - `ended`: The request, with its payload, as it was submitted.
  /// - `state`: What it ended as.
  /// - `output`: That of its last run; empty if it never ran.
  public var request: @Sendable (_ ended: RequestRecord, _ state: RequestState, _ output: [UInt8]) throws(RequestRefusal) -> TaskRequest?

  /// Creates a rule.
  public init(
    identifier: TaskIdentifier, refusal: @escaping @Sendable ([UInt8], TaskIdentifier?) -> RequestRefusal?,
    awaitedFile: @escaping @Sendable (_ payload: [UInt8], _ output: [UInt8]) -> String? = { _, _ in nil },
    sweep: @escaping @Sendable (_ ended: RequestRecord) -> TaskRequest? = { _ in nil },
    request: @escaping @Sendable (RequestRecord, RequestState, [UInt8]) throws(RequestRefusal) -> TaskRequest?
  ) {
    self.identifier = identifier
    self.refusal = refusal
    self.awaitedFile = awaitedFile
    self.sweep = sweep
    self.request = request
  }
}
