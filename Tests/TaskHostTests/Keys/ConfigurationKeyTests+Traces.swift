import TaskModel
import Testing

@testable import TaskHost

extension ConfigurationKeyTests {
  /// `[traces]`.
  static let traceProofs: [String: KeyProof] = [
    "traces.endpoint": .endToEnd(
      "TraceExportTests",
      "submission, wait and run are spans of the caller's trace; a retry is the root of its own, with a link; payloads stay at home"),
    "traces.service_name": .endToEnd(
      "TraceExportTests",
      "submission, wait and run are spans of the caller's trace; a retry is the root of its own, with a link; payloads stay at home"),
    "traces.headers_file": .endToEnd("TraceExportTests", "headers_file gives headers with secrets, read for each message"),
    "traces.sample": .here { () throws in
      let half = try #require(try Self.sampling("0.5"))
      let sampled = (1...4000 as ClosedRange<Int64>).count { half.root(of: RequestID(sequence: $0, origin: 3)).isSampled }
      #expect((1800...2200).contains(sampled))
      #expect(try Self.sampling("0")?.root(of: RequestID(sequence: 1, origin: 3)).isSampled == false)
      #expect(try Self.sampling("1")?.root(of: RequestID(sequence: 1, origin: 3)).isSampled == true)
      #expect(try HostConfiguration.parse("", file: "/etc/t.toml").traceSampling == nil)
    },
  ]

  private static func sampling(_ part: String) throws -> TraceSampling? {
    try HostConfiguration.parse("[traces]\nendpoint = \"http://a\"\nsample = \(part)\n", file: "/etc/t.toml").traceSampling
  }
}
