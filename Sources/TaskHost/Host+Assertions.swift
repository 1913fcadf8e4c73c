import Logging
public import TaskModel

extension Host {
  /// Takes an execution assertion: a drain waits for it until it ends. Refused while the host drains.
  public func beginAssertion(_ request: AssertionRequest) throws(RequestRefusal) -> Assertion { try assertions.begin(request) }

  /// Gives an execution assertion back. Refused with `notFound` if it has ended.
  public func giveBackAssertion(_ id: AssertionID) throws(RequestRefusal) -> Assertion { try assertions.giveBack(id) }

  /// The execution assertions that are held, oldest first.
  public func heldAssertions() -> [Assertion] { assertions.all }

  /// The control socket has failed: a drain no longer waits for assertions that only a client could give back.
  public func controlFailed() { assertions.controlFailed() }

  /// Waits until no assertion is held, and tells the log who holds one.
  func waitForAssertions() async {
    let held = assertions.all
    if let longest = held.map(\.remaining).max() {
      let names = held.prefix(Self.namedAssertions).map(\.request.name).joined(separator: ", ")
      let more = held.count > Self.namedAssertions ? " and \(held.count - Self.namedAssertions) others" : ""
      log.notice("draining: no run is live; assertions are held for at most \(longest.wholeMilliseconds / 1000) s more: \(names)\(more)")
    }
    await assertions.released()
  }

  /// How many assertions a log line names.
  private static let namedAssertions = 5
}
