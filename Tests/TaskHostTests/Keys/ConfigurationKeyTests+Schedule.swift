import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost
@testable import TaskScheduler

extension ConfigurationKeyTests {
  /// A schedule of `task`, with `text` in its table.
  private static func table(_ text: String) -> String { "[schedule.\"org.example.task/weekly\"]\n\(text)\n" }

  /// The stored request of the schedule that `text` describes.
  private static func request(_ text: String) throws -> TaskRequest {
    let host = try ConfiguredHost(table("every = \"1h\"\n" + text))
    return try host.record(try #require(host.begun.first)).request
  }

  /// Keys of `[schedule."ID/NAME"]`.
  static let scheduleProofs: [String: KeyProof] = [
    "schedule.*.every": .here { () throws in
      let host = try ConfiguredHost(table("every = \"1h\"") + "[plugin.\"org.example.task\"]\nschedule = \"every 2h\"\n")
      #expect(host.begun.count == 2)
      for id in host.begun { try host.end(id) }
      try host.pass(.seconds(3600))
      #expect(host.begun.count == 3)
    },
    "schedule.*.cron": .here { () throws in
      let host = try ConfiguredHost(table("cron = \"30 * * * * UTC\""))
      #expect(host.begun.isEmpty)
      try host.pass(.seconds(1800))
      #expect(host.begun.count == 1)
    },
    "schedule.*.on": .here { () throws in
      let host = try ConfiguredHost(table("on = \"deploy\""))
      #expect(host.begun.isEmpty)
      try host.turn { core, transaction in _ = try core.notify("deploy", payload: nil, transaction, now: host.now) }
      #expect(host.begun.count == 1)
    },
    "schedule.*.payload": .here { () throws in
      #expect(try request("payload = { days = 7, deep = { a = [1, 2] } }").payload == Array("{\"days\":7,\"deep\":{\"a\":[1,2]}}".utf8))
    },
    "schedule.*.priority": .here { () throws in #expect(try request("priority = -3").priority == -3) },
    "schedule.*.tags": .here { () throws in #expect(try request("tags = [\"nightly\"]").tags == ["nightly"]) },
    "schedule.*.jitter": .here { () throws in
      let host = try ConfiguredHost(table("every = \"1h\"\njitter = \"30m\""))
      #expect(host.begun.isEmpty)
      try host.pass(.seconds(1800))
      #expect(host.begun.count == 1)
    },
    "schedule.*.wake": .here { () throws in #expect(try request("wake = true").gates.wakes) },
    "schedule.*.prefer": .here { () throws in #expect(try request("prefer = \"eu-west\"").gates.prefer == "eu-west") },
    "schedule.*.requires": .here { () throws in
      let host = try ConfiguredHost(table("every = \"1h\"\nrequires = [\"network\"]"))
      try host.set(.power)
      #expect(try host.record(try #require(host.begun.first)).request.conditions == .network)
    },
    "schedule.*.retry.attempts": .here { () throws in #expect(try request("retry = { attempts = 9 }").retry?.attempts == 9) },
    "schedule.*.retry.backoff": .here { () throws in #expect(try request("retry = { backoff = \"linear\" }").retry?.backoff == .linear) },
    "schedule.*.retry.initial": .here { () throws in
      let retry = try request("retry = { initial = \"2s\" }\n[plugin.\"org.example.task\".retry]\nattempts = 4").retry
      #expect(retry?.initial == .seconds(2) && retry?.attempts == 4)
    },
    "schedule.*.retry.maximum": .here { () throws in #expect(try request("retry = { maximum = \"2h\" }").retry?.maximum == .seconds(7200))
    },
  ]
}
