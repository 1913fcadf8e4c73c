import Testing

@testable import TaskHost

@Suite("Event sockets of a configuration") struct EventSocketConfigurationTests {
  private func parse(_ text: String) throws(ConfigurationError) -> HostConfiguration {
    try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
  }

  private func problems(_ text: String) -> [String] {
    do throws(ConfigurationError) {
      _ = try parse(text)
      return []
    } catch {
      return error.problems.map(\.message)
    }
  }

  @Test("each table is a socket with the event of its name; paths are relative to the file, the mode is 0600 unless it says another")
  func read() throws {
    let events = try parse(
      """
      [events.push]
      listen = "unix:run/push.sock"
      mode = "0660"
      group = "web"
      [events."build done"]
      listen = "unix:/run/taskhost/build.sock"
      [events]
      alarm.listen = "udp:127.0.0.1:5140"
      six = { listen = "udp:[::1]:5140" }
      any = { listen = "udp:0.0.0.0:0" }
      """
    ).events
    #expect(Set(events.keys) == ["push", "build done", "alarm", "six", "any"])
    #expect(events["push"]?.listen == .unix("/etc/taskhost/run/push.sock"))
    #expect(events["push"]?.mode == 0o660 && events["push"]?.group == "web")
    #expect(events["build done"]?.mode == 0o600 && events["build done"]?.group == nil)
    #expect(events["alarm"]?.listen.description == "udp:127.0.0.1:5140")
    #expect(events["six"]?.listen.description == "udp:[::1]:5140")
    #expect(events["any"]?.listen.description == "udp:0.0.0.0:0")
    #expect(try parse("").events.isEmpty)
  }

  @Test(
    "what is wrong is said with what to write instead",
    arguments: [
      ("[events.push]", "events.push has no \"listen\""),
      ("[events.push]\nlisten = \"unix:/a\"\nmod = \"0600\"", "unknown key \"mod\" (did you mean \"mode\"?)"),
      ("[events.push]\nlisten = \"unix:\"", "a path is missing after unix:"),
      ("[events.push]\nlisten = \"unix:~/a\"", "\"~\" is not expanded here"),
      ("[events.push]\nlisten = \"unx:/a\"", "(did you mean \"unix:\"?)"),
      ("[events.push]\nlisten = \"/run/a.sock\"", "expected \"unix:PATH\" or \"udp:ADDRESS:PORT\", found \"/run/a.sock\""),
      ("[events.push]\nlisten = 5140", "expected an address such as"),
      ("[events.push]\nlisten = \"udp:5140\"", "expected an address in numbers and a port"),
      ("[events.push]\nlisten = \"udp:localhost:5140\"", "expected an address in numbers and a port"),
      ("[events.push]\nlisten = \"udp:127.0.0.1:70000\"", "expected an address in numbers and a port"),
      ("[events.push]\nlisten = \"udp:::1:5140\"", "expected an address in numbers and a port"),
      ("[events.push]\nlisten = \"udp:127.0.0.1:5140\"\nmode = \"0600\"", "only a unix: socket has a mode"),
      ("[events.push]\nlisten = \"unix:/a\"\nmode = \"rw\"", "permissions in octal"),
      ("[events.\"file:/a\"]\nlisten = \"unix:/a\"", "must not begin with file:"),
      ("[events.\"a\\nb\"]\nlisten = \"unix:/a\"", "must not contain control characters"),
      ("[events.\"\"]\nlisten = \"unix:/a\"", "1 to 256 bytes, this one has 0"),
      ("events = 3", "expected a table"),
      ("events.push = 3", "expected a table"),
      (
        "[events.a]\nlisten = \"unix:/x\"\n[events.b]\nlisten = \"unix:/./x\"",
        "unix:/x is that of the event \"a\" too: one socket brings one event"
      ),
      ("[events.a]\nlisten = \"udp:[::1]:1\"\n[events.b]\nlisten = \"udp:[::1]:1\"", "udp:[::1]:1 is that of the event \"a\" too"),
      ("[control]\nsocket = \"/c.sock\"\n[events.a]\nlisten = \"unix:/c.sock\"", "/c.sock is the control socket"),
    ])
  func problem(_ text: String, _ words: String) {
    let found = problems(text)
    #expect(found.count == 1 && found.first?.contains(words) == true, "\(found)")
  }

  @Test("a path of 107 bytes is taken, one of 108 is refused; ports that the system chooses are never the same")
  func limits() throws {
    let path = "/" + String(repeating: "x", count: 106)
    #expect(problems("[events.a]\nlisten = \"unix:\(path)\"").isEmpty)
    #expect(problems("[events.a]\nlisten = \"unix:\(path)x\"").first?.contains("has 108 bytes, Linux takes 107") == true)
    #expect(problems("[events.a]\nlisten = \"udp:127.0.0.1:0\"\n[events.b]\nlisten = \"udp:127.0.0.1:0\"").isEmpty)
  }
}
