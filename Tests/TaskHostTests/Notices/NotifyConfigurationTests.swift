import Testing

@testable import TaskHost

@Suite("[[notify]]") struct NotifyConfigurationTests {
  private func read(_ text: String) throws -> [NotifyRule] { try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml").notify }

  @Test("names what to tell of, and a command or a bus")
  func rules() throws {
    let rules = try read(
      """
      [[notify]]
      on = ["continued", "quarantined"]
      command = ["/usr/bin/page", "--quick"]
      [[notify]]
      on = ["continued"]
      bus = "unix:path=/run/user/1000/bus"
      """)
    #expect(rules[0] == NotifyRule(on: [.continued, .quarantined], command: ["/usr/bin/page", "--quick"]))
    #expect(rules[1] == NotifyRule(on: [.continued], bus: "/run/user/1000/bus"))
    #expect(try read("[[notify]]\non = [\"continued\"]\ncommand = [\"./page\"]")[0].command == ["/etc/taskhost/page"])
  }

  @Test(
    "a table that tells nobody, of nothing, or of what nobody knows is refused",
    arguments: [
      ("on = [\"continued\"]", "it tells nobody"), ("command = [\"/bin/true\"]", "notify[0] has no \"on\""),
      ("on = []\ncommand = [\"/bin/true\"]", "on is empty"),
      ("on = [\"continue\"]\ncommand = [\"/bin/true\"]", "unknown value \"continue\" (did you mean \"continued\"?)"),
      ("on = [\"continued\"]\ncommand = [\"page\"]", "no absolute path"), ("on = [\"continued\"]\ncommand = []", "names no program"),
      ("on = [\"continued\"]\ncommand = [\"/bin/true\"]\nbus = \"unix:path=/a\"", "both a command and a bus"),
      ("on = [\"continued\"]\nbus = \"tcp:host=a\"", "is no address of a bus"),
      ("on = [\"continued\"]\ncomand = [\"/bin/true\"]", "did you mean \"command\"?"),
    ])
  func refused(_ table: String, _ sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try read("[[notify]]\n\(table)\n") }
    #expect("\(String(describing: error))".contains(sentence), "\(String(describing: error))")
  }

  @Test(
    "each problem is reported once",
    arguments: [
      ("on = [\"x\"]\ncommand = [\"/bin/true\"]", 1), ("command = [\"/bin/true\"]", 1), ("on = []\ncommand = []", 2),
      ("on = \"x\"\ncommand = \"y\"", 2), ("on = [\"continued\"]\nbus = 1", 1), ("on = [\"continued\"]", 1), ("on = [\"x\"]", 2),
      ("on = []\nbus = \"unix:path=/a\"", 1),
    ])
  func once(_ table: String, _ problems: Int) throws {
    let error = #expect(throws: ConfigurationError.self) { try read("[[notify]]\n\(table)\n") }
    #expect(error?.problems.count == problems, "\(String(describing: error))")
  }

  @Test("there are at most 16")
  func most() throws {
    let table = "[[notify]]\non = [\"continued\"]\ncommand = [\"/bin/true\"]\n"
    #expect(try read(String(repeating: table, count: 16)).count == 16)
    #expect(throws: ConfigurationError.self) { try read(String(repeating: table, count: 17)) }
  }
}
