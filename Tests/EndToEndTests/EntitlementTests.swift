import Foundation
import Glibc
import TestSupport
import Testing

/// What paths of entitlements stand for, and what they may not.
@Suite("Paths of entitlements", .timeLimit(.minutes(20)))
struct EntitlementTests {
  /// A configuration that no host may launch with. `D` is the test's directory.
  struct Conflict: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let first: String
    var second = ""
    /// Keys of the root.
    var root = ""
    /// Further tables.
    var tables = ""
    /// What the sentence names.
    let named: [String]
  }

  private static let conflicts = [
    Conflict(
      testDescription: "below its own", first: #"write = ["D/a", "D/a/out"]"#, named: ["D/a/out", "below D/a,", "the plugin itself"]),
    Conflict(
      testDescription: "read below its own", first: #"write = ["D/a"]"#.appending("\nread = [\"D/a/absent/file\"]"),
      named: ["D/a/absent/file", "below D/a,"]),
    Conflict(
      testDescription: "below another's", first: #"write = ["D/a"]"#, second: #"read = ["D/a/out"]"#,
      named: ["plugin test.second: entitlements.read: D/a/out", "plugin test.first may write"]),
    Conflict(
      testDescription: "by a link that leads there", first: #"write = ["D/a"]"#, second: #"read = ["D/to-out"]"#,
      named: ["it is D/a/out, which"]),
    Conflict(
      testDescription: "by a link that is there", first: #"write = ["D/a"]"#, second: #"read = ["D/a/link/file"]"#,
      named: ["the link D/a/link on the way"]),
    Conflict(
      testDescription: "by two links", first: #"write = ["D/a"]"#, second: #"read = ["D/to-link"]"#, named: ["the link D/a/link on the way"]
    ),
    Conflict(testDescription: "the state directory", first: #"read = ["D/state"]"#, named: ["D/state", "the state directory"]),
    Conflict(
      testDescription: "around the state directory", first: #"read = ["D"]"#,
      named: ["plugin test.first: entitlements.read: D:", "the state directory D/state"]),
    Conflict(testDescription: "everything", first: #"write = ["/"]"#, named: ["entitlements.write: /:", "the state directory D/state"]),
    Conflict(
      testDescription: "in the state directory", first: #"read = ["D/state/data/test.other"]"#,
      named: ["it is in the state directory D/state"]),
    Conflict(testDescription: "the configuration", first: #"read = ["D/taskhost.toml"]"#, named: ["the configuration D/taskhost.toml"]),
    Conflict(testDescription: "a plugin directory", first: #"read = ["D/plugins"]"#, named: ["the plugin directory D/plugins"]),
    Conflict(
      testDescription: "another plugin's file", first: #"write = ["D/plugins/other.so"]"#, named: ["the plugin directory D/plugins"]),
    Conflict(
      testDescription: "what every worker reads", first: #"write = ["/etc"]"#, named: ["entitlements.write: /etc:", "every worker reads"]),
    Conflict(
      testDescription: "the folder of the store's mark", first: #"write = ["D/a"]"#, root: "store_mark = \"a/out/mark\"\n",
      named: ["plugin test.first: entitlements.write: D/a: the store's mark D/a/out/mark", "could be replaced"]),
    Conflict(
      testDescription: "the store's mark itself", first: #"write = ["D/a/mark"]"#, root: "store_mark = \"a/mark\"\n",
      named: ["the store's mark D/a/mark"]),
    Conflict(
      testDescription: "the folder of an event's socket", first: #"write = ["D/a"]"#,
      tables: "[events.push]\nlisten = \"unix:a/push.sock\"\n",
      named: ["plugin test.first: entitlements.write: D/a: the event socket D/a/push.sock", "could be replaced"]),
    Conflict(
      testDescription: "a link on the way to an event's socket", first: #"write = ["D/a"]"#,
      tables: "[events.push]\nlisten = \"unix:a/link/push.sock\"\n", named: ["the event socket D/elsewhere/push.sock"]),
  ]

  @Test("what would let a plugin reach more than it names is refused at launch, with both paths", arguments: conflicts)
  func conflict(_ conflict: Conflict) async throws {
    try await HostProcess.prepare { host in
      let directory = URL(filePath: host.directory.path).resolvingSymlinksInPath().path
      for folder in ["a/out", "elsewhere"] { try host.directory.folder(folder) }
      try host.directory.file("elsewhere/file", "x")
      for (link, target) in [("to-out", "a/out"), ("a/link", "../elsewhere"), ("to-link", "a/link")] {
        try FileManager.default.createSymbolicLink(atPath: host.directory(link), withDestinationPath: target)
      }
      func filled(_ text: String) -> String { text.replacing("D/", with: directory + "/").replacing("\"D\"", with: "\"\(directory)\"") }
      let second = conflict.second.isEmpty ? "" : "[plugin.\"test.second\".entitlements]\n" + filled(conflict.second) + "\n"
      try host.configure("\(conflict.root)[plugin.\"test.first\".entitlements]\n\(filled(conflict.first))\n\(second)\(conflict.tables)")
      let result = try await host.failure()
      #expect(result.status == 78)
      for words in conflict.named {
        let expected = words.replacing("D/", with: directory + "/").replacing(": D:", with: ": \(directory):")
        #expect(result.errors.contains(expected), "\(expected) is not in: \(result.errors)")
      }
    }
  }

  @Test(
    "the host's own is nobody's by the name of another mount either",
    .enabled(if: Program.status(["unshare", "-Urm", "true"]) == 0, "user namespaces are allowed"),
    arguments: [
      ("state", "other", "the state directory", "is in it"), ("state", "other/data", "the state directory", "it is in"),
      ("", "other", "the state directory", "is in it"), ("plugins", "other", "the plugin directory", "is in it"),
    ])
  func mountedTwice(_ source: String, _ entitled: String, _ named: String, _ relation: String) async throws {
    try await HostProcess.prepare { host in
      let directory = URL(filePath: host.directory.path).resolvingSymlinksInPath().path
      let other = try host.directory.folder("elsewhere") + "/other"
      for folder in ["elsewhere/other", "state/data", "plugins"] { try host.directory.folder(folder) }
      try host.configure("[plugin.\"test.first\".entitlements]\nread = [\"\(directory)/elsewhere/\(entitled)\"]\n")
      let mount = "mount --bind \"$1\" \"$2\" && shift 2 && exec \"$@\""
      let result = try await Program.run(
        "/usr/bin/env",
        [
          "unshare", "-Urm", "sh", "-c", mount, "sh", "\(directory)/\(source)", other, try BuiltProgram.taskhost, "run", "--config",
          host.directory("taskhost.toml"),
        ])
      #expect(result.status == 78, "\(result.errors)")
      #expect(result.errors.contains("\(named) \(directory)/") && result.errors.contains(relation), "\(result.errors)")
      #expect(result.errors.contains("(mounted in a second place)"), "\(result.errors)")
    }
  }

  @Test("folders beside each other, one folder of two plugins, and one that comes by a link are fine")
  func beside() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      for folder in ["a", "ab", "elsewhere"] { try host.directory.folder(folder) }
      try FileManager.default.createSymbolicLink(atPath: host.directory("linked"), withDestinationPath: "elsewhere")
      let (a, ab, linked) = (host.directory("a"), host.directory("ab"), host.directory("linked"))
      try host.configure(
        """
        [plugin."test.script".entitlements]
        write = ["\(a)", "\(linked)"]
        read = ["\(ab)"]

        [plugin."test.second".entitlements]
        write = ["\(a)"]

        """)
      try await host.start()
      let run = try await host.run("note \(a)/file;note \(linked)/file;note \(ab)/file")
      #expect(run["outcome"]?.string == "succeeded")
      #expect(!host.directory.text("a/file").isEmpty)
      #expect(!host.directory.text("elsewhere/file").isEmpty)
      #expect(host.directory.text("ab/file").isEmpty)
    }
  }

  @Test("a folder with the store's mark and an event's socket in it may be read, and written beside them")
  func besideTheHosts() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      for folder in ["run", "run/plugin"] { try host.directory.folder(folder) }
      try host.configure(
        """
        store_mark = "run/mark"
        [events.push]
        listen = "unix:run/push.sock"
        [plugin."test.script".entitlements]
        write = ["\(host.directory("run/plugin"))"]
        [plugin."test.second".entitlements]
        read = ["\(host.directory("run"))"]

        """)
      try await host.start()
      #expect(try await host.run("note \(host.directory("run/plugin/file"))")["outcome"]?.string == "succeeded")
      #expect(!host.directory.text("run/plugin/file").isEmpty)
    }
  }

  @Test("a plugin may name an entitled folder by the link that the operator wrote")
  func namedByLink() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libCleanup.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libCleanup.so"))))
      try host.directory.folder("litter")
      try FileManager.default.createSymbolicLink(atPath: host.directory("linked"), withDestinationPath: "litter")
      let linked = host.directory("linked")
      try host.configure(
        """
        [[plugin."org.taskhost.cleanup".settings.rules]]
        directory = "\(linked)"
        glob = "*.log"
        max_age = "1d"

        [plugin."org.taskhost.cleanup".entitlements]
        write = ["\(linked)"]

        """)
      try await host.start()
      let plugin = try await host.plugin("libCleanup.so")
      #expect(plugin["standing"]?.string == "registered", "\(plugin)")
    }
  }

  @Test("a folder that has become a link, or another folder, starts no worker, and spends nothing", arguments: ["link", "folder"])
  func replaced(_ kind: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[retry]\nattempts = 1000\ninitial = \"100ms\"\nmaximum = \"200ms\"\n")
      try await host.start()
      let (shared, elsewhere, aside) = (host.directory("shared"), try host.directory.folder("elsewhere"), host.directory("aside"))
      #expect(try await host.run("note \(shared)/before")["outcome"]?.string == "succeeded")
      try await host.killWorker("script.so")
      let files = FileManager.default
      try files.moveItem(atPath: shared, toPath: aside)
      if kind == "link" {
        try files.createSymbolicLink(atPath: shared, withDestinationPath: elsewhere)
      } else {
        try host.directory.folder("shared")
      }

      let id = try await host.submit("note \(shared)/after")
      let sentence =
        kind == "link" ? "is a link, and was none when the host launched" : "is not the folder that it was when the host launched"
      let line = try await host.current.line(with: sentence)
      #expect(line.contains("entitlements.write") && line.contains(shared), "\(line)")
      // It is not the plugin's fault: nothing is spent, and the operator is told.
      let record = try await host.request(id, is: "pending")
      #expect(record["attempt"]?.integer ?? 0 <= 1, "\(record)")
      let status = try await host.cli("status", "--json")
      #expect(status.output.contains(sentence), "\(status.output)")
      let problem = try status.json()["problems"]?.array.first { $0["subject"]?.string == "test.script" }
      #expect(problem?["kind"]?.string == "path", "\(status.output)")
      #expect(problem?["remedy"]?.string?.hasPrefix("put back what was there") == true, "\(status.output)")
      #expect(try await host.plugin("script.so")["strikes"]?.integer ?? 0 == 0)
      #expect(!files.fileExists(atPath: elsewhere + "/after"))

      try files.removeItem(atPath: shared)
      try files.moveItem(atPath: aside, toPath: shared)
      try await host.request(id, is: "succeeded", within: .seconds(120))
      #expect(files.fileExists(atPath: shared + "/after"))
    }
  }

  @Test("a file may be replaced in its folder, and what was not there may come, but not as a link")
  func replacedFiles() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      let (file, later, trap) = (try host.directory.file("file", "old"), host.directory("later"), host.directory("trap"))
      let secret = try host.directory.folder("secret")
      try host.configure(
        """
        [plugin."test.script".entitlements]
        write = ["\(file)", "\(later)/folder"]

        """)
      try await host.start()
      let script = "note \(file);note \(later)/folder/new;note \(trap)/new"
      #expect(try await host.run(script)["run"]?["output"]?["note"]?.integer == 1)
      try await host.killWorker("script.so")
      try host.directory.file("new", "new")
      #expect(rename(host.directory("new"), file) == 0)
      try host.directory.folder("later/folder")
      #expect(try await host.run(script)["outcome"]?.string == "succeeded")
      #expect(host.directory.text("file").hasPrefix("new") && host.directory.text("file").count > 3)
      #expect(!host.directory.text("later/folder/new").isEmpty)
      try await host.killWorker("script.so")
      try FileManager.default.removeItem(atPath: later)
      try host.directory.folder("later")
      try FileManager.default.createSymbolicLink(atPath: later + "/folder", withDestinationPath: secret)
      _ = try await host.submit(script)
      try await host.current.line(with: "later/folder is a link")
      #expect(!FileManager.default.fileExists(atPath: secret + "/new"))
    }
  }

  @Test("a folder to write in gives no power over the modes of what the host's user owns, there or elsewhere")
  func modes() async throws {
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode : 0
    }
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try host.directory.folder("shared")
      try await host.start()
      let own = try host.directory.file("shared/own", "x")
      let others = [
        try host.directory.file("victim", "x"), host.directory("state"), host.directory("state/taskhost.sqlite"), host.directory("plugins"),
      ]
      let before = others.map(mode)
      let script = (others + [own]).map { "alter \($0) 705" }.joined(separator: ";")
      let output = try await host.run("\(script);alter-open \(own) 604")["run"]?["output"]
      for path in others + [own] { #expect(output?[path]?.integer == 0, "\(path)") }
      #expect(others.map(mode) == before)
      // The twin: what it may open, it may give another mode.
      #expect(output?["alter_open"]?.integer == 1)
      #expect(mode(own) & 0o777 == 0o604)
    }
  }

  @Test("a data directory that has vanished is made again; home and temporary folder are the plugin's own")
  func ownFolders() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let data = URL(filePath: host.directory("state")).resolvingSymlinksInPath().path + "/data/test.script"
      let script = "environment HOME;environment CFFIXED_USER_HOME;environment TMPDIR;note \(data)/tmp/file"
      for _ in 1...2 {
        let output = try await host.run(script)["run"]?["output"]
        #expect(output?["note"]?.integer == 1)
        #expect(output?["HOME"]?.string == data)
        #expect(output?["CFFIXED_USER_HOME"]?.string == data)
        #expect(output?["TMPDIR"]?.string == data + "/tmp")
        try await host.killWorker("script.so")
        try FileManager.default.removeItem(atPath: host.directory("state/data"))
      }
      // The plugin's folder is the host's to place: a link there is not followed.
      try host.directory.folder("state/data")
      try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: try host.directory.folder("elsewhere"))
      _ = try await host.submit("note \(data)/file")
      let line = try await host.current.line(with: "its data directory")
      #expect(line.contains("is a link"), "\(line)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory("elsewhere")) == [])
    }
  }
}

extension HostProcess {
  /// Ends the worker of a plugin's file, which has no run, and waits.
  func killWorker(_ file: String) async throws {
    guard let process = try await plugin(file)["worker"]?["process_id"]?.integer.flatMap({ pid_t(exactly: $0) }) else { return }
    Glibc.kill(process, SIGKILL)
    try await Processes.end(of: process)
  }
}
