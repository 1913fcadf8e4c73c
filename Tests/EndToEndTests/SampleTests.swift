import Foundation
import Testing

/// What `make run` starts: the samples as a third party builds them, and the built-in plugins.
@Suite("Samples and built-in plugins", .timeLimit(.minutes(20)))
struct SampleTests {
  /// Where `make samples` puts the samples.
  private static let samples = ProcessInfo.processInfo.environment["TASKHOST_SAMPLES"]

  @Test(
    "the samples greet whom they are told to",
    .enabled(if: samples != nil, "make test builds the samples and sets TASKHOST_SAMPLES"),
    arguments: [("hello-c.so", "hello-c"), ("hello-swift/release/libHelloSwift.so", "hello-swift")])
  func greets(_ file: String, _ name: String) async throws {
    let samples = try #require(Self.samples)
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/sample.so", try Data(contentsOf: URL(filePath: "\(samples)/\(file)")))
      try host.configure("")
      try await host.start()
      let result = try await host.cli("submit", "org.taskhost.samples.\(name)", "--payload", "{\"name\": \"reader\"}", "--wait")
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.errors.contains("hello, "), "\(result.errors)")
      #expect(result.errors.contains("reader"), "\(result.errors)")
    }
  }

  @Test("the cleanup plugin removes what its rule says, and nothing the second time")
  func cleanup() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/libCleanup.so", try Data(contentsOf: URL(filePath: try TaskHostBinary.plugin("libCleanup.so"))))
      try host.directory.folder("litter")
      for number in 0..<5 { try host.directory.file("litter/\(number).log", "x") }
      try host.directory.file("litter/keep.txt", "x")
      try host.configure(
        """
        [[plugin."org.taskhost.cleanup".settings.rules]]
        directory = "\(host.directory("litter"))"
        glob = "*.log"
        max_count = 2
        if_unsure = "remove"

        [plugin."org.taskhost.cleanup".entitlements]
        write = ["\(host.directory("litter"))"]
        read = ["/proc"]

        """)
      try await host.start()
      for (removed, left) in [(3, 3), (0, 3)] {
        let result = try await host.cli("submit", "org.taskhost.cleanup", "--wait")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("\"removed\":\(removed)"), "\(result.output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory("litter")).count == left)
      }
    }
  }
}
