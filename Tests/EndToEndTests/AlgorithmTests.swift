import Foundation
import TestSupport
import Testing

@Suite("A libcrypto without an algorithm", .timeLimit(.minutes(5)))
struct AlgorithmTests {
  @Test(
    "a launch, a check and the store's commands say which algorithm is missing, and nothing crashes",
    arguments: [("AES-256-GCM", "encryption: "), ("AES-256-ECB", "encryption: "), ("SHA256", "")])
  func missing(_ algorithm: String, _ place: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      #expect(try await host.cli("store", "key", "store.key").status == 0)
      try host.configure("[encryption]\nkey_file = \"store.key\"\n")
      let library = try host.directory.file("no_algorithm.so", try await Fixtures.shared.bytes(of: "no_algorithm"))
      let environment = ["LD_PRELOAD": library, "TASKHOST_TEST_NO_ALGORITHM": algorithm]
      let name = algorithm == "SHA256" ? "SHA-256" : algorithm
      for (arguments, status) in [(["run", "--config"], 78), (["config", "check"], 78), (["doctor", "--offline", "--config"], 1)]
        as [([String], Int32)]
      {
        let result = try await Program.run(
          try BuiltProgram.taskhost, arguments + [host.directory("taskhost.toml")], environment: environment, directory: host.directory.path
        )
        #expect(result.status == status, "\(arguments): \(result)")
        let text = result.output + result.errors
        #expect(text.contains("\(place)libcrypto (OpenSSL) of this machine has no \(name)"), "\(arguments): \(text)")
      }
    }
  }
}
