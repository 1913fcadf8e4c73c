import TestSupport
import Foundation
import Testing

/// What `make run` starts: the samples as a third party builds them, and the built-in plugins.
@Suite("Samples and built-in plugins", .timeLimit(.minutes(20)))
struct SampleTests {
  /// Where `make samples` puts the samples.
  private static let samples = ProcessInfo.processInfo.environment["TASKHOST_SAMPLES"]

  /// A sample: its file under `make samples`' folder, the last part of its identifier.
  struct Sample: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    var identifier: String { "org.taskhost.samples.\(name)" }
    var testDescription: String { name }
  }

  /// Those that greet and count to ten in a second.
  private static let greeters = [
    Sample(file: "hello-c.so", name: "hello-c"),
    Sample(file: "hello-cpp.so", name: "hello-cpp"),
    Sample(file: "hello-rust.so", name: "hello-rust"),
    Sample(file: "swift/release/libHelloSwift.so", name: "hello-swift"),
  ]

  private static let notesSync = Sample(file: "swift/release/libNotesSync.so", name: "notes-sync")

  /// Gives `body` a host that has launched with one sample.
  private func run(_ sample: Sample, _ configuration: String = "", _ body: (HostProcess) async throws -> Void) async throws {
    let samples = try #require(Self.samples)
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/sample.so", try Data(contentsOf: URL(filePath: "\(samples)/\(sample.file)")))
      try host.configure(configuration)
      try await host.start()
      try await body(host)
    }
  }

  @Test(
    "the samples greet whom they are told to, and count",
    .enabled(if: samples != nil, "make test builds the samples and sets TASKHOST_SAMPLES"),
    arguments: greeters)
  func greets(_ sample: Sample) async throws {
    try await run(sample) { host in
      let result = try await host.cli("submit", sample.identifier, "--payload", "{\"name\": \"reader\"}", "--wait")
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.errors.contains("hello, "), "\(result.errors)")
      #expect(result.errors.contains("reader"), "\(result.errors)")
      #expect(result.output.contains("{\"counted\":10}"), "\(result.output)")
    }
  }

  @Test(
    "the samples stop when they are told to, and say so",
    .enabled(if: samples != nil, "make test builds the samples and sets TASKHOST_SAMPLES"),
    arguments: greeters)
  func stops(_ sample: Sample) async throws {
    let configuration = "[retry]\nattempts = 1\n\n[plugin.\"\(sample.identifier)\"]\nbudget = \"300ms\"\n"
    try await run(sample, configuration) { host in
      let result = try await host.cli("submit", sample.identifier, "--wait", "--json")
      #expect(result.status == 1, "\(result.errors)")
      let run = try #require(try result.json()["run"])
      #expect(run["expired"]?.bool == true)
      #expect(run["forced"]?.bool != true)
      #expect(run["message"]?.string?.hasPrefix("asked to stop before the end") == true, "\(run)")
    }
  }

  @Test(
    "notes-sync copies a folder in as many runs as its budget takes, and again only what has changed",
    .enabled(if: samples != nil, "make test builds the samples and sets TASKHOST_SAMPLES"))
  func synchronizesNotes() async throws {
    let settings = "[plugin.\"\(Self.notesSync.identifier)\".settings]\nnotes_per_run = 2\nquiet_ms = 1000\n"
    try await run(Self.notesSync, settings) { host in
      let identifier = Self.notesSync.identifier
      // A first pass over nothing: the plugin makes its folders.
      #expect(try await submit(host, "{}")["run"]?["outcome"]?.string == "noop")
      let data = "state/data/\(identifier)"
      for number in 1...5 { try host.directory.file("\(data)/notes/\(number).txt", "note \(number)") }
      let pass = try await submit(host, "{}")
      #expect(pass["outcome"]?.string == "succeeded", "\(pass)")
      #expect(pass["run"]?["message"]?.string == "complete: 1 items, 4 before", "\(pass)")
      #expect(pass["run"]?["attempt"]?.integer == 1, "a snooze spends no attempt")
      let id = try #require(pass["submission"]?["id"]?.string)
      #expect(try await host.runs(of: id).count == 3)
      for number in 1...5 { #expect(host.directory.text("\(data)/copies/\(number).txt") == "note \(number)") }

      try host.directory.file("\(data)/notes/2.txt", "changed")
      try FileManager.default.removeItem(atPath: host.directory("\(data)/notes/4.txt"))
      for names in ["\"2.txt\"", "\"4.txt\"", "\"2.txt\", \"../../escape.txt\""] {
        let change = try await submit(host, "{\"changed\": [\(names)]}")
        #expect(change["outcome"]?.string == "succeeded", "\(change)")
      }
      // The three triggers have made one request, which holds the set's key.
      let holder = try await host.json(
        "submit", identifier, "--payload", "{\"drain\": true}", "--key", "taskhost.triggers.changed", "--on-conflict", "keep")
      let drain = try #require(holder["id"]?.string)
      try await host.request(drain, is: "succeeded")
      #expect(host.directory.text("\(data)/copies/2.txt") == "changed")
      #expect(!FileManager.default.fileExists(atPath: host.directory("\(data)/copies/4.txt")))
      #expect(try await host.runs(of: drain).count == 2, "three names, two a run")
    }
  }

  /// Submits to notes-sync and waits for the end, whatever it is: `submission`, `outcome`, `run`.
  private func submit(_ host: HostProcess, _ payload: String) async throws -> JSON {
    try await host.cli("submit", Self.notesSync.identifier, "--payload", payload, "--wait", "--json").json()
  }

  @Test("the cleanup plugin removes what its rule says, and nothing the second time")
  func cleanup() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libCleanup.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libCleanup.so"))))
      try host.directory.folder("litter")
      for number in 0..<5 { try host.directory.file("litter/\(number).log", "x") }
      try host.directory.file("litter/keep.txt", "x")
      try host.configure(
        """
        [[plugin."org.taskhost.cleanup".settings.rules]]
        directory = "\(host.directory("litter"))"
        glob = "*.log"
        max_count = 2

        [plugin."org.taskhost.cleanup".entitlements]
        write = ["\(host.directory("litter"))"]

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
