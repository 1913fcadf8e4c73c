import TestSupport
import Glibc
import PluginTrust
import TaskModel
import Testing

/// Signatures beside real plugins, as a host checks them.
@Suite("Signatures") struct SignatureTests {
  /// A plugin that was taken, and keys.
  private struct Fixture {
    let base: CopyFixture
    let path: String
    let plugin: VerifiedPlugin
    let key: PluginSigningKey
    let other: PluginSigningKey

    init() throws {
      base = try CopyFixture()
      path = try base.plugins.write(try SamplePlugin.bytes.get(), to: "lib.so")
      plugin = try base.copies.take(path)
      key = try PluginSigningKey.generate()
      other = try PluginSigningKey.generate()
    }

    func policy(required: Bool, _ identifiers: [String] = ["com.vendor.*"]) throws -> SignaturePolicy {
      SignaturePolicy(
        isRequired: required,
        keys: [TrustedKey(key: key.publicKey, name: "vendor.pub", identifiers: try identifiers.map { try IdentifierPattern($0) })])
    }

    func write(_ text: String, mode: mode_t = 0o644) throws {
      try base.plugins.write(Array(text.utf8), to: "lib.so.sig", mode: mode)
    }

    func refusal(required: Bool, user: UInt32? = nil) throws -> PluginRefusal? {
      let policy = try policy(required: required)
      return #expect(throws: PluginRefusal.self) { try policy.check(plugin, user: user) }
    }
  }

  @Test("a plugin that a trusted key signed is signed, whether or not it must be", arguments: [true, false])
  func signed(_ required: Bool) throws {
    let fixture = try Fixture()
    #expect(try PluginSigning.sign(fixture.path, with: fixture.key) == fixture.plugin.digestText)
    let policy = try fixture.policy(required: required)
    #expect(try policy.check(fixture.plugin) == .signed(policy.keys[0]))
    #expect(try policy.check(digest: fixture.plugin.digest, of: fixture.path) == .signed(policy.keys[0]))
    #expect(try fixture.base.plugins.scan().acceptedNames == ["lib.so"], "the signature is no plugin")
  }

  @Test("a plugin without a signature is refused only where one is required")
  func missing() throws {
    let fixture = try Fixture()
    #expect(try fixture.policy(required: false).check(fixture.plugin) == .unsigned(note: nil))
    let refusal = try fixture.refusal(required: true)
    #expect(refusal?.code == .signature)
    #expect(refusal?.description.hasPrefix("lib.so: is not signed, and require_signatures is on: lib.so.sig does not exist. ") == true)
  }

  @Test("a signature by a key that is not trusted counts as none, and is told of")
  func unknownKey() throws {
    let fixture = try Fixture()
    _ = try PluginSigning.sign(fixture.path, with: fixture.other)
    guard case .unsigned(let note?) = try fixture.policy(required: false).check(fixture.plugin) else {
      Issue.record("accepted as signed, or without a note")
      return
    }
    #expect(note.contains(fixture.other.publicKey.id))
    let refusal = try fixture.refusal(required: true)
    #expect(refusal?.code == .signature)
    #expect(refusal?.observed.contains(fixture.other.publicKey.id) == true)
  }

  @Test("the signature of another file is refused, required or not", arguments: [true, false])
  func otherFile(_ required: Bool) throws {
    let fixture = try Fixture()
    let other = try fixture.base.plugins.write(try SamplePlugin.bytes.get() + [0], to: "other.so")
    _ = try PluginSigning.sign(other, with: fixture.key, output: fixture.base.plugins.file("lib.so.sig"))
    let refusal = try fixture.refusal(required: required)
    #expect(refusal?.code == .signature)
    #expect(refusal?.observed.contains("does not match") == true)
  }

  @Test("another key's signature under the trusted key's id is refused, required or not", arguments: [true, false])
  func forged(_ required: Bool) throws {
    let fixture = try Fixture()
    let text = try fixture.other.signature(digest: fixture.plugin.digest).text
    try fixture.write(text.replacing(fixture.other.publicKey.id, with: fixture.key.publicKey.id))
    #expect(try fixture.refusal(required: required)?.observed.contains("does not match") == true)
  }

  @Test("a damaged signature is refused, required or not", arguments: [true, false])
  func damaged(_ required: Bool) throws {
    let fixture = try Fixture()
    let text = try fixture.key.signature(digest: fixture.plugin.digest).text
    for damage in ["", "text\n", String(text.dropLast()), text + "\n", text + String(repeating: " ", count: 1024)] {
      try fixture.write(damage)
      #expect(try fixture.refusal(required: required)?.code == .signature)
    }
    try fixture.write(text)
    #expect(try fixture.policy(required: required).check(fixture.plugin) != .unsigned(note: nil))
  }

  @Test("a signature that is a link, no file, or writable by others is refused without waiting")
  func untrusted() throws {
    let fixture = try Fixture()
    let text = try fixture.key.signature(digest: fixture.plugin.digest).text
    let path = fixture.base.plugins.file("lib.so.sig")
    func expectRefusal(_ words: String) throws {
      #expect(try fixture.refusal(required: false)?.observed.contains(words) == true)
      try #require(Program.status(["rm", "-r", path]) == 0)
    }
    try fixture.write(text, mode: 0o666)
    try expectRefusal("its signature lib.so.sig can be written by group or others (mode 0666)")
    try fixture.base.plugins.write(Array(text.utf8), to: "real.sig")
    try #require(symlink("real.sig", path) == 0)
    try expectRefusal("is a symbolic link")
    try #require(mkfifo(path, 0o644) == 0)
    try expectRefusal("is not a regular file")
    try #require(mkdir(path, 0o755) == 0)
    try expectRefusal("is not a regular file")
    try fixture.write(text)
    if geteuid() == 0 {
      try #require(chown(path, 54_321, 0) == 0)
      try expectRefusal("is owned by user 54321")
    }
  }

  @Test("a plugin may register what its key's entries name, all entries of the key together, and nothing else")
  func identifiers() throws {
    let fixture = try Fixture()
    _ = try PluginSigning.sign(fixture.path, with: fixture.key)
    var policy = try fixture.policy(required: true)
    policy.keys += try fixture.policy(required: true, ["org.exact"]).keys
    let health = try policy.check(fixture.plugin)
    for allowed in ["com.vendor.a", "com.vendor.b.c", "org.exact"] {
      #expect(health.refusal(of: try TaskIdentifier(allowed), file: fixture.path) == nil)
    }
    for denied in ["com.vendor", "com.vendors.a", "org.exact.more", "COM.vendor.a"] {
      let refusal = health.refusal(of: try TaskIdentifier(denied), file: fixture.path)
      #expect(refusal?.code == .signature)
      #expect(refusal?.observed.contains("which may sign for com.vendor.*, org.exact") == true)
    }
    #expect(SignatureStatus.unsigned(note: nil).refusal(of: try TaskIdentifier("a"), file: fixture.path) == nil)
  }

  @Test("a key rotates: old and new are both trusted for a while")
  func rotation() throws {
    let fixture = try Fixture()
    var policy = try fixture.policy(required: true)
    policy.keys.append(TrustedKey(key: fixture.other.publicKey, name: "new.pub", identifiers: []))
    for (key, name) in [(fixture.key, "vendor.pub"), (fixture.other, "new.pub")] {
      _ = try PluginSigning.sign(fixture.path, with: key)
      guard case .signed(let signer) = try policy.check(fixture.plugin) else {
        Issue.record("not signed")
        continue
      }
      #expect(signer.name == name)
    }
  }
}
