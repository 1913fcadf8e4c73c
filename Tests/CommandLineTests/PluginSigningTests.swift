import TestSupport
import Foundation
import Testing

/// The built executable on real files.
@Suite("Signing commands") struct PluginSigningTests {
  /// A directory of a test's own, removed with it.
  private final class Workshop: Sendable {
    let path: String

    init() throws {
      path = NSTemporaryDirectory() + "plugin-signing-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func run(_ arguments: String...) async throws -> Program.Result {
      try await TaskHostProcess.run(["plugins"] + arguments, directory: path)
    }

    func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    func mode(of name: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      return try #require(attributes[.posixPermissions] as? Int)
    }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
  }

  private func json(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("a key is made, a plugin signed with it, and the signature found right")
  func roundTrip() async throws {
    let shop = try Workshop()
    try shop.write("content", to: "lib.so")
    let made = try await shop.run("keygen", "vendor")
    #expect(made.status == 0)
    #expect(try shop.mode(of: "vendor.key") == 0o600)
    #expect(try shop.mode(of: "vendor.pub") == 0o644)
    let signed = try await shop.run("sign", "lib.so", "--key", "vendor.key")
    #expect(signed.status == 0)
    #expect(signed.output.contains("ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"))
    let verified = try await shop.run("verify", "lib.so", "--key", "vendor.pub")
    #expect(verified.status == 0)
    #expect(verified.output.hasPrefix("lib.so is signed with the key "))
    #expect(verified.errors == "")
    #expect(try shop.names == ["lib.so", "lib.so.sig", "vendor.key", "vendor.pub"])
  }

  @Test("with --json every command says the same for programs")
  func asJSON() async throws {
    let shop = try Workshop()
    try shop.write("content", to: "lib.so")
    let made = try json(try await shop.run("keygen", "vendor", "--json").output)
    #expect(made["private_key"] as? String == "vendor.key")
    #expect(made["public_key"] as? String == "vendor.pub")
    let id = try #require(made["id"] as? String)
    #expect(id.count == 16)
    let signed = try json(try await shop.run("sign", "lib.so", "--key", "vendor.key", "--output", "other.sig", "--json").output)
    #expect(signed["key"] as? String == id)
    #expect(signed["signature"] as? String == "other.sig")
    #expect((signed["sha256"] as? String)?.count == 64)
    let verified = try await shop.run("verify", "lib.so", "--key", "vendor.pub", "--signature", "other.sig", "--json")
    #expect(verified.status == 0)
    #expect(try json(verified.output)["valid"] as? Bool == true)
    #expect(try json(verified.output)["key"] as? String == id)
    let unsigned = try await shop.run("verify", "lib.so", "--key", "vendor.pub", "--json")
    #expect(unsigned.status == 1)
    #expect(try json(unsigned.output)["valid"] as? Bool == false)
    #expect((try json(unsigned.output)["message"] as? String)?.contains("lib.so.sig") == true)
  }

  @Test("keygen never writes over a key, and leaves no half of a pair")
  func overwriting() async throws {
    let shop = try Workshop()
    #expect(try await shop.run("keygen", "vendor").status == 0)
    let key = try shop.read("vendor.key")
    let again = try await shop.run("keygen", "vendor")
    #expect(again.status == 1)
    #expect(again.errors.contains("vendor.key: already exists"))
    #expect(try shop.read("vendor.key") == key)
    try shop.write("mine", to: "half.pub")
    #expect(try await shop.run("keygen", "half").status == 1)
    #expect(try shop.read("half.pub") == "mine")
    #expect(try shop.names == ["half.pub", "vendor.key", "vendor.pub"])
  }

  @Test("verify exits 1 for changed content, another key and a missing signature, and says which")
  func wrong() async throws {
    let shop = try Workshop()
    try shop.write("content", to: "lib.so")
    for name in ["a", "b"] { #expect(try await shop.run("keygen", name).status == 0) }
    #expect(try await shop.run("sign", "lib.so", "--key", "a.key").status == 0)
    let other = try await shop.run("verify", "lib.so", "--key", "b.pub")
    #expect(other.status == 1)
    #expect(other.errors.contains("lib.so.sig: was made with the key "))
    #expect(try await shop.run("verify", "lib.so", "--key", "b.pub", "--key", "a.pub").status == 0)
    try shop.write("Content", to: "lib.so")
    let changed = try await shop.run("verify", "lib.so", "--key", "a.pub")
    #expect(changed.status == 1)
    #expect(changed.errors.contains("is not a signature of lib.so"))
    #expect(try await shop.run("sign", "lib.so", "--key", "a.key").status == 0, "an earlier signature is replaced")
    #expect(try await shop.run("verify", "lib.so", "--key", "a.pub").status == 0)
    try FileManager.default.removeItem(atPath: shop.path + "/lib.so.sig")
    let missing = try await shop.run("verify", "lib.so", "--key", "a.pub")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("lib.so.sig: does not exist"))
  }

  @Test("a private key that others may read is not used")
  func readableKey() async throws {
    let shop = try Workshop()
    try shop.write("content", to: "lib.so")
    #expect(try await shop.run("keygen", "vendor").status == 0)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: shop.path + "/vendor.key")
    let result = try await shop.run("sign", "lib.so", "--key", "vendor.key")
    #expect(result.status == 1)
    #expect(result.errors.contains("chmod 600 'vendor.key'"))
    #expect(try shop.names == ["lib.so", "vendor.key", "vendor.pub"])
  }

  @Test(
    "what was not understood exits 2",
    arguments: [
      ["keygen"], ["keygen", "a.key"], ["keygen", "a/"], ["sign", "lib.so"], ["verify", "lib.so"], ["verify", "--key", "a.pub"],
    ])
  func usage(_ arguments: [String]) async throws {
    #expect(try await TaskHostProcess.run(["plugins"] + arguments).status == 2)
  }

  @Test("the help has examples", arguments: ["keygen", "sign", "verify"])
  func help(_ command: String) async throws {
    let result = try await TaskHostProcess.run(["plugins", command, "--help"])
    #expect(result.status == 0)
    #expect(result.output.contains("EXAMPLES\n  taskhost plugins \(command) "))
  }
}
