import SchedulingLimits
import Testing

@Suite("Resources")
struct ResourcePoolTests {
  @Test("tokens are taken all or not at all, and given back")
  func take() {
    var pool = ResourcePool(["gpu": 2, "licence": 1])
    #expect(pool.take(["gpu": 1, "licence": 1]) == true)
    #expect((pool.free("gpu"), pool.free("licence")) == (1, 0))
    #expect(pool.take(["gpu": 1, "licence": 1]) == false)
    #expect((pool.free("gpu"), pool.free("licence")) == (1, 0))
    #expect(pool.take(["gpu": 1]) == true)
    #expect(
      pool.missing(for: ["licence": 1, "gpu": 2]).map(\.description) == ["needs 2 of gpu: 0 of 2 free", "needs 1 of licence: 0 of 1 free"])
    pool.give(["gpu": 1, "licence": 1])
    #expect((pool.free("gpu"), pool.free("licence")) == (1, 1))
  }

  @Test("what there is not is said, and that waiting does not help")
  func missing() throws {
    let pool = ResourcePool(["gpu": 1, "none": -3])
    let unknown = try #require(pool.missing(for: ["gqu": 1]).first)
    #expect(unknown.isForever)
    #expect(unknown.description == "there is no resource \"gqu\": define it under [resources], or as a label of a host under [fleet]")
    let more = try #require(pool.missing(for: ["gpu": 2]).first)
    #expect(more.isForever)
    #expect(more.description == "needs 2 of gpu, but its capacity is 1: raise it under [resources]")
    #expect(pool.missing(for: ["none": 1]).first?.capacity == 0)
    #expect(pool.missing(for: ["gpu": 0, "unknown": 0, "other": -1]) == [])
    #expect(pool.canTake([:]))
  }

  @Test("nothing is ever negative, whatever is given back or becomes of the capacity")
  func neverNegative() {
    var pool = ResourcePool(["gpu": 2])
    pool.give(["gpu": 5, "unknown": 1])
    #expect(pool.free("gpu") == 2)
    #expect(pool.take(["gpu": 2]) == true)
    pool.resize(["gpu": 1])
    #expect(pool.free("gpu") == 0)
    pool.give(["gpu": 1])
    #expect(pool.free("gpu") == 0)
    pool.give(["gpu": 1])
    #expect(pool.free("gpu") == 1)
    #expect(pool.take(["gpu": 1]) == true)
    pool.resize([:])
    #expect(pool.free("gpu") == 0)
    pool.resize(["gpu": 3])
    #expect(pool.free("gpu") == 2)
    #expect(pool.take(["gpu": -1, "other": 1]) == false)
    #expect(pool.take(["gpu": -1]) == true)
    #expect(pool.free("gpu") == 2)
  }
}
