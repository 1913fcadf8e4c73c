import TaskHost
import Testing

@testable import Takeover

@Suite("Takeover of timers") struct TimerReadingTests {
  private static func machine(_ units: [String: String], enabled: [String]? = nil) -> TimerMachine {
    let files = units.map { name, text in
      UnitFiles(name: name, texts: [UnitText(Array(text.utf8), file: "/etc/systemd/system/\(name)")], path: "/etc/systemd/system/\(name)")
    }
    let timers = files.filter { $0.name.hasSuffix(".timer") }
    let services = Dictionary(uniqueKeysWithValues: files.filter { $0.name.hasSuffix(".service") }.map { ($0.name, $0) })
    var machine = TimerMachine(timers: timers, services: services, enabled: Set(enabled ?? timers.map(\.name)))
    machine.account = { wanted in
      let accounts = [("root", "0", 0), ("backup", "34", 34), ("www-data", "33", 1033)] as [(String, String, UInt32)]
      return accounts.first { $0.0 == wanted || $0.1 == wanted }.map { UserAccount(name: $0.0, group: $0.2) }
    }
    machine.environmentFile = { ["/etc/default/good": Array("A=b\n# c\nD='e f'\n".utf8), "/etc/default/odd": Array("A=b c\n".utf8)][$0] }
    return machine
  }

  private static func report(_ units: [String: String]) -> TakeoverReport {
    TakeoverReport(source: "timers", findings: TimerTakeover.findings(of: machine(units)), differences: TimerTakeover.differences)
  }

  /// The command of a service with a daily timer.
  private static func service(_ text: String) -> TakeoverReport {
    report(["x.timer": "[Timer]\nOnCalendar=daily\nPersistent=true\n", "x.service": text])
  }

  @Test("a timer of Debian becomes a command, and each line says what becomes of it")
  func certbot() throws {
    let report = Self.report([
      "certbot.timer": """
      [Unit]
      Description=Run certbot twice daily

      [Timer]
      OnCalendar=*-*-* 00,12:00:00
      RandomizedDelaySec=43200
      Persistent=true

      [Install]
      WantedBy=timers.target

      """,
      "certbot.service": """
      [Unit]
      Description=Certbot
      Documentation=file:///usr/share/doc/python-certbot-doc/html/index.html
      [Service]
      Type=oneshot
      ExecStart=/usr/bin/certbot -q renew --no-random-sleep-on-renew
      PrivateTmp=true

      """,
    ])
    let command = try #require(report.commands.first)
    #expect(
      ConfigurationText.table(of: command) == """
        [command."timer.certbot"]
        run = ["/usr/bin/certbot", "-q", "renew", "--no-random-sleep-on-renew"]
        schedule = "cron 0 */12 * * *"
        jitter = "12h"
        user = "root"
        directory = "/"
        budget = "30d"
        grace = "90s"
        retry = { attempts = 1 }
        """)
    #expect(report.findings.count == 17)
    #expect(report.findings.filter { $0.kind == "refused" }.map(\.place) == ["/etc/systemd/system/certbot.service:7"])
  }

  @Test("intervals, times after boot and several calendars are schedules of one command that the host's reader takes")
  func several() throws {
    let report = Self.report([
      "sync.timer": """
      [Timer]
      OnBootSec=15min
      OnUnitActiveSec=5min
      OnCalendar=Mon..Fri 08:00 Europe/Berlin
      OnCalendar=
      OnCalendar=Sat 10:00
      WakeSystem=true
      Unit=work@home-ada.service
      """,
      "work@home-ada.service": "[Service]\nExecStart=/usr/bin/sync-all %i %I %n 100%%\n",
    ])
    let text = try #require(report.configuration)
    #expect(text.contains(#"run = ["/usr/bin/sync-all", "home-ada", "home/ada", "work@home-ada.service", "100%"]"#))
    #expect(text.contains(#"schedule = "cron 0 10 * * 6""#))
    #expect(!text.contains("Berlin"))
    _ = try HostConfiguration.parse(
      text.split(separator: "\n").filter { !$0.hasPrefix("user") }.joined(separator: "\n"), file: "/tmp/t.toml")
    // The words are made first: what an instance stands for is neither split nor unescaped.
    let escaped = Self.report([
      #"w@a\x20b.timer"#: "[Timer]\nOnCalendar=06:00\n",
      #"w@a\x20b.service"#: "[Service]\nExecStart=/usr/bin/printf \"%%s|\" %i %I pre%Ipost\n",
    ])
    #expect(try #require(escaped.configuration).contains(##"run = ["/usr/bin/printf", "%s|", "a\\x20b", "a b", "prea bpost"]"##))
    let all = Self.report([
      "a.timer": "[Timer]\nOnBootSec=15min\nOnUnitActiveSec=5min\nOnCalendar=06:00\n", "a.service": "[Service]\nExecStart=/bin/true\n",
    ])
    let whole = try #require(all.configuration)
    #expect(whole.contains(#"schedule = "on host:booted after 15m""#) && whole.contains(#"minimum_interval = "5m""#))
    #expect(whole.contains("[schedule.\"timer.a/2\"]\nevery = \"5m\"") && whole.contains("[schedule.\"timer.a/3\"]\ncron = \"0 6 * * *\""))
    _ = try HostConfiguration.parse(
      whole.split(separator: "\n").filter { !$0.hasPrefix("user") }.joined(separator: "\n"), file: "/tmp/t.toml")
  }

  @Test("a service's user, folder, variables, tests, umask and limits are carried over, by a shell where that is needed")
  func whole() throws {
    let command = try #require(
      Self.service(
        """
        [Unit]
        ConditionPathExists=/srv/data
        ConditionPathExists=!/run/maintenance
        ConditionACPower=true
        Wants=network-online.target
        [Service]
        Type=oneshot
        User=backup
        WorkingDirectory=/srv
        Environment=A=b "C=d e" 'F=$x'
        EnvironmentFile=-/etc/default/good
        UMask=0077
        Nice=10
        IOSchedulingClass=idle
        TimeoutStartSec=1h 30min
        TimeoutStopSec=10
        LimitNOFILE=4096
        SuccessExitStatus=1 24
        ExecStartPre=-/bin/mkdir -p /srv/out
        ExecStart=/usr/bin/backup --to ${A} $OPTIONS 'a b' it\\x27s
        ExecStartPost=/usr/bin/touch /srv/done
        """
      ).commands.first)
    #expect(
      command.shell == """
        [ -e /srv/data ] || exit 0
        ! [ -e /run/maintenance ] || exit 0
        if [ -r /etc/default/good ]; then set -a; . /etc/default/good; set +a; fi
        umask 0077
        /usr/bin/nice -n 10 /usr/bin/ionice -c 3 /bin/mkdir -p /srv/out || :
        /usr/bin/nice -n 10 /usr/bin/ionice -c 3 /usr/bin/backup --to "${A}" $OPTIONS 'a b' 'it'\\''s' || exit $?
        /usr/bin/nice -n 10 /usr/bin/ionice -c 3 /usr/bin/touch /srv/done || exit $?
        """)
    #expect(command.user == "backup" && command.directory == "/srv" && command.requires == ["network", "power"])
    #expect(command.environment == ["A=b", "C=d e", "F=$x"])
    #expect(command.budget == "1h30m" && command.grace == "10s" && command.descriptors == 4096)
    #expect(command.exitCodes.map(\.code) == ["1", "24"])
  }

  @Test("a user that stands below the lines that depend on it counts for them")
  func order() {
    #expect(Self.service("[Service]\nGroup=backup\nExecStart=/x\nUser=backup\n").isComplete)
    #expect(Self.service("[Service]\nExecStart=+/x\nExecStart=/y\nUser=backup\nType=oneshot\n").commands.isEmpty)
  }

  @Test("a user's number is carried over as the user's name, and a group's if it is the user's own")
  func numbers() throws {
    let report = Self.service("[Service]\nUser=33\nGroup=1033\nExecStart=/x\n")
    #expect(report.isComplete && report.commands.first?.user == "www-data")
    #expect(report.findings.flatMap(\.notes).contains("33 is the number of www-data: the command has the name"))
    #expect(Self.service("[Service]\nUser=0\nExecStart=/x\n").commands.first?.user == "root")
    #expect(!Self.service("[Service]\nUser=33\nGroup=34\nExecStart=/x\n").isComplete)
    let unknown = Self.service("[Service]\nUser=4711\nExecStart=/x\n")
    #expect(unknown.commands.isEmpty)
    #expect(unknown.findings.contains { $0.result == .refused("no user has the number 4711, and a command needs its name") })
    let instance = Self.report(["w@backup.timer": "[Timer]\nOnCalendar=06:00\n", "w@backup.service": "[Service]\nUser=%i\nExecStart=/x\n"])
    #expect(instance.commands.first?.user == "backup")
  }

  @Test("a service of a user that the host cannot become is refused")
  func foreignUser() {
    var machine = Self.machine([
      "a.timer": "[Timer]\nOnCalendar=06:00\n", "a.service": "[Service]\nExecStart=/x\n", "b.timer": "[Timer]\nOnCalendar=06:00\n",
      "b.service": "[Service]\nUser=backup\nExecStart=/x\n",
    ])
    machine.hostUser = "backup"
    let findings = TimerTakeover.findings(of: machine)
    #expect(findings.compactMap(\.command).map(\.identifier) == ["timer.b"])
    #expect(findings.first { $0.file.hasSuffix("a.timer") && $0.kind == "refused" }?.text == "OnCalendar=06:00", "\(findings)")
  }

  private static let obstacles = [
    "Type=notify\nExecStart=/x", "Type=forking\nExecStart=/x", "ExecStart=@/x y", "User=nobody-here\nExecStart=/x",
    "DynamicUser=yes\nExecStart=/x",
    "RootDirectory=/srv\nExecStart=/x", "Type=oneshot", "ExecStart=/x %H", "User=backup\nExecStart=+/x", "ExecStart=/x 'open",
    "EnvironmentFile=/etc/default/odd\nExecStart=/x", "EnvironmentFile=/etc/default/missing\nExecStart=/x",
    "LoadCredential=a:b\nExecStart=/x",
    "Environment=1A=b\nExecStart=/x", "ExecStart=/x ; /y",
  ]

  @Test("a service that a command cannot be is refused, and the timer with it", arguments: obstacles)
  func refused(_ text: String) {
    let report = Self.service("[Service]\n\(text)\n")
    #expect(report.commands.isEmpty && !report.isComplete)
    #expect(report.findings.contains { $0.file.hasSuffix("x.timer") && $0.kind == "refused" })
  }

  @Test("a timer without a service, without a time, masked or not enabled becomes nothing, and says why")
  func without() {
    let report = Self.report([
      "a.timer": "[Timer]\nOnCalendar=daily\n", "b.timer": "[Timer]\nPersistent=yes\n", "b.service": "[Service]\nExecStart=/x\n",
    ])
    #expect(report.commands.isEmpty)
    #expect(report.findings.count { $0.kind == "refused" } == 2)
    var machine = Self.machine(["a.timer": "[Timer]\nOnCalendar=daily\n"], enabled: [])
    #expect(TimerTakeover.findings(of: machine).map(\.kind) == ["nothing"])
    machine.timers = [UnitFiles(name: "m.timer", texts: [], path: "/m.timer", isMasked: true)]
    #expect(TimerTakeover.findings(of: machine).map(\.kind) == ["nothing"])
  }

  @Test("a timer with a time that cron cannot say is left as it is: it would be switched off with all of its times")
  func partly() {
    let report = Self.report([
      "a.timer": "[Timer]\nOnCalendar=*-*~1 05:00\nOnCalendar=06:00\n", "a.service": "[Service]\nExecStart=-/bin/true\n",
    ])
    #expect(!report.isComplete)
    #expect(report.commands.isEmpty)
    #expect(report.findings.count { $0.kind == "refused" } == 2)
    let forgotten = Self.report([
      "a.timer": "[Timer]\nOnCalendar=*-*~1 05:00\nOnCalendar=\nOnCalendar=06:00\n", "a.service": "[Service]\nExecStart=-/bin/true\n",
    ])
    #expect(forgotten.commands.first?.schedule == "cron 0 6 * * *")
    #expect(forgotten.commands.first?.exitCodes.map(\.code) == ["other"])
  }

  @Test("continued lines, comments among them, drop-ins and empty files are read as systemd reads them")
  func text() {
    let unit = UnitText(Array("[Service]\nExecStart=/bin/echo \\\n# between\n  one \\\n  two\nbad line\n;x\n[Open\n".utf8), file: "/u")
    guard case .assignment("Service", "ExecStart", let value) = unit.entries[1].content else {
      Issue.record("\(unit.entries)")
      return
    }
    #expect(value.split(separator: " ") == ["/bin/echo", "one", "two"])
    #expect(unit.entries[1].lines == 2...5)
    #expect(unit.entries.map(\.lines.lowerBound) == [1, 2, 6, 7, 8])
    #expect(UnitText([], file: "/u").entries.isEmpty)
  }
}
