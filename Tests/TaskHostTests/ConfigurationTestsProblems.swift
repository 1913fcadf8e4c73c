import Glibc
import StoreTestSupport
import Testing

@testable import TaskHost

@Suite("Problems of a configuration") struct ConfigurationProblemTests {
  @Test("a pipe is refused, and nobody waits for its writer") func pipe() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("taskhost.toml")
    try #require(mkfifo(path, 0o600) == 0)
    let error = #expect(throws: ConfigurationError.self) { try HostConfiguration.load(file: path) }
    #expect(error?.problems.first?.message.contains("is a pipe, not a file") == true)
  }

  @Test("an unknown key is an error with its place and the nearest known name")
  func unknown() {
    #expect(
      problems("\n  plugin_directorys = []")
        == ["taskhost.toml:2:3: unknown key \"plugin_directorys\" (did you mean \"plugin_directories\"?)"])
  }

  @Test("a key that is like no other is told which there are")
  func unlike() {
    #expect(problems("[log]\ncolour = true") == ["taskhost.toml:2:1: unknown key \"colour\" (known here: level, format)"])
  }

  @Test("unknown keys are found at every level, in every way to write them")
  func levels() {
    let text = """
      control.modus = "0600"   # dotted
      log = { levl = "info" }
      [[trusted_keys]]
      file = "a"
      identifiers = ["a"]
      [[trusted_keys]]
      file = "b"
      identifiers = ["b"]
      fil = "c"
      [plugin."a.b"]
      "budge\\u0074s" = "1s"
      [plugin."a.b".limits]
      memori = 1
      [plugin."a.b".entitlements]
      'exek' = true
      [plugin."a.b".settings]
      anything = "goes"
      """
    #expect(
      problems(text) == [
        "taskhost.toml:1:9: unknown key \"modus\" (did you mean \"mode\"?)",
        "taskhost.toml:2:9: unknown key \"levl\" (did you mean \"level\"?)",
        "taskhost.toml:9:1: unknown key \"fil\" (did you mean \"file\"?)",
        "taskhost.toml:11:1: unknown key \"budgets\" (did you mean \"budget\"?)",
        "taskhost.toml:13:1: unknown key \"memori\" (did you mean \"memory\"?)",
        "taskhost.toml:15:1: unknown key \"exek\" (did you mean \"exec\"?)",
      ])
  }

  @Test("everything that is wrong is reported together, in the order of the file")
  func together() {
    let text = """
      max_concurrent_runs = "many"
      max_pending = 0
      minimum_interval = 15
      launch_budget = "5 s"
      plugins = []
      [log]
      level = "inof"
      [retry]
      initial = "6h"
      [plugin."bad identifier"]
      isolation = "container"
      requires = [
        "network",
        "wifi",
        3,
      ]
      """
    let found = problems(text)
    #expect(
      found == [
        "taskhost.toml:1:1: max_concurrent_runs: expected an integer, found a string",
        "taskhost.toml:2:1: max_pending: 0 is not in 1 to 10000000",
        "taskhost.toml:3:1: minimum_interval: expected a duration such as \"30s\", found an integer",
        "taskhost.toml:4:1: launch_budget: expected a duration such as \"500ms\", \"30s\", \"15m\", \"6h\", \"7d\" or \"1h30m\", found \"5 s\"",
        "taskhost.toml:5:1: unknown key \"plugins\" (did you mean \"plugin\"?)",
        "taskhost.toml:7:1: log.level: unknown value \"inof\" (did you mean \"info\"?)",
        "taskhost.toml:9:1: initial (6h) is longer than maximum (5h)",
        "taskhost.toml:10:9: \"bad identifier\" is not an identifier: 1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or digit",
        "taskhost.toml:11:1: plugin.\"bad identifier\".isolation: unknown value \"container\" (one of \"process\", \"thread\")",
        "taskhost.toml:12:1: requires applies to the schedule's runs, and there is no schedule",
        "taskhost.toml:14:3: plugin.\"bad identifier\".requires[1]: unknown value \"wifi\" (one of \"network\", \"unmetered\", \"power\", \"idle\", \"battery_not_low\", \"storage_not_low\")",
        "taskhost.toml:15:3: plugin.\"bad identifier\".requires[2]: expected one of \"network\", \"unmetered\", \"power\", \"idle\", \"battery_not_low\", \"storage_not_low\", found an integer",
      ])
  }

  @Test("a problem carries its key")
  func key() {
    let error = #expect(throws: ConfigurationError.self) {
      try HostConfiguration.parse("[plugin.\"a.b\".limits]\nmemory = \"1XB\"", file: "taskhost.toml")
    }
    #expect(error?.problems.map(\.key) == ["plugin.\"a.b\".limits.memory"])
    #expect(error?.problems.map(\.line) == [2])
  }

  @Test(
    "a bad value is refused at its key",
    arguments: [
      ("plugin_directories = \"plugins\"", "1:1: plugin_directories: expected a list, found a string"),
      ("plugin_directories = [\"\"]", "1:23: plugin_directories[0]: a path cannot be empty"),
      ("state_directory = \"~/state\"", "1:1: state_directory: \"~\" is not expanded here: write the directory in full"),
      ("permitted_identifiers = [\"org.*.x\"]", "1:26: permitted_identifiers[0]: \"org.*.x\" is not an identifier"),
      ("drain_timeout = \"2d\"", "1:1: drain_timeout: 2d is not in 0s to 1d"),
      ("drain_timeout = \"99999999999999999999s\"", "1:1: drain_timeout: the duration \"99999999999999999999s\" is too long"),
      ("drain_timeout = \"9223372036854775807d\"", "1:1: drain_timeout: the duration \"9223372036854775807d\" is too long"),
      ("drain_timeout = \"-1s\"", "1:1: drain_timeout: expected a duration"),
      ("drain_timeout = \"1m1h\"", "1:1: drain_timeout: expected a duration"),
      ("drain_timeout = \"\"", "1:1: drain_timeout: expected a duration"),
      ("require_signatures = \"yes\"", "1:1: require_signatures: expected true or false, found a string"),
      ("metered_interfaces = [\"a name too long for linux\"]", "1:23: metered_interfaces[0]: "),
      ("control = 1", "1:1: control: expected a table, found an integer"),
      ("control.mode = \"0999\"", "1:9: control.mode: expected permissions in octal"),
      ("control.mode = 600", "1:9: control.mode: expected permissions in octal such as \"0600\", found an integer"),
      ("control.mode = \"1777\"", "1:9: control.mode: expected permissions in octal"),
      ("control.token_file = \"t\"\ncontrol.listen = \"7411\"", "2:9: control.listen: expected an address and a port"),
      ("control.token_file = \"t\"\ncontrol.listen = \"::1:7411\"", "2:9: control.listen: expected an address and a port"),
      ("control.token_file = \"t\"\ncontrol.listen = \"a:70000\"", "2:9: control.listen: expected an address and a port"),
      ("[traces]\nsample = 0.5", "2:1: sample is for a collector, and there is no endpoint"),
      ("traces.endpoint = \"collector:4318\"", "1:8: traces.endpoint: this is no address"),
      ("[traces]\nendpoint = \"http://a\"\nsample = 1.5", "3:1: traces.sample: "),
      ("[traces]\nendpoint = \"http://a.example\"\nheaders_file = \"h\"", "2:1: headers_file has secrets, and without TLS"),
      ("[traces]\nendpont = \"http://a\"", "2:1: unknown key \"endpont\" (did you mean \"endpoint\"?)"),
      ("trusted_keys = 1", "1:1: trusted_keys: expected a list of tables, [[trusted_keys]], found an integer"),
      ("[[trusted_keys]]\nidentifiers = []", "1:3: trusted_keys[0] has no \"file\""),
      ("plugin = []", "1:1: plugin: expected a table, found a list"),
      ("plugin.a = 1", "1:8: plugin.a: expected a table, found an integer"),
      ("[plugin.org.example.sync]\nbudget = \"1s\"", "1:9: an identifier with dots stands in quotes"),
      ("[plugin.\"..\"]", "1:9: \"..\" is not an identifier"),
      ("[plugin.a]\nfile = \"../liba.so\"", "2:1: plugin.a.file: expected the name of a file"),
      ("[plugin.a]\nschedule = \"daily\"", "2:1: plugin.a.schedule: expected \"every 6h\", \"cron"),
      ("[plugin.a]\nschedule = \"every day\"", "2:1: plugin.a.schedule: expected a duration"),
      ("[plugin.a]\nschedule = \"cron 0 8 * *\"", "2:1: plugin.a.schedule: a cron schedule has five fields"),
      ("[plugin.a]\nschedule = \"cron 0 8 * * * Europe/Berlin x\"", "2:1: plugin.a.schedule: a cron schedule has five fields"),
      ("[plugin.a]\nschedule = \"cron 0 8 * * $\"", "2:1: plugin.a.schedule: weekday \"$\": is none of"),
      ("[plugin.a]\nschedule = \"cron 0 8 * * * Europe/Berlim\"", "2:1: plugin.a.schedule: there is no time zone"),
      ("[plugin.a]\nschedule = \"0 8 * * *\"", "2:1: plugin.a.schedule: \"0 8 * * *\": a cron schedule begins with the word cron"),
      ("[plugin.a]\nwindow = \"night\"", "2:1: there is no [windows.night]"),
      ("[plugin.a]\nresources = { gpu = 1 }", "2:1: resources.gpu: a run takes 1 and the host has 0"),
      ("[resources]\n\"\" = 1", "2:1: the name of a resource has 1 to 256 bytes; this one is empty"),
      ("[plugin.a.resources]\n\"\" = 1", "2:1: the name of a resource has 1 to 256 bytes; this one is empty"),
      ("[windows.\"\"]\nfrom = \"01:00\"\nto = \"02:00\"", "1:10: the name of a window has 1 to 256 bytes; this one is empty"),
      ("[windows.night]\nfrom = \"01:00\"", "1:10: windows.night has no \"to\""),
      ("[windows.night]\nfrom = \"01:00\"\nto = \"25:00\"", "1:10: windows.night: "),
      ("[windows.night]\nfrom = \"01:00\"\nto = \"05:00\"\ndays = []", "4:1: windows.night.days: names no day"),
      ("rate_limit = \"often\"", "1:1: rate_limit: "), ("[plugin.a]\nquota = \"1d\"", "2:1: plugin.a.quota: "),
      ("[plugin.a]\nquota = { active = \"1m/1h\" }", "2:1: plugin.a.quota has no \"working\": name a quota for each of active, working"),
      ("profile = \"tablet\"", "1:1: profile: unknown value \"tablet\""),
      ("[idle]\nlight_after = \"2h\"", "2:1: deep_after (1h) is not longer than light_after (2h)"),
      ("[conditions]\nbattery_low = 30", "1:2: battery_low = 30.0 is above battery_ok = 20.0"),
      ("[plugin.a]\nenvironment = [\"A=1\"]", "2:16: plugin.a.environment[0]: this is not the name"),
      ("[plugin.a]\nmay_notify = [\"host:*\"]", "2:15: plugin.a.may_notify[0]: events that begin with host:, condition: or task: are"),
      ("[plugin.a]\nmay_notify = [\"\"]", "2:15: plugin.a.may_notify[0]: an event name has 1 to 256 bytes"),
      ("[plugin.a.limits]\nmemory = \"1MB\"", "2:1: plugin.a.limits.memory: 1000000 bytes are not in 16MiB to 16TiB"),
      ("[plugin.a.limits]\nmemory = \"9999999999GiB\"", "2:1: plugin.a.limits.memory: the size \"9999999999GiB\" is too large"),
      ("[plugin.a.limits]\nmemory = 1.5", "2:1: plugin.a.limits.memory: expected a size"),
      ("[plugin.a.entitlements]\nnetwork = [80, 70000]", "2:16: plugin.a.entitlements.network[1]: 70000 is not in 1 to 65535"),
      ("[plugin.a.entitlements]\nnetwork = \"all\"", "2:1: plugin.a.entitlements.network: expected \"none\", \"connect\" or"),
      ("[plugin.a]\nsettings = 1", "2:1: plugin.a.settings: expected a table, found an integer"),
      ("[plugin.a.settings]\nx = [1, inf]", "2:9: plugin.a.settings.x[1]: the plugin gets this as JSON"),
      ("[plugin.a.settings]\nx = \"a\\u0000b\"", "2:7: a string cannot have a zero character in it"),
      ("[plugin.a.settings]\n\"a\\u0000b\" = 1", "2:3: a string cannot have a zero character in it"),
      ("# a\n# \0", "2:3: a zero byte does not belong into a text file"),
    ])
  func value(_ text: String, _ expected: String) {
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("taskhost.toml:" + expected) == true, "\(found)")
  }

  @Test(
    "what contradicts itself is refused",
    arguments: [
      ("retry.maximum = \"10s\"", "1:7: initial (30s) is longer than maximum (10s)"),
      ("[control]\nlisten = \"192.0.2.7:7411\"", "2:1: 192.0.2.7:7411 is not this machine's loopback"),
      ("[control]\nlisten = \"tasks.example.org:7411\"", "2:1: tasks.example.org:7411 is not this machine's loopback"),
      ("[control]\nnames = [\"tasks.example.org\"]", "2:1: names is for TCP, and there is no listen"),
      ("[control]\nlisten = \"0.0.0.0:1\"\nkey = \"k\"", "3:1: TLS takes both a certificate and its private key: set control.certificate"),
      ("[control]\nlisten = \"[::1]:1\"\ncertificate = \"c\"", "3:1: TLS takes both a certificate and its private key: set control.key"),
      ("[control]\ncertificate = \"c\"", "2:1: certificate is for TCP, and there is no listen"),
      (
        "[control]\nlisten = \"0.0.0.0:1\"\ncertificate = \"c\"\nkey = \"k\"\nplaintext = true",
        "5:1: plaintext is true, and certificate makes listen speak TLS only"
      ),
      ("[control]\nplaintext = true", "2:1: plaintext is for TCP, and there is no listen"),
      ("[control]\nlisten = \"[::1]:1\"\nnames = [\"a.b:1\"]", "3:10: control.names[0]: expected the name of a host without a port"),
      ("require_signatures = true", "1:1: require_signatures is true, but there are no [[trusted_keys]]"),
      ("state_directory = \"plugins\"", "1:1: state_directory is also one of plugin_directories"),
      ("permitted_identifiers = [\"a.*\"]\n[plugin.\"b.c\"]", "2:9: permitted_identifiers does not permit \"b.c\""),
      ("max_concurrent_runs = 2\n[plugin.a]\nmax_concurrent_runs = 3", "3:1: max_concurrent_runs (3) is more than the host's (2)"),
      ("[plugin.a]\nschedule = \"every 5m\"", "2:1: every 5m is more often than minimum_interval (15m) allows"),
      ("[plugin.a]\nschedule = \"on task:a\"", "2:1: event: a task that runs at the end of its own runs would never stop"),
      ("[plugin.a]\nschedule = \"on task:a:failed\"", "2:1: event: a task that runs at the end of its own runs would never stop"),
      ("[plugin.a]\nfair_by = \"tenant\"", "2:1: plugin.a.fair_by: \"tenant\": write \"payload.MEMBER\""),
      ("[schedule.a]\nevery = \"1h\"", "1:11: \"a\" does not name a schedule: write [schedule.\"IDENTIFIER/NAME\"]"),
      ("[schedule.\"a/b\"]\npriority = 1", "1:11: schedule.\"a/b\" does not say when"),
      ("[schedule.\"a/b\"]\nevery = \"1h\"\non = \"x\"", "1:11: schedule.\"a/b\" has every and on: make a table of each"),
      ("[schedule.\"a/b\"]\nevery = 5", "2:1: schedule.\"a/b\".every: expected a string"),
      ("[schedule.\"a/b\"]\nevery = \"5m\"", "2:1: every 5m is more often than minimum_interval (15m) allows"),
      ("[schedule.\"a/b\"]\ncron = \"0 8 * *\"", "2:1: schedule.\"a/b\".cron: a cron schedule has five fields"),
      ("[schedule.\"a/b\"]\non = \"task:a\"", "2:1: on: a task that runs at the end of its own runs would never stop"),
      ("[schedule.\"a/b\"]\nevery = \"1h\"\ntags = [\"\"]", "3:1: tags[0]"),
      (
        "[schedule.\"a/b\"]\nevery = \"1h\"\nretry = { initial = \"2h\", maximum = \"1h\" }",
        "3:11: initial (2h) is longer than maximum (1h); what is left out is as for the identifier"
      ),
      (
        "[schedule.\"a/b\"]\nevery = \"1h\"\n[schedule.\"a/b\".retry]\nattempts = 2\nmaximum = \"1s\"",
        "5:1: initial (30s) is longer than maximum (1s)"
      ),
      (
        "[plugin.a]\nschedule = \"cron 30 2 * * * UTC\"\nexpect_within = \"24h\"",
        "3:1: expect_within (1d) is not longer than the schedule's longest pause (1d,"
      ),
      (
        "[plugin.a]\nschedule = \"cron 0 8 * * 1-5 UTC\"\nexpect_within = \"26h\"",
        "3:1: expect_within (1d2h) is not longer than the schedule's longest pause (3d,"
      ),
      (
        "[command.a]\nrun = [\"true\"]\nschedule = \"cron 0 12 1 * * UTC\"\nexpect_within = \"30d\"",
        "4:1: expect_within (30d) is not longer than the schedule's longest pause (31d,"
      ),
      ("permitted_identifiers = [\"b\"]\n[schedule.\"a/b\"]\nevery = \"1h\"", "2:11: permitted_identifiers does not permit \"a\""),
      ("[plugin.a]\nrequires = [\"power\"]", "2:1: requires applies to the schedule's runs, and there is no schedule"),
      ("require_sandbox = true\n[plugin.a]\nisolation = \"thread\"", "3:1: require_sandbox is true, but isolation"),
      ("[plugin.a]\nisolation = \"thread\"\n[plugin.a.limits]\nmemory = \"1GB\"", "3:11: limits needs isolation = \"process\""),
      ("control.socket = \"/\(String(repeating: "s", count: 107))\"", "1:9: the socket's path"),
    ])
  func contradiction(_ text: String, _ expected: String) {
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("taskhost.toml:" + expected) == true, "\(found)")
  }

  @Test("a syntax error has its line and column")
  func syntax() {
    for (text, place) in [("a = \n", "1:"), ("[log]\nlevel = \"info\nformat", "2:"), ("\n\n[log", "3:"), ("a = 1\na = 2", "2:")] {
      let found = problems(text)
      #expect(found.count == 1)
      #expect(found.first?.hasPrefix("taskhost.toml:\(place)") == true, "\(found)")
      #expect(found.first?.contains("not valid TOML") == true, "\(found)")
    }
  }

  @Test("a table without a name is a syntax error", arguments: ["[]", "[[]]", "[.a]", "[ = 1", "[#", "[\t]"])
  func nameless(_ header: String) {
    #expect(
      problems("[log]\nlevel = \"info\"\n  \(header)\n")
        == ["taskhost.toml:3:3: not valid TOML: a table needs a name between the brackets, of letters, digits, _ and -, or in quotes"])
    #expect(problems("log = \n\(header)\n").first?.hasPrefix("taskhost.toml:1:") == true)
  }

  @Test(
    "a value that may be a secret is in no message about it",
    arguments: [
      "[plugin.\"x\".settings]\npassword = S3CRET", "[plugin.x]\nsettings = { a = [1, S3CRET] }", "[plugin.x]\nping = S3CRET",
      "[[notify]]\nurl = https://S3CRET/", "[traces]\nendpoint = S3CRET", "[plugin.x]\nping = \"S3CRET\"",
      "[command.x]\nenvironment = [\"S3CRET-x\"]", "[plugin.x.settings]\nnumber = 77777777777777777777S3CRET",
      "[plugin.x.settings]\na = \"S3CRET\" S3CRET", "[plugin.x.settings]\na = \"S3CRET", "[plugin.x.settings]\na = \"\\S3CRET\"",
      "[[schedule.x.a]]\npayload.a = S3CRET", "[plugin.x.settings]\npin = 77777777777777777777",
      "[plugin.x.settings]\npin = 77777777777777777777\n[log]\nlevel = info",
    ])
  func hidden(_ text: String) {
    let found = problems(text)
    #expect(!found.isEmpty)
    for problem in found { #expect(!problem.contains("S3CRET") && !problem.contains("7777777"), "\(problem)") }
  }

  @Test(
    "what is not a value is a syntax error at its place",
    arguments: [
      ("x = info", "1:5: not valid TOML: this is not a value; strings stand in quotes"),
      ("x = ", "1:5: not valid TOML: a value is missing"),
      ("x = 2024-02-03Tx", "1:5: not valid TOML: this is not a value"),
      ("x = [\n}]", "2:1: not valid TOML: a value is missing"),
      ("x = [\n1, \u{2028}]", "2:4: not valid TOML: "), ("x = { y = 07:3 }", "1:11: not valid TOML: this is not a value"),
      ("x = 01", "1:5: not valid TOML: "), ("x = 1__0", "1:5: not valid TOML: "), ("x = 2024-13-01", "1:"),
      ("x = [1 2]", "1:6: not valid TOML: "),
      ("y\nx = info", "1:"),
    ])
  func noValue(_ text: String, _ expected: String) {
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("taskhost.toml:" + expected) == true, "\(found)")
    #expect(found.first?.contains("not valid TOML: ") == true)
  }

  @Test(
    "every form of value passes the scan before the parser",
    arguments: [
      "true", "false", "0", "-17", "+1_000", "0xdead_BEEF", "0o755", "0b1_0", "3.14", "-0.0", "5e+22", "1e0_6", "6.626e-34", "2024-02-03",
      "2024-02-03T07:32:00Z", "2024-02-03 07:32:00.5+01:00", "2024-02-03t07:32:00", "07:32:00", "07:32:00.999999", "[]",
      "[1, [2.5, 'a',], ]",
      "{}", "{ a = 1, 'b' = [ {c=2} ] }", "\"\"", "''", "\"\"\"a\"\"b\"\"\"\"\"", "'''\na'b'''''",
    ])
  func everyForm(_ value: String) {
    #expect(problems("[plugin.a.settings]\nx = \(value) # comment\ny = 1\n") == [])
  }

  @Test("a file that cannot be read says why", arguments: [("/nonexistent/taskhost.toml", "No such file"), ("/", "Is a directory")])
  func unreadable(_ path: String, _ reason: String) {
    let error = #expect(throws: ConfigurationError.self) { try HostConfiguration.load(file: path) }
    #expect(error?.description.hasPrefix("\(path): cannot be read: ") == true)
    #expect(error?.description.contains(reason) == true)
  }

  @Test(
    "what is nested too deeply is refused at its place, however deep, before it costs a stack or seconds",
    arguments: [
      (String(repeating: "[", count: 65_000), "2:36"),
      (String(repeating: "[", count: 32) + "1" + String(repeating: "]", count: 32), "2:36"),
      (String(repeating: "{ a = ", count: 11_000), "2:187"),
    ])
  func nestedValues(_ value: String, _ place: String) {
    let problems = problems("[log]\nx = \(value)\n")
    #expect(problems == ["taskhost.toml:\(place): not valid TOML: this is more than 32 tables, keys and lists deep: nest less"])
  }

  @Test("a key of too many parts is refused, in a table's header as before a value")
  func longKeys() {
    let parts = String(repeating: "a.", count: 30_000) + "b"
    let sentence = "not valid TOML: this is more than 32 tables, keys and lists deep: nest less"
    #expect(problems("\(parts) = 1") == ["taskhost.toml:1:65: \(sentence)"])
    #expect(problems("[\(parts)]\n") == ["taskhost.toml:1:66: \(sentence)"])
    #expect(problems("[[\(parts)]]\n") == ["taskhost.toml:1:67: \(sentence)"])
  }

  @Test("32 levels are read")
  func deepest() {
    let text = "[plugin.a.settings]\nx = " + String(repeating: "[", count: 28) + "1" + String(repeating: "]", count: 28)
    #expect(problems(text) == [])
    #expect(problems(text.replacing("1", with: "[1]")).count == 1)
  }
}
