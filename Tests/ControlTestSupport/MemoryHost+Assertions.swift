import Synchronization
public import TaskModel

/// Assertions: held until they are given back.
extension MemoryHost {
  /// The assertions that were asked for, as they arrived.
  public var asked: [AssertionRequest] { state.withLock { $0.asked } }
  /// From now on, an assertion ends at once.
  public func setForgetsAssertions() { state.withLock { $0.forgetsAssertions = true } }

  /// As the protocol says; never refused.
  public func beginAssertion(_ request: AssertionRequest) async throws(RequestRefusal) -> Assertion {
    let assertion = Assertion(id: AssertionID(sequence: newSequence(), origin: 1), request: request, since: now)
    state.withLock { state in
      state.asked.append(request)
      if !state.forgetsAssertions { state.assertions[assertion.id] = assertion }
    }
    emit(.assertion(assertion))
    return assertion
  }

  /// As the protocol says.
  public func giveBackAssertion(_ id: AssertionID) async throws(RequestRefusal) -> Assertion {
    guard var assertion = state.withLock({ $0.assertions.removeValue(forKey: id) }) else {
      throw RequestRefusal(.notFound, "there is no assertion \(id)", field: "id")
    }
    (assertion.state, assertion.remaining) = (.givenBack, .zero)
    emit(.assertion(assertion))
    return assertion
  }

  /// As the protocol says.
  public func heldAssertions() async -> [Assertion] { state.withLock { $0.assertions.values.sorted { $0.id < $1.id } } }
}
