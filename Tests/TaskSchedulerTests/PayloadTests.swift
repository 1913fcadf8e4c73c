import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

/// Payloads of typed handlers, as far as they concern the scheduler: what is objected to is not taken.
@Suite("Payloads") struct PayloadTests {
  /// A world whose handler takes only what begins with "{".
  private func world() throws -> World {
    let world = try World()
    world.core.rejection = { payload, _ in payload.first == UInt8(ascii: "{") ? nil : "argument a: it is missing" }
    return world
  }

  @Test("a payload that does not fit is refused with the sentence, and nothing is stored")
  func refused() throws {
    let world = try world()
    var request = TaskRequest.sample()
    request.payload = Array("5".utf8)
    #expect { try world.submit(request) } throws: { error in
      guard let refusal = error as? RequestRefusal else { return false }
      return refusal.code == .invalid && refusal.field == "payload" && refusal.message.hasSuffix("argument a: it is missing")
    }
    #expect(try world.store.counts().isEmpty)
    request.payload = Array("{}".utf8)
    _ = try world.submit(request)
    #expect(world.begun.count == 1)
  }

  @Test("a simulated launch submits an empty payload, which is refused where that does not fit")
  func simulated() throws {
    let world = try world()
    #expect(throws: RequestRefusal.self) {
      try world.turn { core, transaction in try core.simulateLaunch(.sample(), transaction, now: world.now) }
    }
    #expect(try world.store.counts().isEmpty)
  }
}
