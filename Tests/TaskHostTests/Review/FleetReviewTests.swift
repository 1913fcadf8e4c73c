import FleetStore
import TaskModel
import Testing

@testable import TaskHost

/// What `taskhost fleet doctor` makes of a server that no test has.
@Suite("FleetReview") struct FleetReviewTests {
  private func health(_ change: (inout FleetHealth) -> Void) -> [Finding] {
    var health = FleetHealth()
    (health.server, health.user) = (150_018, "host")
    change(&health)
    return FleetReview(health).findings()
  }

  @Test("clocks that differ by more than the answer took are told of, and which one is ahead")
  func clock() {
    func seen(_ ahead: Duration, trip: Duration = .zero) -> Finding? {
      health { ($0.ahead, $0.trip) = (ahead, trip) }.first { $0.topic == .clock }
    }
    #expect(seen(.milliseconds(900))?.verdict == .ok)
    #expect(seen(.milliseconds(-1800), trip: .seconds(1))?.verdict == .ok)
    #expect(seen(.seconds(3))?.seen == "this machine's clock is 3s behind the database's")
    #expect(seen(.seconds(3))?.why?.hasPrefix("what names a time of this clock begins too early") == true)
    #expect(seen(.seconds(-90))?.seen == "this machine's clock is 1m30s ahead of the database's")
    #expect(seen(.seconds(-90))?.verdict == .warning)
  }

  @Test("commits that wait for a standby are a failure, which says whose standby that is, and that hosts need no start")
  func waitingCommits() {
    let found = health {
      ($0.waitingCommits, $0.settings["synchronous_standby_names"]) = (3, "spare")
      $0.members = []
    }
    let waiting = found.first { $0.topic == .replication }
    #expect(waiting?.verdict == .failure && waiting?.seen == "3 commits wait for a synchronous standby that does not answer")
    #expect(waiting?.remedy?.contains("synchronous_standby_names = 'spare'") == true)
    #expect(found.first { $0.topic == .members }?.remedy == "see replication: hosts cannot write")
  }

  @Test("a standby, an old server, a newer schema and a read-only role are told of")
  func server() {
    #expect(health { $0.isStandby = true }.contains { $0.verdict == .failure && $0.seen.contains("is a standby") })
    #expect(health { $0.server = 130_005 }.contains { $0.verdict == .failure && $0.seen == "PostgreSQL 13.5 is too old" })
    #expect(health { $0.schema = 99 }.contains { $0.verdict == .warning && $0.seen.contains("version 99") })
    #expect(
      health { $0.settings["default_transaction_read_only"] = "on" }.contains {
        $0.verdict == .failure && $0.remedy == "ALTER ROLE \"host\" SET default_transaction_read_only = off"
      })
    #expect(health { $0.isPooled = true }.contains { $0.verdict == .ok && $0.seen.contains("PgBouncer") })
    for value in ["0", "10000", "60000"] {
      #expect(!health { $0.settings["statement_timeout"] = value }.contains { $0.seen.contains("statement_timeout") })
    }
  }

  @Test("each finding that is not well says what to do")
  func remedies() {
    let findings = health { health in
      health.isStandby = true
      health.seesOthers = false
      health.connections = 99
      health.missingDays = ["ended_1"]
      health.homeless = ["a"]
      for name in ["fsync", "autovacuum", "synchronous_commit"] { health.settings[name] = "off" }
    }
    for finding in findings where finding.verdict != .ok { #expect(finding.remedy?.isEmpty == false, "\(finding)") }
    #expect(findings.count { $0.verdict == .failure } > 4)
  }
}
