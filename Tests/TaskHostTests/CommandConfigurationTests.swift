import Testing

@testable import TaskHost

@Suite("Commands of a configuration") struct CommandConfigurationTests {
  @Test(
    "what cannot work is named at its place",
    arguments: [
      ("[command.x]", "1:10: there is no \"run\""),
      ("[command.x]\nrun = []", "2:1: command.x.run: names no program"),
      ("[command.x]\nrun = \"ls\"", "2:1: command.x.run: expected a list"),
      ("[command.x]\nrun = [\"ls\"]\nshell = \"ls\"", "3:1: there is a \"run\" too"),
      ("[command.x]\nrun = [\"ls\"]\n[plugin.x]", "1:10: there is a [plugin.\"x\"] too"),
      ("[command.x]\nrun = [\"ls\"]\nexit_codes = { 256 = \"success\" }", "3:16: command.x.exit_codes.256: expected an exit code"),
      ("[command.x]\nrun = [\"ls\"]\nexit_codes = { 1 = \"fine\" }", "unknown value \"fine\""),
      ("[command.x]\nrun = [\"ls\"]\nenvironment = [\"TASKHOST_SOCKET=/x\"]", "are the host's"),
      ("[command.x]\nrun = [\"ls\"]\nenvironment = [\"1=2\"]", "is not the name of an environment variable"),
      ("[command.x]\nrun = [\"ls\"]\nuser = \"no-such-user\"", "3:1: there is no user \"no-such-user\""),
      ("[command.x]\nrun = [\"ls\"]\nuser = \"root\"\nentitlements = {}", "a command with entitlements runs as the host's user"),
      ("[command.x]\nrun = [\"ls\"]\ngrace = \"0s\"", "3:1: a command needs a grace of at least"),
      ("[command.x]\nrun = [\"ls\"]\nlimits = { processes = 3 }", "processes needs entitlements"),
      ("[command.x]\nrun = [\"ls\"]\nentitlements = { exec = false }", "may always start programs"),
      ("[command.x]\nrun = [\"ls\"]\nidle_time = \"1s\"", "idle_time needs persistent"),
      ("[command.x]\nrun = [\"ls\"]\npersistent = true\nstdout = \"output\"", "is its protocol"),
      ("[command.x]\nrun = [\"ls\"]\npersistent = true\nexit_codes = {}", "says its results by lines"),
      ("[command.\"a.b\"]\nrun = [\"ls\"]\nsettings = {}", "3:1: unknown key \"settings\""),
      ("[command.a.b]\nrun = [\"ls\"]", "an identifier with dots stands in quotes: [command.\"a.b"),
      ("require_sandbox = true\n[command.x]\nrun = [\"ls\"]", "a command without entitlements has no sandbox"),
    ])
  func named(_ text: String, _ words: String) {
    let found = problems(text)
    #expect(found.count == 1 && found.first?.contains(words) == true, "\(text): \(found)")
  }

  @Test("a relative program and directory are relative to the file, and a bare name is left for PATH")
  func paths() throws {
    let text = "[command.x]\nrun = [\"bin/x\", \"bin/y\"]\ndirectory = \"work\"\n[command.y]\nrun = [\"ls\"]\n"
    let configuration = try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
    #expect(configuration.commands["x"]?.run == ["/etc/taskhost/bin/x", "bin/y"])
    #expect(configuration.commands["x"]?.directory == "/etc/taskhost/work")
    #expect(configuration.commands["y"]?.words == ["ls"])
    #expect(configuration.plugin("x").isolation == .thread && configuration.plugin("x").maxConcurrentRuns == 1)
  }

  @Test("a host with commands alone needs no directory of plugins, unless the file names one")
  func alone() throws {
    let file = "/nonexistent/taskhost.toml"
    let command = "[command.x]\nrun = [\"ls\"]\n"
    #expect(try HostConfiguration.parse(command, file: file).pluginDirectories.isEmpty)
    #expect(try HostConfiguration.parse("plugin_directories = [\"plugins\"]\n" + command, file: file).pluginDirectories.count == 1)
    #expect(try HostConfiguration.parse("", file: file).pluginDirectories.count == 1)
  }
}
