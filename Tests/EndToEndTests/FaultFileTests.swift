import TestSupport
import Foundation
import Glibc
import Synchronization
import Testing

/// Faults 19 to 21: files that change under the host's hands, and signatures. 1 to 18, 22 and 23 are in ``BrokenFileTests``.
@Suite("Faults 19-21: files that change, signatures", .timeLimit(.minutes(20)))
struct FaultFileTests {
  private static let damages = ["truncated", "overwritten", "deleted", "replaced"]

  @Test(
    "20: a file that is truncated, overwritten, deleted or replaced while it is in use changes nothing, in the run that lives and in later ones",
    arguments: damages, Isolation.allCases)
  func whileInUse(_ damage: String, _ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      // A worker ends as soon as it has nothing to do, so that the later run needs the file once more; a worker that crashes, too.
      try await host.add("fault.so", "faulty_crash")
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path);facts", identifier: "test.fault")
      try await gate.arrival()
      let path = host.plugins + "/fault.so"
      let size = (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
      switch damage {
      case "truncated": #expect(truncate(path, 0) == 0)
      case "overwritten":
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Data(repeating: 0xCC, count: size))
        try handle.close()
      case "deleted": unlink(path)
      default:
        let other = try host.directory.file("other", try await Fixtures.shared.bytes(of: "faulty_launch"))
        #expect(rename(other, path) == 0)
      }
      gate.release()
      try await host.request(live, is: "succeeded")
      #expect(try await host.fault("facts")["outcome"]?.string == "succeeded")
      if isolation == .process {
        // A new worker is started on what was checked.
        let crash = try await host.submit("once \(try host.unusedPath());segfault", identifier: "test.fault")
        try await host.request(crash, is: "succeeded")
      }
      try await expectTwinRuns(host)
      // The next host looks again.
      try await host.terminate()
      try await host.start()
      let plugins = try await host.json("plugins", "list")["plugins"]?.array ?? []
      let file = plugins.first { $0["file"]?.string == path }
      switch damage {
      case "deleted": #expect(file == nil)
      case "replaced": #expect(file?["identifier"]?.string == "test.faulty")
      default: #expect(file?["standing"]?.string == "refused", "\(String(describing: file))")
      }
      try await expectTwinRuns(host)
    }
  }

  @Test("19: a file that is replaced again and again while the host launches: what was checked is what runs", arguments: Isolation.allCases)
  func replacedWhileChecked(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      let keys = try await Keys(host, names: ["vendor"])
      try await host.add("fault.so", "faulty_launch", ["-DIDENTIFIER=\"test.fault\""])
      try await host.addTwin()
      for name in ["fault.so", "twin.so"] { try await keys.sign("plugins/" + name, with: "vendor") }
      try host.configure(keys.configuration(["vendor": ["test.*"]]))
      // The intruder's very loading is heard: it prints.
      let good = try Data(contentsOf: URL(filePath: host.plugins + "/fault.so"))
      let intruder = try await Fixtures.shared.bytes(of: "faulty_launch", ["-DIDENTIFIER=\"test.fault\"", "-DFAULT_CONSTRUCTOR=prints"])
      try host.directory.file("good", good)
      try host.directory.file("intruder", intruder)
      let isOver = Mutex(false)
      let (directory, target) = (host.directory.path, host.plugins + "/fault.so")
      let swapping = Task {
        try await onThread {
          var count = 0
          while !isOver.withLock({ $0 }) {
            for name in ["intruder", "good"] {
              unlink(directory + "/next")
              // A copy, not a link: a hard link is refused for other reasons.
              guard let bytes = FileManager.default.contents(atPath: directory + "/" + name) else { continue }
              _ = FileManager.default.createFile(atPath: directory + "/next", contents: bytes, attributes: [.posixPermissions: 0o644])
              rename(directory + "/next", target)
              count += 1
            }
          }
          return count
        }
      }
      defer { isOver.withLock { $0 = true } }
      var pluginHealth: [String] = []
      for _ in 1...8 {
        try await host.start()
        let plugin = try await host.plugin("fault.so")
        pluginHealth.append(plugin["standing"]?.string ?? "")
        if plugin["standing"]?.string == "registered" {
          #expect(try await host.run("x", identifier: "test.fault")["outcome"]?.string == "succeeded")
        }
        #expect(!host.current.lines.contains { $0.contains("zzzzzzzz") }, "unsigned code has run")
        try await expectTwinRuns(host)
        #expect(try await host.terminate().status == 0)
      }
      isOver.withLock { $0 = true }
      #expect(try await swapping.value > 8, "it was replaced meanwhile")
      #expect(pluginHealth.allSatisfy { ["registered", "refused"].contains($0) }, "\(pluginHealth)")
    }
  }

  @Test("21: a signature that is missing, wrong, for another file, or by another key", arguments: Isolation.allCases)
  func signatures(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      let keys = try await Keys(host, names: ["vendor", "other", "stranger"])
      let names = ["missing", "garbage", "foreign", "stranger", "changed", "prefix", "writable", "good"]
      for name in names { try await host.add("\(name).so", "faulty_launch", ["-DIDENTIFIER=\"test.\(name)\""]) }
      try await host.addTwin()
      for name in ["changed", "writable", "good", "twin"] { try await keys.sign("plugins/\(name).so", with: "vendor") }
      try host.directory.file("plugins/garbage.so.sig", Data((0..<200).map { UInt8($0) }))
      try host.directory.file("plugins/foreign.so.sig", try Data(contentsOf: URL(filePath: host.plugins + "/good.so.sig")))
      try await keys.sign("plugins/stranger.so", with: "stranger")
      try await keys.sign("plugins/prefix.so", with: "other")
      chmod(host.plugins + "/writable.so.sig", 0o666)
      var bytes = try Data(contentsOf: URL(filePath: host.plugins + "/changed.so"))
      bytes[bytes.count - 1] ^= 1
      try host.directory.file("plugins/changed.so", bytes)
      try host.configure(keys.configuration(["vendor": ["test.*"], "other": ["com.other.*"]]))
      try await host.start()
      let words = [
        "missing": "missing.so.sig does not exist", "garbage": "garbage.so.sig", "foreign": "does not match", "stranger": "trusted_keys",
        "changed": "does not match", "prefix": "com.other.*", "writable": "writable.so.sig",
      ]
      for (name, seen) in words {
        try await expectRefusal(BrokenFileTests.Case(file: name + ".so", code: "signature", seen: [seen]), of: host)
      }
      let good = try await host.plugin("good.so")
      #expect(good["standing"]?.string == "registered" && good["signature"]?.string != nil, "\(good)")
      try await expectTwinRuns(host)
    }
  }

  @Test("21: taskhost plugins verify tells good from bad")
  func verify() async throws {
    try await HostProcess.prepare { host in
      let keys = try await Keys(host, names: ["vendor", "other"])
      try await host.addTwin()
      try await keys.sign("plugins/twin.so", with: "vendor")
      let file = host.plugins + "/twin.so"
      #expect(try await host.cli("plugins", "verify", file, "--key", keys.path("vendor.pub")).status == 0)
      let wrong = try await host.cli("plugins", "verify", file, "--key", keys.path("other.pub"))
      #expect(wrong.status == 1 && wrong.errors.hasPrefix("taskhost: "), "\(wrong.errors)")
      truncate(file, 100)
      #expect(try await host.cli("plugins", "verify", file, "--key", keys.path("vendor.pub")).status == 1)
    }
  }

  /// Keys made by the command line, in a directory of their own.
  private struct Keys {
    private let host: HostProcess

    init(_ host: HostProcess, names: [String]) async throws {
      self.host = host
      try host.directory.folder("keys")
      for name in names {
        let made = try await host.cli("plugins", "keygen", path(name))
        try #require(made.status == 0, "\(made.errors)")
      }
    }

    func path(_ name: String) -> String { host.directory("keys/" + name) }

    func sign(_ file: String, with key: String) async throws {
      let signed = try await host.cli("plugins", "sign", host.directory(file), "--key", path(key + ".key"))
      try #require(signed.status == 0, "\(signed.errors)")
    }

    func configuration(_ trusted: [String: [String]]) -> String {
      trusted.reduce("require_signatures = true\n") { text, key in
        let patterns = key.value.map { "\"\($0)\"" }.joined(separator: ", ")
        return text + "[[trusted_keys]]\nfile = \"\(path(key.key + ".pub"))\"\nidentifiers = [\(patterns)]\n"
      }
    }
  }
}
