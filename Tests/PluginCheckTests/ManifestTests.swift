import TestSupport
import Foundation
import Testing

/// `plugins check` and `plugins inspect` of a manifest that adopts a library.
@Suite("Manifests as plugins check and inspect see them", .timeLimit(.minutes(10)))
struct ManifestTests {
  /// A manifest in a folder of its own, which is removed with it.
  private final class Manifest {
    private let folder: URL

    /// - Parameter symbol: The function of zlib's.
    init(_ symbol: String = "crc32") throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "taskhost-check-test-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      let text = """
        identifier = "org.example.crc32"
        kind = "refresh"
        library = "libz.so.1"
        symbol = "\(symbol)"
        signature = "u64(u64 crc?, bytes data)"
        success = "any"

        """
      try Data(text.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    }

    private var path: String { folder.appending(path: "crc32.task.toml").path }

    func plugins(_ command: String, _ arguments: String...) async throws -> Program.Result {
      try await CheckProcess.run(try BuiltProgram.taskhost, ["plugins", command, path] + arguments)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
  }

  @Test("the library is called with the payload that is given; what does not fit its signature is refused")
  func check() async throws {
    let manifest = try Manifest()
    let result = try await manifest.plugins("check", "--payload", "{\"data\": \"MTIzNDU2Nzg5\"}", "--json")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let cases = try result.cases()
    #expect(cases["run"]?["verdict"] as? String == "passed")
    #expect((cases["file"]?["seen"] as? String)?.contains("crc32 of /") == true)
    #expect((cases["payload-random"]?["seen"] as? String)?.contains("refused at submission") == true)
    #expect((try result.report()["handlers"] as? [[String: Any]])?.first?["identifier"] as? String == "org.example.crc32")
  }

  @Test("without a payload that fits, its runs are not tried, and the report says what to give")
  func withoutPayload() async throws {
    let manifest = try Manifest()
    let result = try await manifest.plugins("check", "--case", "run", "--json")
    let seen = try result.cases()["run"]?["seen"] as? String
    #expect(seen?.contains("argument data: it is missing") == true && seen?.contains("--payload") == true, "\(result.output)")
  }

  @Test("a function that the library does not have is refused before anything is loaded")
  func refused() async throws {
    let manifest = try Manifest("crc33")
    let result = try await manifest.plugins("check")
    #expect(result.status == 1)
    #expect(result.output.contains("does not export crc33"), "\(result.output)")
  }

  @Test("inspect shows the contract and the library, and as JSON the same")
  func inspect() async throws {
    let manifest = try Manifest()
    let text = try await manifest.plugins("inspect")
    #expect(text.status == 0, "\(text.errors)")
    #expect(text.output.contains("u64(u64 crc?, bytes data)") && text.output.contains("(the system's)"), "\(text.output)")
    let shown = try await manifest.plugins("inspect", "--json").report()
    #expect(shown["accepted"] as? Bool == true)
    #expect(shown["symbol"] as? String == "crc32")
    #expect(shown["success"] as? String == "any")
    #expect(shown["system_library"] as? Bool == true)
  }
}
