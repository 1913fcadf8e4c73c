import Foundation
import Glibc
import TestSupport
import Testing

/// `plugins install`, `remove` and `rollback` change a plugin directory as their help says.
@Suite("Installing plugins", .timeLimit(.minutes(10)))
struct PluginsInstallTests {
  /// A folder with two versions of a plugin, and a plugin directory.
  private struct Place {
    let host: HostProcess
    let (first, second): (Data, Data)

    init(_ host: HostProcess) async throws {
      self.host = host
      first = try await Fixtures.shared.bytes(of: "script", ["-DIDENTIFIER=\"test.vendor\""])
      second = try await Fixtures.shared.bytes(of: "script", ["-DIDENTIFIER=\"test.vendor\"", "-DALWAYS_ECHO"])
      for folder in ["one", "two", "three", "bad", "shelf"] { try host.directory.folder(folder) }
      for (name, bytes) in [("one", first), ("two", second)] { try host.directory.file("\(name)/libVendor.so", bytes) }
    }

    func run(_ arguments: String...) async throws -> Program.Result {
      try await Program.run(
        try BuiltProgram.taskhost, ["plugins"] + arguments + ["--into", host.directory("shelf")], directory: host.directory.path)
    }

    /// What is in the plugin directory under a name; nil: nothing.
    func content(_ name: String = "libVendor.so") -> Data? {
      try? Data(contentsOf: URL(filePath: host.directory("shelf/\(name)")))
    }

    /// All names in the plugin directory.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: host.directory("shelf"))) ?? []).sorted() }

    /// Signs a plugin with a new key, vendor.key.
    func sign(_ plugin: String) async throws {
      for arguments in [["keygen", "vendor"], ["sign", plugin, "--key", "vendor.key"]] {
        let made = try await Program.run(try BuiltProgram.taskhost, ["plugins"] + arguments, directory: host.directory.path)
        guard made.status == 0 else { throw TestFailure("plugins \(arguments[0]): \(made.errors)") }
      }
    }

    func tar(_ name: String, _ members: String...) async throws {
      let result = try await Program.run("/usr/bin/env", ["tar", "-czf", host.directory(name), "-C", host.directory.path] + members)
      guard result.status == 0 else { throw TestFailure("tar: \(result.errors)") }
    }
  }

  private static func withPlace(_ body: (Place) async throws -> Void) async throws {
    try await HostProcess.prepare { host in try await body(Place(host)) }
  }

  @Test("a plugin is installed, replaced, rolled back, rolled forward, removed and put back")
  func versions() async throws {
    try await Self.withPlace { place in
      let installed = try await place.run("install", "one/libVendor.so")
      #expect(installed.status == 0 && installed.output.hasPrefix("installed "), "\(installed.output)\(installed.errors)")
      #expect(place.names == ["libVendor.so"] && place.content() == place.first)
      let replaced = try await place.run("install", "two/libVendor.so", "--json")
      #expect(try replaced.json()["action"]?.string == "replaced")
      #expect(try replaced.json()["has_previous"]?.bool == true)
      #expect(place.content() == place.second)
      #expect(try await place.run("rollback", "libVendor.so").status == 0)
      #expect(place.content() == place.first)
      #expect(try await place.run("rollback", "libVendor.so").status == 0)
      #expect(place.content() == place.second)
      #expect(try await place.run("remove", "libVendor.so").status == 0)
      #expect(place.names == [".previous"])
      let missing = try await place.run("remove", "libVendor.so")
      #expect(missing.status == 1 && missing.errors.contains("does not exist"), "\(missing.errors)")
      #expect(try await place.run("rollback", "libVendor.so").status == 0)
      #expect(place.names == [".previous", "libVendor.so"] && place.content() == place.second)
    }
  }

  @Test("the signature comes and goes with its plugin, and is checked against the configuration's keys before anything changes")
  func signatures() async throws {
    try await Self.withPlace { place in
      try await place.sign("two/libVendor.so")
      #expect(try await place.run("install", "one/libVendor.so").status == 0)
      #expect(try await place.run("install", "two/libVendor.so").status == 0)
      let signature = place.content("libVendor.so.sig")
      #expect(signature != nil)
      #expect(try await place.run("rollback", "libVendor.so").status == 0)
      #expect(place.content("libVendor.so.sig") == nil && place.content() == place.first)
      try place.host.directory.file(
        "taskhost.toml", "require_signatures = true\n[[trusted_keys]]\nfile = \"vendor.pub\"\nidentifiers = [\"test.*\"]\n")
      let unsigned = try await place.run("install", "one/libVendor.so")
      #expect(unsigned.status == 1 && unsigned.errors.contains("is not signed"), "\(unsigned.errors)")
      try place.host.directory.file("two/libVendor.so", place.first)
      let other = try await place.run("install", "two/libVendor.so")
      #expect(other.status == 1 && other.errors.contains("does not match"), "\(other.errors)")
      #expect(place.content() == place.first && place.names == [".previous", "libVendor.so"])
      try place.host.directory.file("two/libVendor.so", place.second)
      #expect(try await place.run("rollback", "libVendor.so").status == 0)
      #expect(place.content("libVendor.so.sig") == signature && place.content() == place.second)
    }
  }

  @Test("what the host would refuse changes nothing, and says why")
  func refused() async throws {
    try await Self.withPlace { place in
      #expect(try await place.run("install", "one/libVendor.so").status == 0)
      try place.host.directory.file("bad/libVendor.so", "no plugin")
      try place.host.directory.file("bad/x.task.toml", "identifier = 1\n")
      for (file, reason) in [
        ("bad/libVendor.so", "not an ELF file"), ("bad/x.task.toml", "identifier"), ("bad/none.so", "does not exist"),
        ("taskhost.toml.txt", "does not exist"), ("one", "is not"),
      ] {
        let result = try await place.run("install", file)
        #expect(result.status == 1 && result.errors.contains(reason), "\(file): \(result.status) \(result.errors)")
      }
      #expect(place.names == ["libVendor.so"] && place.content() == place.first)
      chmod(place.host.directory("shelf"), 0o777)
      let open = try await place.run("install", "two/libVendor.so")
      #expect(open.status == 1 && open.errors.contains("can be written by"), "\(open.errors)")
      #expect(place.content() == place.first)
    }
  }

  @Test("a link in the plugin's place is neither kept nor published, and what a stranger could have left is not put back")
  func links() async throws {
    try await Self.withPlace { place in
      let (secret, target) = (place.host.directory("secret"), place.host.directory("shelf/libVendor.so"))
      try "secret".write(toFile: secret, atomically: true, encoding: .utf8)
      symlink(secret, target)
      let linked = try await place.run("install", "one/libVendor.so")
      #expect(linked.status == 1 && linked.errors.contains("symbolic link"), "\(linked)")
      #expect(!FileManager.default.fileExists(atPath: place.host.directory("shelf/.previous/libVendor.so")))
      unlink(target)
      for folder in ["one", "two"] { #expect(try await place.run("install", folder + "/libVendor.so").status == 0) }
      chmod(place.host.directory("shelf/.previous/libVendor.so"), 0o666)
      let stranger = try await place.run("rollback", "libVendor.so")
      #expect(stranger.status == 1 && stranger.errors.contains("can be written by group or others"), "\(stranger)")
      #expect(place.content() == place.second)
      let (kept, elsewhere) = (place.host.directory("shelf/.previous"), place.host.directory("three"))
      chmod(kept, 0o777)
      let open = try await place.run("install", "one/libVendor.so")
      #expect(open.status == 1 && open.errors.contains(".previous: can be written by group or others"), "\(open)")
      try FileManager.default.removeItem(atPath: kept)
      symlink(elsewhere, kept)
      let led = try await place.run("install", "one/libVendor.so")
      #expect(led.status == 1 && led.errors.contains(".previous: is not a directory"), "\(led)")
      let strays = try FileManager.default.contentsOfDirectory(atPath: elsewhere)
      #expect(place.content() == place.second && strays.isEmpty)
    }
  }

  @Test("a rollback of a removal is undone by the next, and a path elsewhere or a pipe is refused")
  func undone() async throws {
    try await Self.withPlace { place in
      #expect(try await place.run("install", "one/libVendor.so").status == 0)
      #expect(try await place.run("remove", "two/libVendor.so").errors.contains("is not in"))
      #expect(try await place.run("remove", "shelf/libVendor.so").status == 0)
      for names in [["libVendor.so"], [], ["libVendor.so"]] {
        #expect(try await place.run("rollback", "libVendor.so").status == 0)
        #expect(place.names.filter { !$0.hasPrefix(".") } == names)
      }
      #expect(mkfifo(place.host.directory("pipe.tar"), 0o600) == 0)
      let pipe = try await place.run("install", "pipe.tar")
      #expect(pipe.status == 1 && pipe.errors.contains("is not a file"), "\(pipe)")
    }
  }

  @Test("what a killed install has unpacked goes with a later one, unless it is used or young")
  func leftovers() async throws {
    try await Self.withPlace { place in
      try place.host.directory.folder("tmp")
      try await place.tar("vendor.tar.gz", "one")
      var used: Int32 = -1
      defer { close(used) }
      for name in ["old", "used", "young"] {
        try place.host.directory.folder("tmp/taskhost-plugin-\(name)")
        try place.host.directory.file("tmp/taskhost-plugin-\(name)/libVendor.so", "a part")
        let path = place.host.directory("tmp/taskhost-plugin-\(name)")
        if name == "used" {
          used = open(path, O_RDONLY | O_DIRECTORY)
          #expect(flock(used, LOCK_EX) == 0)
        }
        if name != "young" {
          let attributes: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -3600)]
          try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        }
      }
      let installed = try await Program.run(
        try BuiltProgram.taskhost, ["plugins", "install", "vendor.tar.gz", "--into", "shelf"],
        environment: ["TMPDIR": place.host.directory("tmp")], directory: place.host.directory.path)
      #expect(installed.status == 0, "\(installed.errors)")
      let left = try FileManager.default.contentsOfDirectory(atPath: place.host.directory("tmp")).sorted()
      #expect(left == ["taskhost-plugin-used", "taskhost-plugin-young"])
    }
  }

  /// Waits until it is so, for at most 30 s.
  private static func eventually(_ what: String, _ isSo: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try !isSo() {
      guard ContinuousClock.now < end else { throw TestFailure("not within 30 s: \(what)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  @Test("a killed install takes its tar and what that has unpacked with it")
  func killed() async throws {
    try await Self.withPlace { place in
      try place.host.directory.folder("tmp")
      let big = place.host.directory("two/libVendor.so")
      let file = open(big, O_RDWR)
      #expect(ftruncate(file, 400 << 20) == 0)
      close(file)
      let packed = try await Program.run(
        "/usr/bin/env",
        ["tar", "--use-compress-program", "gzip -1", "-cf", place.host.directory("vendor.tar.gz"), "-C", place.host.directory.path, "two"])
      #expect(packed.status == 0, "\(packed.errors)")
      func unpacked() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place.host.directory("tmp")) }
      let install = try Program(
        try BuiltProgram.taskhost, ["plugins", "install", "vendor.tar.gz", "--into", "shelf"],
        environment: ["TMPDIR": place.host.directory("tmp")], directory: place.host.directory.path)
      try await Self.eventually("it unpacks") {
        try unpacked().contains { access(place.host.directory("tmp/\($0)/libVendor.so"), F_OK) == 0 }
      }
      install.send(SIGKILL)
      try await Self.eventually("nothing is left") { try unpacked().isEmpty }
      #expect(place.names.isEmpty)
      _ = try await install.result()
    }
  }

  @Test("an archive has one plugin and its signature, in whatever folder; anything else in it is left out or refused")
  func archives() async throws {
    try await Self.withPlace { place in
      try place.host.directory.file("two/README", "read me")
      try await place.sign("two/libVendor.so")
      try await place.tar("vendor.tar.gz", "two")
      let installed = try await place.run("install", "vendor.tar.gz")
      #expect(installed.status == 0, "\(installed.errors)")
      #expect(place.names == ["libVendor.so", "libVendor.so.sig"].sorted() && place.content() == place.second)
      symlink("/etc/passwd", place.host.directory("one/libVendor.so.sig"))
      try await place.tar("link.tar.gz", "one")
      try place.host.directory.file("three/libOther.so", place.first)
      try await place.tar("several.tar.gz", "two", "three")
      try await place.tar("none.tar.gz", "two/README")
      let whole = try Data(contentsOf: URL(filePath: place.host.directory("vendor.tar.gz")))
      try place.host.directory.file("half.tar.gz", whole.prefix(whole.count / 2))
      for (archive, reason) in [
        ("link.tar.gz", "is a link"), ("several.tar.gz", "several plugins"), ("none.tar.gz", "no plugin"),
        ("half.tar.gz", "cannot be unpacked: "), ("half.tar.gz", "tar: Unexpected EOF in archive"),
      ] {
        let result = try await place.run("install", archive)
        #expect(result.status == 1 && result.errors.contains(reason), "\(archive): \(result.status) \(result.errors)")
      }
      #expect(place.content() == place.second)
    }
  }

  @Test("two commands do not change a directory at once, and the next removes what a killed one has left")
  func interrupted() async throws {
    try await Self.withPlace { place in
      let descriptor = open(place.host.directory("shelf"), O_RDONLY | O_DIRECTORY)
      #expect(flock(descriptor, LOCK_EX) == 0)
      let refused = try await place.run("install", "one/libVendor.so")
      #expect(refused.status == 1 && refused.errors.contains("is being changed by another command"), "\(refused.errors)")
      close(descriptor)
      try place.host.directory.folder("shelf/.install-0123456789abcdef")
      try place.host.directory.file("shelf/.install-0123456789abcdef/libVendor.so", "a part")
      #expect(try await place.run("install", "one/libVendor.so").status == 0)
      #expect(place.names == ["libVendor.so"] && place.content() == place.first)
    }
  }
}
