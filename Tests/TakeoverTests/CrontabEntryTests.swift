import Testing

@testable import Takeover

/// What Debian's `crontab` (3.0pl1-162) accepts and refuses; each text was given to it.
@Suite("Lines of a crontab") struct CrontabEntryTests {
  private static func entry(_ text: String, hasUser: Bool = false, isCronie: Bool = false) -> CrontabEntry {
    CrontabEntry(Array(text.utf8)[...], hasUser: hasUser, isCronie: isCronie)
  }

  private static let accepted = [
    ("22-2 * * * * x", ""), ("0 22-2 * * * x", ""), ("0 0 * * sat-sun x", ""), ("0 0 * * 5-7 x", "0 0 * * 5-7"),
    ("0 0 * * mon-fri x", "0 0 * * mon-fri"), ("0 0 * * mon,wed x", "0 0 * * mon,wed"), ("0 0 31 2 * x", "0 0 31 2 *"),
    ("*/70 * * * * x", "0 * * * *"), ("0 */25 * * * x", "0 0 * * *"), ("0 0 */40 * * x", "0 0 */31 * *"),
    ("0-59/70 * * * * x", "0 * * * *"), ("*,5 * * * * x", "*,5 * * * *"),
    ("*5 * * * * x", "* * * * *"), ("0 0 1-5,10-20/3 jan-mar * x", "0 0 1-5,10-20/3 jan-mar *"), ("0 0 * * Mon x", "0 0 * * Mon"),
    ("0 0 * * 5#3 x", "0 0 * * 5"), ("0 0 1~5 * * x", "0 0 1 * *"), ("007 0 * * * x", "7 0 * * *"), ("0 0 * * 0-6/2 x", "0 0 * * 0-6/2"),
    ("*/5*  * * * * x", "*/5 * * * *"), ("0\t5\t*\t*\t*\tx", "0 5 * * *"), ("  0 5 * * * x", "0 5 * * *"), ("1-1 * * * * x", "1-1 * * * *"),
    ("1-2-3 * * * * x", "1-2 * * * *"), ("0 0 1-31/40 * * x", "0 0 1 * *"), ("00000000000000000000000005 * * * * x", "5 * * * *"),
    ("0,30  * * *  * x", "0,30 * * * *"), ("@daily x", "@daily"), ("@weekly    x", "@weekly"),
  ]

  @Test("that cron takes, with the times that it reads", arguments: accepted)
  func taken(_ text: String, _ expression: String) throws {
    guard case .job(let job) = Self.entry(text) else {
      Issue.record("\(text) is refused")
      return
    }
    #expect(job.expression ?? "" == expression)
    #expect(job.command == Array("x".utf8))
  }

  private static let refused = [
    ("5/15 * * * * x", "bad minute"), ("0 0 0 * * x", "bad day-of-month"), ("0 0 * 0 * x", "bad month"), ("*/0 * * * * x", "bad minute"),
    ("5-64/30 * * * * x", "bad minute"), ("60 * * * * x", "bad minute"), ("MAILTO=", "bad minute"), ("A B=c", "bad minute"),
    ("A=\"b\" c", "bad minute"), ("\r", "bad minute"), ("-0 0 * * * x", "bad minute"), ("-*/5 * * * * x", "bad minute"),
    ("@Daily x", "bad time specifier"), ("@every_minute x", "bad time specifier"), ("5, * * * * x", "bad minute"),
    (",5 * * * * x", "bad minute"), ("5x * * * * x", "bad minute"), ("0 0 * January * x", "bad month"),
    ("0 0 * * monday x", "bad day-of-week"),
    ("0 0 * 13 * x", "bad month"), ("0 0 * * 8 x", "bad day-of-week"), ("0 0 1 L * x", "bad month"), ("0 0 L * * x", "bad day-of-month"),
    ("0 0 ? * * x", "bad day-of-month"), ("H 0 * * * x", "bad minute"), ("0 0 * * 7/2 x", "bad day-of-week"),
    ("99999999999999999999 * * * * x", "bad minute"), ("0 , 30 * * * x", "bad hour"),
  ]

  @Test("that cron refuses, with its message", arguments: refused)
  func refusedLine(_ text: String, _ message: String) { #expect(Self.entry(text) == .bad(message)) }

  @Test("a command of 998 bytes is taken, and one of 999 is too long")
  func long() {
    #expect(Self.entry("0 0 * * * " + String(repeating: "x", count: 999)) == .bad("command too long"))
    guard case .job = Self.entry("0 0 * * * " + String(repeating: "x", count: 998)) else {
      Issue.record("998 bytes are refused")
      return
    }
  }

  private static let variables = [
    ("MAILTO=\"\"", "MAILTO", ""), ("'A B'=c", "A B", "c"), ("A = b c  ", "A", "b c"), ("PATH=$HOME/bin:$PATH", "PATH", "$HOME/bin:$PATH"),
    ("  X='  q  '  ", "X", "  q  "), ("X=a'b", "X", "a'b"), ("X=\"it's\"", "X", "it's"), ("A==b", "A", "=b"),
  ]

  @Test("that set a variable, with its quotes read and nothing expanded", arguments: variables)
  func variable(_ text: String, _ name: String, _ value: String) { #expect(Self.entry(text) == .variable(name: name, value: value)) }

  @Test("with a user have it between the times and the command, and need both")
  func users() {
    guard case .job(let job) = Self.entry("0 5 * * * www-data\tphp x.php", hasUser: true) else {
      Issue.record("it is refused")
      return
    }
    #expect(job.user == "www-data" && job.command == Array("php x.php".utf8))
    #expect(Self.entry("0 5 * * * x", hasUser: true) == .bad("bad command"))
    #expect(Self.entry("0 5 * * *", hasUser: true) == .bad("bad command"))
    #expect(Self.entry("0 5 * * * * x", hasUser: true) == .bad("bad command"))
  }

  @Test("of cronie may begin with - and set a variable to nothing")
  func cronie() {
    guard case .job(let job) = Self.entry("-*/5 * * * * x", isCronie: true) else {
      Issue.record("it is refused")
      return
    }
    #expect(job.isSilent && job.expression == "*/5 * * * *")
    guard case .unreadable = Self.entry("0 0~5 * * * x", isCronie: true) else {
      Issue.record("a random time is taken")
      return
    }
    #expect(Self.entry("MAILTO=", isCronie: true) == .variable(name: "MAILTO", value: ""))
  }

  @Test("that are not UTF-8, or have a zero byte, are said to be so and do not stop the rest")
  func bytes() {
    let head = Array("0 0 * * * echo ".utf8)
    for tail in [[0xfc], [0x00, 0x41], [0xed, 0xa0, 0x80]] as [[UInt8]] {
      guard case .unreadable = CrontabEntry((head + tail)[...], hasUser: false) else {
        Issue.record("\(tail) is taken")
        continue
      }
    }
    #expect(CrontabEntry([0x23, 0xff][...], hasUser: false) == .comment)
  }

  /// Each pair was tried with Debian's cron: what the shell ran, and what it read.
  private static let commands: [(String, String, String?)] = [
    ("cat%a\\\\%b", "cat", "a\\%b\n"),
    ("printf '\\%s' 'a\\\\b\\%c\\d'", "printf '%s' 'a\\b%c\\d'", nil), ("cat%one%two\\%three\\\\four%", "cat", "one\ntwo%three\\\\four\n"),
    ("cat%one%two", "cat", "one\ntwo\n"), ("cat%", "cat", ""), ("cat", "cat", nil), ("a\\", "a\\", nil), ("%x", "", "x\n"),
  ]

  @Test("% ends the command and begins its input, unless a backslash precedes it", arguments: commands)
  func percent(_ text: String, _ command: String, _ input: String?) {
    let read = CronCommandText(Array(text.utf8))
    #expect(read.command == command && read.input == input)
  }
}

@Suite("Names of commands") struct ProgramNameTests {
  private static let names = [
    ("test -x /usr/bin/certbot -a \\! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew", "certbot"),
    ("/usr/bin/flock -n /run/lock/full.lock /usr/local/bin/backup --full", "backup"), ("cd /opt/app && git pull -q && make -s", "git"),
    ("nice -n 19 ionice -c3 /usr/bin/updatedb", "updatedb"), ("env LANG=C /usr/bin/python3 /opt/reports/daily.py", "daily"),
    ("[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi", "sessionclean"),
    ("sudo -u www-data php /var/www/html/artisan schedule:run", "artisan"), ("FOO=1 BAR='a b' /usr/local/bin/with-env", "with-env"),
    ("for f in /srv/in/*; do /usr/local/bin/import \"$f\"; done", "import"), ("sleep 30; /usr/local/bin/half-minute", "half-minute"),
    ("{ /usr/local/bin/braced; } >> /var/log/braced.log 2>&1", "braced"), ("umask 0077; tar cfz /x.tgz /etc", "tar"), ("", "job"),
    ("/usr/local/sbin/backup.sh /srv", "backup"), ("timeout 3600 /usr/local/bin/long-job", "long-job"),
    ("su - postgres -c \"vacuumdb --all\"", "vacuumdb"), ("bash -lc \"rbenv exec rake\"", "rbenv"),
  ]

  @Test("are the program that does the work, without what surrounds it", arguments: names)
  func program(_ command: String, _ name: String) { #expect(ProgramName.of(command) == name) }

  @Test("as identifiers are valid and given once")
  func unique() {
    var book = IdentifierBook()
    #expect(book.next("cron", "backup") == "cron.backup")
    #expect(book.next("cron", "backup") == "cron.backup-2")
    #expect(book.next("cron", "Zoë's /x") == "cron.Zo-s-x")
    #expect(book.next("cron", "***") == "cron")
    #expect(book.next("cron", String(repeating: "x", count: 500)).utf8.count <= 128)
  }
}
