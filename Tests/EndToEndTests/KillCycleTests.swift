import TestSupport
import Foundation
import Glibc
import Testing

/// A host that is killed at random moments, over and over, on the same state.
@Suite("Kills at random moments", .timeLimit(.minutes(20)))
struct KillCycleTests {
  /// 60, or what `TASKHOST_CYCLES` says.
  private static let cycles = ProcessInfo.processInfo.environment["TASKHOST_CYCLES"].flatMap { Int($0) } ?? 60
  /// Drawn anew each time, or what `TASKHOST_SEED` says: it is in the message of a failure.
  private static let seed =
    ProcessInfo.processInfo.environment["TASKHOST_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64(UInt32.max))

  @Test("78: killed with SIGKILL at random moments, a host loses nothing acknowledged and runs nothing again whose success was seen")
  func cycles() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DMAX_RUNS=8"])
      try host.configure("max_concurrent_runs = 8\nmax_pending = 1000000\n")
      let notes = try host.directory.shared("notes")
      let ledger = Ledger(notes: notes)
      var chance = SplitMix(state: Self.seed)
      for cycle in 0..<Self.cycles {
        // One in four is killed while it starts, the others after some dozens of answers and successes, and a moment.
        let isEarly = Int.random(in: 0..<4, using: &chance) == 0
        if isEarly { try host.spawn() } else { try await host.start() }
        let clients = (0..<3).map { client in submit(to: host.socket, ledger, notes, UInt64(cycle * 3 + client) ^ Self.seed) }
        let observer = try? await ledger.follow(host.socket)
        if !isEarly { await ledger.hear(Int.random(in: 0...60, using: &chance), within: .seconds(10)) }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...(isEarly ? 60_000 : 5000), using: &chance)))
        await host.kill()
        for client in clients { await client.value }
        await observer?.value
        ledger.close()
      }
      try await host.start()
      try await expectKept(host, ledger)
      #expect(ledger.acknowledged.count > Self.cycles, "seed \(Self.seed)")
      #expect(ledger.succeeded.count > Self.cycles, "seed \(Self.seed): hardly any success was seen")
      print(
        "\(Self.cycles) kills, seed \(Self.seed): \(ledger.acknowledged.count) requests acknowledged, \(ledger.succeeded.count) seen to succeed"
      )
    }
  }

  /// A client that submits until the host is gone.
  private func submit(to socket: String, _ ledger: Ledger, _ notes: String, _ seed: UInt64) -> Task<Void, Never> {
    Task {
      try? await onThread {
        var chance = SplitMix(state: seed)
        let connection = try SocketClient(socket, limit: .seconds(20))
        while true {
          let answer = try connection.request("POST", "/v1/requests", body: Self.body(notes, &chance))
          guard answer.status == 201 else { continue }
          let json = try answer.json()
          ledger.acknowledge((json["requests"]?.array ?? [json]).compactMap { $0["id"]?.string })
          usleep(UInt32.random(in: 0...1500, using: &chance))
        }
      }
    }
  }

  private static func body(_ notes: String, _ chance: inout SplitMix) -> String {
    func one(_ steps: String, _ more: String = "") -> String {
      "{\"identifier\": \"test.script\", \"payload\": \"note \(notes)\(steps)\"\(more)}"
    }
    switch Int.random(in: 0..<8, using: &chance) {
    case 0: return one(";sleep \(Int.random(in: 1...5, using: &chance))")
    case 1: return one(";result-until 2 3")
    case 2: return one(";state-set k v;checkpoint-set c")
    case 3: return one("", ", \"delay_ms\": \(Int.random(in: 1...80, using: &chance))")
    case 4:
      let key = "\", \"on_conflict\": \"keep\""
      return one("", ", \"unique_key\": \"\(Int.random(in: 0..<4, using: &chance))" + key)
    case 5: return "[\(one("")), \(one("")), \(one(";sleep 1"))]"
    default: return one("")
    }
  }

  /// Numbers that follow from a seed (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
