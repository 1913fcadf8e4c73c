import Testing

@testable import TaskHost

@Suite("A fleet in the configuration") struct FleetConfigurationTests {
  private func found(_ address: String) -> [String] { problems("[fleet]\nurl = \"\(address)\"") }

  @Test(
    "an address with a password is refused, however it is written",
    arguments: [
      "postgres://u:p@h/d", "postgres://h/d?password=p", "postgres://h/d?pass%77ord=p", "host=h password = p", "host=h sslpassword=p",
      "postgresql://u:%70@h",
    ])
  func password(address: String) {
    let found = found(address)
    #expect(found.count == 1 && found[0].contains("the address has a password"), "\(found)")
  }

  @Test(
    "an address that no connection could read is refused by the check of the file",
    arguments: [
      "host=h port=5432x", "postgres://h:66000/d", "postgres://h:port:1/d", "host=h sslmod=require", "host", "host='h", "http://h/d",
      "postgres://h/%zz", "postgres://h/d?sslmode=bogus", "host=h target_session_attrs=foo", "host=a,b port=1,2,3",
      "host=h channel_binding=x",
    ])
  func unreadable(address: String) {
    let found = found(address)
    #expect(found.count == 1 && found[0].contains("postgres://USER@HOST/DATABASE"), "\(found)")
  }

  @Test(
    "addresses that libpq takes are taken",
    arguments: [
      "postgres://u@h,i:6432/d?target_session_attrs=read-write&passfile=/etc/p", "host=/run/postgresql dbname=d user=u", "postgresql:///d",
      "postgres://u@h/passwords", "host=a,b,c port=5432 sslmode=verify-full sslrootcert=/nowhere/ca connect_timeout=3",
      "hostaddr=192.0.2.1,192.0.2.2 port=1,2 dbname=d", "service=nightly",
    ])
  func sound(address: String) {
    #expect(found(address) == [])
  }

  @Test("transfers are each host's own")
  func transfers() {
    let found = problems("[fleet]\nurl = \"host=h\"\n[plugin.\"org.taskhost.transfers\"]\nscope = \"fleet\"")
    #expect(found.count == 1 && found[0].contains("the files of transfers are each host's own"), "\(found)")
  }

  @Test("a scope that only a restart changes is named with its plugin")
  func scope() throws {
    func configuration(_ scope: String) throws -> HostConfiguration {
      try HostConfiguration.parse("[fleet]\nurl = \"host=h\"\n[plugin.\"a.b\"]\nscope = \"\(scope)\"\n", file: "t.toml")
    }
    let (before, after) = (try configuration("host"), try configuration("fleet"))
    let names = before.keysThatNeedRestart(for: after, among: before.written.changes(to: after.written))
    #expect(names == ["plugin.\"a.b\".scope"])
  }
}
