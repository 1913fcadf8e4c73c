import Testing

/// Foundation and libdispatch as a plugin brings them along: in itself, or as libraries.
@Suite("The main thread of a worker", .timeLimit(.minutes(20)))
struct MainThreadTests {
  /// How the plugin has Foundation.
  enum Linking: String, CaseIterable, Sendable {
    /// In itself, with all names hidden; the SDK's function finds it.
    case inside
    /// As libraries, with the SDK.
    case libraries
    /// As libraries, without the SDK: it is found by its names.
    case withoutSDK

    var arguments: [String] {
      switch self {
      case .inside: ["-Xlinker", "-s"]
      case .libraries: ["-no-static-stdlib"]
      case .withoutSDK: ["-no-static-stdlib", "-DWITHOUT_SDK"]
      }
    }
  }

  @Test(
    "it is the main thread of the plugin's code: queue, run loop, timers, observers and actor are served there", arguments: Linking.allCases
  )
  func served(_ linking: Linking) async throws {
    try await HostProcess.prepare { host in
      try await host.add("main.so", "main_thread", linking.arguments)
      try host.configure("[plugin.\"test.main-thread\"]\nbudget = \"60s\"\ngrace = \"1s\"\n")
      try await host.start()
      let output = try await host.json("submit", "test.main-thread", "--wait")["run"]?["output"]
      for name in ["actor", "async", "launch", "nested", "observer", "perform", "sync", "timer"] {
        #expect(output?[name]?.integer == 0, "\(name): \(String(describing: output))")
      }
    }
  }
}
