import Glibc
import PluginTrust
import TaskModel
import Testing

@Suite("Key files") struct KeyFileTests {
  @Test("a pair is written, the private half for its owner alone, and read again")
  func pair() throws {
    let directory = try PluginDirectory()
    let key = try PluginSigningKey.generate()
    try key.writeFiles(named: directory.file("vendor"))
    #expect(try CopyFixture.info(directory.file("vendor.key")).st_mode == S_IFREG | 0o600)
    #expect(try CopyFixture.info(directory.file("vendor.pub")).st_mode == S_IFREG | 0o644)
    #expect(try PluginSigningKey(reading: directory.file("vendor.key")).publicKey == key.publicKey)
    let trusted = try TrustedKey(reading: directory.file("vendor.pub"), identifiers: [try IdentifierPattern("com.*")])
    #expect(trusted.key == key.publicKey)
    #expect(trusted.name == directory.file("vendor.pub"))
    #expect(throws: SigningFileError.self) { try key.writeFiles(named: directory.file("vendor")) }
    #expect(throws: SigningFileError.self) { try key.writeFiles(named: directory.file("none/vendor")) }
  }

  @Test("a private key that group or others may use is not read", arguments: [0o640, 0o604, 0o660, 0o620, 0o601] as [mode_t])
  func privateMode(_ mode: mode_t) throws {
    let directory = try PluginDirectory()
    let path = directory.file("vendor.key")
    try PluginSigningKey.generate().writeFiles(named: directory.file("vendor"))
    try #require(chmod(path, mode) == 0)
    let error = #expect(throws: SigningFileError.self) { try PluginSigningKey(reading: path) }
    #expect(error?.remedy.hasPrefix("Run: chmod 600 '\(path)'") == true)
  }

  @Test("a public key that others could change is not trusted, but read to compare")
  func publicMode() throws {
    let directory = try PluginDirectory()
    let path = directory.file("vendor.pub")
    try PluginSigningKey.generate().writeFiles(named: directory.file("vendor"))
    func error() -> SigningFileError? {
      #expect(throws: SigningFileError.self) { try TrustedKey(reading: path, identifiers: []) }
    }
    try #require(chmod(path, 0o664) == 0)
    #expect(error()?.observed == "can be written by group or others (mode 0664)")
    #expect(try PluginPublicKey(reading: path).id.count == 16)
    try #require(chmod(path, 0o644) == 0 && chmod(directory.path, 0o777) == 0)
    #expect(error()?.observed.contains("the directory \(directory.path) can be written by group and others") == true)
    try #require(chmod(directory.path, 0o700) == 0)
    if geteuid() == 0 {
      try #require(chown(path, 54_321, 0) == 0)
      #expect(error()?.observed.contains("is owned by user 54321") == true)
      try #require(chown(path, 0, 0) == 0)
    }
    _ = try TrustedKey(reading: path, identifiers: [])
    try #require(rename(path, directory.file("real")) == 0 && symlink("real", path) == 0)
    #expect(error()?.observed == "is a symbolic link")
    try #require(unlink(path) == 0)
    #expect(error()?.observed == "does not exist")
  }

  @Test("a file that is no key, a private key given as public, and the reverse are refused by their content")
  func noKey() throws {
    let directory = try PluginDirectory()
    try PluginSigningKey.generate().writeFiles(named: directory.file("vendor"))
    try directory.write([], to: "empty", mode: 0o600)
    try directory.write([UInt8](repeating: 0x61, count: 5000), to: "long", mode: 0o600)
    try #require(mkfifo(directory.file("fifo"), 0o600) == 0)
    for name in ["vendor.key", "empty", "long", "fifo", "none", "."] {
      #expect(throws: SigningFileError.self, "\(name)") { try PluginPublicKey(reading: directory.file(name)) }
    }
    try #require(chmod(directory.file("vendor.pub"), 0o600) == 0)
    for name in ["vendor.pub", "empty", "long", "fifo", "none", "."] {
      #expect(throws: SigningFileError.self, "\(name)") { try PluginSigningKey(reading: directory.file(name)) }
    }
    for name in [".", "fifo", "none"] {
      #expect(throws: SigningFileError.self, "\(name)") { try PluginSigning.digest(of: directory.file(name)) }
    }
  }
}
