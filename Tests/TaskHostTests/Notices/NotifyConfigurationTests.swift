import TaskModel
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
      ("on = [\"failed\"]\ncommand = [\"/bin/true\"]\ntask = \"a.b\"", "both a command and a task"),
      ("on = [\"failed\"]\nurl = \"https://a.b/\"\nmail = \"a@b\"", "both a url and a mail"),
      ("on = [\"failed\"]\nurl = \"ftp://a.b/\"", "does not begin with https://"),
      ("on = [\"failed\"]\nurl = \"https:///x\"", "it names no host"),
      ("on = [\"failed\"]\nurl = \"https://u:p@a.b/\"", "a user or password"),
      ("on = [\"failed\"]\nurl = \"https://a.b/ c\"", "a character that no address has"),
      ("on = [\"failed\"]\nurl = \"https://a.b/\\r\\nX: 1\"", "a character that no address has"),
      ("on = [\"failed\"]\nurl = \"http://a.b/\"", "sent without TLS"),
      ("on = [\"failed\"]\nurl = \"http://127.0.0.1.a.b/\"", "sent without TLS"),
      ("on = [\"failed\"]\nurl = \"https://a.b/\"\nformat = \"xml\"", "unknown value \"xml\""),
      ("on = [\"continued\"]\nurl = \"https://a.b/\"", "goes to a command or a bus"),
      ("on = [\"failed\"]\ncommand = [\"/bin/true\"]\nsecret_file = \"a\"", "secret_file belongs to \"url\""),
      ("on = [\"failed\"]\nurl = \"https://a.b/\"\nsendmail = \"/a\"", "sendmail belongs to \"mail\""),
      ("on = [\"store\"]\ntask = \"a.b\"", "a task cannot tell of trouble with the store"),
      ("on = [\"failed\"]\nmail = \"ops\"", "is no mail address"),
      ("on = [\"failed\"]\nmail = \"a@b\\nBcc: c@d\"", "is no mail address"),
      ("on = [\"failed\"]\nmail = \"a@b, c@d\"", "is no mail address"),
      ("on = [\"failed\"]\ntask = \"a b\"", "identifier \"a b\" has a character other than"),
      ("on = [\"continued\"]\ntask = \"a.b\"", "goes to a command or a bus"),
      ("on = [\"failed\"]\ntask = \"a.b\"\nretry = { attempts = 2 }", "retried as its own table says"),
      ("on = [\"failed\"]\ntask = \"a.b\"\nfailures = 2", "failures counts for the event \"failing\""),
      ("on = [\"failing\"]\ntask = \"a.b\"\nfailures = 0", "0 is not in 1 to 1000"),
      ("on = [\"failed\"]\ntask = \"a.b\"\nidentifiers = []", "identifiers is empty"),
      ("on = [\"failed\"]\ntask = \"a.b\"\nname = \"a.b\"", "expected a name of 1 to 32"),
      ("on = [\"failed\"]\ntask = \"a.b\"\n[[notify]]\nname = \"1\"\non = [\"failed\"]\ntask = \"a.b\"", "has the name \"1\" too"),
      ("on = [\"continued\"]\nbus = \"unix:path=/a\"\nper_hour = 3", "per_hour is about the events \"failed\""),
      (
        "on = [\"failed\"]\ncommand = [\"/bin/true\"]\nretry = { initial = \"2m\", maximum = \"1m\" }",
        "initial (2m) is longer than maximum (1m)"
      ),
      (
        "on = [\"failed\"]\ncommand = [\"/bin/true\"]\n[command.\"org.taskhost.notify.1\"]\nrun = [\"a\"]",
        "has a table of its own"
      ),
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

  @Test("a task must be permitted; the host's own notifications always are")
  func permitted() throws {
    let own = try HostConfiguration.parse(
      "permitted_identifiers = [\"a.b\"]\n[[notify]]\nname = \"x\"\non = [\"failed\"]\ncommand = [\"/bin/true\"]\n", file: "/etc/a.toml")
    let (known, unknown) = (try TaskIdentifier("org.taskhost.notify.x"), try TaskIdentifier("org.taskhost.notify.y"))
    #expect(own.permits(known) && !own.permits(unknown))
    let error = #expect(throws: ConfigurationError.self) {
      try HostConfiguration.parse(
        "permitted_identifiers = [\"a.b\"]\n[[notify]]\non = [\"failed\"]\ntask = \"c.d\"\n", file: "/etc/a.toml")
    }
    #expect("\(String(describing: error))".contains("permitted_identifiers does not permit \"c.d\""))
  }

  @Test("a URL without TLS is fine on this machine, and elsewhere if the table says so")
  func plain() throws {
    for url in ["http://127.0.0.1:8080/x", "http://[::1]/", "http://LOCALHOST"] {
      #expect(try read("[[notify]]\non = [\"failed\"]\nurl = \"\(url)\"\n")[0].url == url)
    }
    #expect(try read("[[notify]]\non = [\"failed\"]\nurl = \"http://a.b\"\nallow_http = true\n")[0].allowsHTTP)
  }

  @Test("there are at most 16")
  func most() throws {
    let table = "[[notify]]\non = [\"continued\"]\ncommand = [\"/bin/true\"]\n"
    #expect(try read(String(repeating: table, count: 16)).count == 16)
    #expect(throws: ConfigurationError.self) { try read(String(repeating: table, count: 17)) }
  }
}
