import Testing
import WorkerProcesses

/// The names that one place has where it is mounted more than once.
@Suite("What is mounted where") struct MountTableTests {
  private static let table = MountTable(
    """
    22 27 0:21 / /proc rw,relatime - proc proc rw
    27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
    40 27 254:0 /srv/state /mnt/second rw - ext4 /dev/vda rw
    41 27 8:1 / /data rw - xfs /dev/sdb rw
    42 41 254:0 / /data/whole rw - ext4 /dev/vda rw
    43 27 0:50 / /srv/state/tmp rw - tmpfs tmpfs rw
    44 27 8:1 /with\\040space /mnt/a\\040b rw - xfs /dev/sdb rw
    45 41 0:60 / /data rw - tmpfs tmpfs rw
    nonsense
    """)

  private func same(_ one: String, _ other: String) -> Bool { Self.table.spot(of: one) == Self.table.spot(of: other) }

  @Test("a folder that is mounted in two places is the same at both") func secondPlace() {
    #expect(same("/mnt/second", "/srv/state"))
    #expect(same("/mnt/second/data/x", "/srv/state/data/x"))
    #expect(!same("/mnt/second", "/srv"))
    #expect(!same("/mnt", "/"))
    // What is mounted over a part of it is something else.
    #expect(!same("/mnt/second/tmp", "/srv/state/tmp"))
  }

  @Test("what is mounted over something hides it, and what is below") func hidden() {
    // The whole of the machine was at /data/whole, until something was mounted over /data.
    #expect(!same("/data/whole/srv/state", "/srv/state"))
    #expect(!same("/data", "/mnt/a b"))
  }

  @Test("below, by whatever name") func order() throws {
    let state = try #require(Self.table.spot(of: "/srv/state"))
    for path in ["/srv/state/x", "/mnt/second/x", "/mnt/second/x/y"] {
      #expect(try #require(Self.table.spot(of: path)).isBelow(state), "\(path)")
    }
    for path in ["/srv/state", "/mnt/second", "/srv/statement", "/srv/state/tmp", "/mnt", "/data/srv/state/x"] {
      #expect(try !#require(Self.table.spot(of: path)).isBelow(state), "\(path)")
    }
    #expect(Self.table.spots(under: "/mnt").contains(state))
    #expect(!Self.table.spots(under: "/home").contains(state))
  }

  @Test("without a table nothing is known") func unknown() {
    #expect(MountTable("").spot(of: "/srv") == nil)
    #expect(MountTable("").spots(under: "/").isEmpty)
  }

  @Test("this process has a table") func present() {
    #expect(MountTable.current().spot(of: "/") != nil)
  }
}
