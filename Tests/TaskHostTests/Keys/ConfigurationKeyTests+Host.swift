import Glibc
import HostConditions
import MemoryStore
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost
@testable import TaskScheduler

extension ConfigurationKeyTests {
  /// Keys of the host as a whole, besides its limits.
  static let hostProofs: [String: KeyProof] = [
    "permitted_identifiers": .here { () throws in
      let host = try ConfiguredHost("permitted_identifiers = [\"org.example.parked\", \"com.*\"]")
      #expect(try host.submit(.sample("org.example.parked")).notes.contains { $0.contains("parked") })
      let refusal = #expect(throws: RequestRefusal.self) { try host.submit(.sample("com.example.parked")) }
      #expect(refusal?.code == .unknownIdentifier)
      #expect(host.configuration.permits(.sample("com.example.any")) && !host.configuration.permits(.sample("net.example.any")))
    },
    "minimum_interval": .here { () throws in
      let host = try ConfiguredHost("minimum_interval = \"1h\"")
      #expect(try host.submit { $0.repetition = RepeatRule(every: .seconds(60)) }.effective?.repetition?.interval == .seconds(3600))
    },
    "history.keep": .here { () throws in try Self.expectKept("[history]\nkeep = \"1h\"", 2) },
    "history.runs": .here { () throws in try Self.expectKept("[history]\nruns = 3", 3) },
    "retry.attempts": .here { () throws in #expect(try Self.attempts("[retry]\nattempts = 2") == 2) },
    "retry.backoff": .here { () throws in
      let delays = try Self.delays("[retry]\nbackoff = \"linear\"\ninitial = \"100s\"", 4)
      #expect((320.0...480.0).contains(delays[3]), "\(delays)")
    },
    "retry.initial": .here { () throws in #expect((8.0...12.0).contains(try Self.delays("[retry]\ninitial = \"10s\"", 1)[0])) },
    "retry.maximum": .here { () throws in
      #expect(try Self.delays("[retry]\ninitial = \"10s\"\nmaximum = \"11s\"", 4).allSatisfy { (8.0...11.0).contains($0) })
    },
    "control.plaintext": .here { () throws in
      let open = "[control]\nlisten = \"0.0.0.0:7411\"\n"
      let refused = #expect(throws: ConfigurationError.self) { try HostConfiguration.parse(open, file: "/etc/t.toml") }
      #expect(refused?.problems.first?.message.contains("plaintext = true") == true)
      #expect(try HostConfiguration.parse(open + "plaintext = true", file: "/etc/t.toml").control.plaintext)
    },
    "control.certificate": .here { () throws in
      let open = "[control]\nlisten = \"0.0.0.0:7411\"\ncertificate = \"tls.pem\"\n"
      #expect(throws: ConfigurationError.self) { try HostConfiguration.parse(open, file: "/etc/t.toml") }
      let control = try HostConfiguration.parse(open + "key = \"tls.key\"", file: "/etc/t.toml").control
      #expect(control.certificate == "/etc/tls.pem" && control.key == "/etc/tls.key" && !control.plaintext)
    },
    "metered_interfaces": .here { () throws in
      var settings = try HostConfiguration.parse("metered_interfaces = [\"wwan0\"]", file: "/etc/t.toml").observedConditions
      #expect(settings.meteredInterfaces == ["wwan0"])
      settings.meteredInterfaces = []
      #expect(settings == ConditionSettings())
    },
  ]

  // MARK: Retries

  /// How often a request that always fails for now is tried.
  static func attempts(_ text: String) throws -> Int {
    let host = try ConfiguredHost(text)
    let id = try host.submit().id
    while try host.record(id).state != .failed {
      try host.end(id, .retry)
      try host.pass(.seconds(86_400))
    }
    return host.begun.count
  }

  /// After how many seconds it is tried again, the first times.
  static func delays(_ text: String, _ count: Int) throws -> [Double] {
    let host = try ConfiguredHost(text)
    let id = try host.submit().id
    return try (0..<count).map { _ in
      try host.end(id, .retry)
      let delay = try host.record(id).due - host.now
      try host.pass(delay)
      return Double(delay.wholeMilliseconds) / 1000
    }
  }

  // MARK: History

  /// A scheduler that begins with five runs of two hours ago and two of now keeps so many of them.
  private static func expectKept(_ text: String, _ count: Int) throws {
    let policy = try HostConfiguration.parse(text, file: "/etc/t.toml").schedulingPolicy()
    let store = MemoryRequestStore(origin: 7)
    let now = WallTime.testStart
    try store.commit { transaction in
      for index in 0..<7 as Range<Int64> {
        let ended = now + .seconds(index < 5 ? -7200 : -1)
        let id = RequestID(sequence: index * 2 + 1, origin: 7)
        try transaction.append(
          RunRecord(
            id: RunID(sequence: index * 2 + 2, origin: 7), request: id, identifier: .sample(), attempt: 1, started: ended, ended: ended,
            outcome: .succeeded))
      }
      // What Scheduler+Housekeeping does.
      while try transaction.prune(before: now + (.zero - policy.historyAge), keeping: policy.historyCount, limit: 500) {}
    }
    #expect(try store.runs(RunQuery()).count == count)
  }
}
