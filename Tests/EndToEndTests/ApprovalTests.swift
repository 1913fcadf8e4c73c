import Foundation
import Glibc
import TestSupport
import Testing

/// `approve_entitlements` and `taskhost plugins approve` on the real host.
@Suite("Approvals", .timeLimit(.minutes(20)))
struct ApprovalTests {
  private static let key = "approve_entitlements = true\n"

  private static func text(_ host: HostProcess, _ entitlements: String = "") -> String {
    key + "[plugin.\"test.script\".entitlements]\nwrite = [\"\(host.directory("shared"))\"]\n\(entitlements)\n"
  }

  /// Gives `body` a host that runs with the key and `script.so`, which is approved.
  private static func approved(_ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure(text(host))
      try await host.start()
      let approved = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(approved.status == 0, "\(approved)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try await body(host)
    }
  }

  // MARK: At the launch

  @Test("nothing is loaded before it is approved once; its requests wait and say why; one command approves all")
  func first() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try await host.addTwin()
      // One that is permitted by its full name does not fail the launch.
      try host.configure(Self.text(host).replacing(Self.key, with: Self.key + "permitted_identifiers = [\"test.*\", \"test.script\"]\n"))
      try await host.start()
      let plugin = try await host.plugin("script.so")
      #expect(plugin["standing"]?.string == "unapproved" && plugin["approval"]?["running"]?.bool == false, "\(plugin)")
      #expect(plugin["worker"] == nil)
      let list = try await host.cli("plugins")
      #expect(list.output.contains("test.script") && list.output.contains("taskhost plugins approve test.script"), "\(list.output)")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("waits for approval"), "\(status)")
      #expect(!status.output.contains("no plugin registers"), "its table has an effect, once it is approved")
      let waiting = try await host.submit("result 0")
      let why = try await host.cli("tasks", "why", waiting)
      #expect(why.output.contains("waits for approval") && why.output.contains("taskhost plugins approve test.script"), "\(why.output)")
      let unasked = try await host.cli("plugins", "approve", "test.script")
      #expect(unasked.status == 2 && unasked.errors.contains("new: it may read and write"), "\(unasked)")
      #expect(try await host.request(waiting) { _ in true }["state"]?.string == "pending")
      let all = try await host.cli("plugins", "approve", "--all", "--yes")
      #expect(all.status == 0 && all.output.contains("test.twin approved") && all.output.contains("in force"), "\(all)")
      try await host.request(waiting, is: "succeeded")
      #expect(try await host.cli("submit", "test.twin", "--wait").status == 0)
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(!problems.contains { $0["kind"]?.string == "approval_needed" }, "\(problems)")
      let audit = try await host.cli("audit")
      #expect(audit.output.contains("approvePlugin") && audit.output.contains("test.script"), "\(audit.output)")
      // A restart asks for nothing again.
      try await host.terminate()
      try await host.start()
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.cli("plugins", "approve", "--all", "--yes").errors.contains("no plugin waits for approval"))
    }
  }

  @Test("more in the configuration at a launch: it is not loaded, and loaded again with less or when it is approved")
  func launch() async throws {
    try await Self.approved { host in
      try await host.terminate()
      try host.configure(Self.text(host, "exec = true"))
      try await host.start()
      let plugin = try await host.plugin("script.so")
      #expect(plugin["standing"]?.string == "unapproved", "\(plugin)")
      #expect(plugin["approval"]?["gained"]?.array.compactMap(\.string) == ["it may start programs"])
      try host.configure(Self.text(host))
      #expect(try await host.cli("reload").status == 0)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  // MARK: Taking back

  @Test("a revoked plugin is not loaded any more, by a reload and after a restart, until it is approved again; its requests wait")
  func revoked() async throws {
    try await Self.approved { host in
      let unasked = try await host.cli("plugins", "revoke", "test.script")
      #expect(unasked.status == 2 && unasked.errors.contains("add --yes"), "\(unasked)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let revoked = try await host.cli("plugins", "revoke", "script.so", "--yes", "--json")
      #expect(revoked.status == 0, "\(revoked)")
      let report = try revoked.json()
      #expect(report["identifier"]?.string == "test.script" && report["in_force"]?.bool == true, "\(revoked)")
      #expect(report["lost"]?.array.contains { $0.string?.hasPrefix("it may read and write ") == true } == true, "\(revoked)")
      for when in ["at once", "after a reload", "after a restart"] {
        if when == "after a reload" { #expect(try await host.cli("reload").status == 0) }
        if when == "after a restart" {
          try await host.terminate()
          try await host.start()
        }
        let plugin = try await host.plugin("script.so")
        #expect(plugin["standing"]?.string == "unapproved" && plugin["approval"]?["running"]?.bool == false, "\(when): \(plugin)")
        #expect(plugin["worker"] == nil, "\(when): \(plugin)")
      }
      let waiting = try await host.submit("result 0")
      #expect(try await host.cli("tasks", "why", waiting).output.contains("waits for approval"))
      let again = try await host.cli("plugins", "revoke", "test.script", "--yes")
      #expect(again.status == 6 && again.errors.contains("is revoked already"), "\(again)")
      let unknown = try await host.cli("plugins", "revoke", "test.nobody", "--yes")
      #expect(unknown.status == 6 && unknown.errors.contains("nothing was approved for it"), "\(unknown)")
      #expect(try await host.cli("plugins", "approve", "test.script", "--yes").status == 0)
      try await host.request(waiting, is: "succeeded")
      let audit = try await host.cli("audit")
      #expect(audit.output.contains("revokePlugin") && audit.output.contains("test.script"), "\(audit.output)")
    }
  }

  @Test("without approve_entitlements there is nothing to revoke")
  func nothingToRevoke() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let revoked = try await host.cli("plugins", "revoke", "test.script", "--yes")
      #expect(revoked.status == 6 && revoked.errors.contains("approve_entitlements is not set"), "\(revoked)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  // MARK: At a reload

  @Test("more in the configuration: the plugin goes on with what it had, its rules too, until it is approved")
  func configuration() async throws {
    try await Self.approved { host in
      let worker = try await host.plugin("script.so")["worker"]?["process_id"]?.integer
      let more = "exec = true\n[plugin.\"test.script\"]\nbudget = \"7m\"\nmay_wake = true\n"
      try host.configure(Self.text(host, more))
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0, "\(reloaded)")
      #expect(reloaded.output.contains("goes on with what it had, until you approve"), "\(reloaded.output)")
      #expect(reloaded.output.contains("new: it may start programs"), "\(reloaded.output)")
      #expect(!reloaded.output.contains("entitlements.exec"), "\(reloaded.output)")
      let plugin = try await host.plugin("script.so")
      #expect(plugin["standing"]?.string == "registered" && plugin["approval"]?["running"]?.bool == true, "\(plugin)")
      #expect(plugin["permissions"]?.array.compactMap(\.string).contains("it may not start programs") == true, "\(plugin)")
      #expect(plugin["budget_ms"]?.integer != 420_000)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.plugin("script.so")["worker"]?["process_id"]?.integer == worker)
      // Reloading again changes nothing of that.
      #expect(try await host.json("reload")["held"]?.array.count == 1)
      let approved = try await host.cli("plugins", "approve", "test.script", "--yes", "--json")
      #expect(approved.status == 0 && approved.output.contains("\"in_force\":true"), "\(approved)")
      let now = try await host.plugin("script.so")
      #expect(now["permissions"]?.array.compactMap(\.string).contains("it may start programs") == true && now["approval"] == nil, "\(now)")
      #expect(now["budget_ms"]?.integer == 420_000)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.plugin("script.so")["worker"]?["process_id"]?.integer != worker)
    }
  }

  @Test("an update of the file with as much or less is not held; a new plugin is, while the others go on")
  func files() async throws {
    try await Self.approved { host in
      try await host.add("script.so", "script", ["-DALWAYS_ECHO"])
      let replaced = try await host.cli("reload")
      #expect(replaced.status == 0 && replaced.output.contains("test.script: replaced"), "\(replaced)")
      try await host.addTwin()
      let added = try await host.cli("reload")
      #expect(added.status == 0 && added.output.contains("test.twin") && added.output.contains("is not loaded"), "\(added)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let parked = try await host.submit("", identifier: "test.twin")
      #expect(try await host.cli("plugins", "approve", "test.twin", "--yes").status == 0)
      try await host.request(parked, is: "succeeded")
    }
  }

  @Test("an update that asks for more beside another content: the former code runs, and the new one after the approval")
  func update() async throws {
    try await Self.approved { host in
      try host.configure(Self.text(host, "exec = true"))
      try await host.add("script.so", "script", ["-DALWAYS_ECHO"])
      #expect(try await host.cli("reload").status == 0)
      let digest = try await host.plugin("script.so")["digest"]?.string
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let approved = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(approved.status == 0 && approved.output.contains("new: it may start programs"), "\(approved)")
      #expect(try await host.plugin("script.so")["digest"]?.string != digest)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("an update that serves one more identifier waits, and the former code goes on with its whole table; what its author says is shown")
  func identifiers() async throws {
    try await Self.approved { host in
      try await host.add("script.so", "script", ["-DSECOND=\"test.second\"", "-DASKS=\"network = [443]\""])
      // What the new table takes away is not taken from a plugin that waits.
      try host.configure(Self.text(host).replacing("write = ", with: "read = "))
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0 && reloaded.output.contains("new: it also serves test.second"), "\(reloaded)")
      #expect(reloaded.output.contains("its author says that it needs: network = [443]"), "\(reloaded)")
      let notes = try host.directory.shared("notes")
      #expect(try await host.run("note \(notes)")["outcome"]?.string == "succeeded")
      #expect(try await host.json("reload")["held"]?.array.count == 1, "it waits still")
      #expect(try await host.cli("plugins", "approve", "test.script", "--yes").status == 0)
      let plugins = try await host.json("plugins")["plugins"]?.array.compactMap { $0["identifier"]?.string } ?? []
      #expect(plugins.sorted() == ["test.script", "test.second"])
      let permissions = try await host.plugin("script.so")["permissions"]?.array.compactMap(\.string) ?? []
      #expect(permissions.contains { $0.hasPrefix("it may read /") } && !permissions.contains { $0.contains("read and write") })
      // One less is no more than was approved.
      try await host.add("script.so", "script")
      #expect(try await host.json("reload")["held"]?.array.isEmpty == true)
    }
  }

  @Test("no code of a plugin that waits runs, in threads of the host neither, if its file says who it is")
  func unrun() async throws {
    try await HostProcess.prepare(isolation: .thread) { host in
      try await host.add("script.so", "script", ["-DLAUNCH_PRINT", "-DASKS=\"exec = true\""])
      try host.configure(Self.key)
      try await host.start()
      #expect(!host.current.lines.contains { $0.contains("printed at launch") })
      let plugin = try await host.plugin("script.so")
      #expect(plugin["approval"]?["gained"]?.array.compactMap(\.string).first?.contains("inside the host") == true, "\(plugin)")
      #expect(plugin["approval"]?["asks"]?.array.compactMap(\.string) == ["exec = true"])
      #expect(try await host.cli("plugins", "approve", "test.script", "--yes").status == 0)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("turned on by a reload, everything goes on and asks for approval; turned off, nothing waits any more")
  func turnedOn() async throws {
    try await HostProcess.run { host in
      try host.configure(Self.text(host))
      let reloaded = try await host.cli("reload")
      #expect(reloaded.status == 0 && reloaded.output.contains("to approve: taskhost plugins approve test.script"), "\(reloaded)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.cli("status").status == 1)
      try host.configure("")
      #expect(try await host.cli("reload").status == 0)
      #expect(try await host.cli("status").status == 0)
      try host.configure(Self.text(host))
      #expect(try await host.cli("reload").status == 0)
      let worker = try await host.plugin("script.so")["worker"]?["process_id"]?.integer
      #expect(try await host.cli("plugins", "approve", "--all", "--yes").status == 0)
      #expect(try await host.cli("status").status == 0)
      #expect(try await host.plugin("script.so")["worker"]?["process_id"]?.integer == worker)
    }
  }

  // MARK: What goes wrong

  @Test("an approval of nothing, of somebody unknown, or of what was not shown is refused, and two at once both count")
  func refused() async throws {
    try await Self.approved { host in
      let unheld = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(unheld.status == 0 && unheld.errors.contains("does not wait for approval"), "\(unheld)")
      #expect(try await host.cli("plugins", "approve", "test.nobody", "--yes").status == 6)
      #expect(try await host.cli("plugins", "approve").status == 2)
      #expect(try await host.cli("plugins", "approve", "test.script", "--all").status == 2)
      func post(_ path: String, _ body: String) async throws -> Int {
        try await onThread { [socket = host.socket] in
          try SocketClient(socket).request("POST", "/v1/plugins/\(path)/approve", body: body).status
        }
      }
      #expect(try await post("test.script", "{\"fingerprint\": \"00\"}") == 409)
      #expect(try await post("test.nobody", "{\"fingerprint\": \"00\"}") == 404)
      #expect(try await post("test.script", "{}") == 400)
      #expect(try await post("test.script", "{\"fingerprint\": \"00\", \"force\": true}") == 400)
      try await host.addTwin()
      try host.configure(Self.text(host, "exec = true"))
      #expect(try await host.cli("reload").status == 0)
      #expect(try await post("test.script", "{\"fingerprint\": \"00\"}") == 409)
      let both = [
        try host.startCLI("plugins", "approve", "test.script", "--yes"), try host.startCLI("plugins", "approve", "test.twin", "--yes"),
      ]
      for one in both {
        let result = try await one.result()
        #expect(result.status == 0, "\(result)")
      }
      #expect(try await host.plugin("script.so")["approval"] == nil)
      #expect(try await host.cli("submit", "test.twin", "--wait").status == 0)
    }
  }

  @Test("approved while something else is wrong: the approval stays, and counts once that is corrected")
  func notInForce() async throws {
    try await Self.approved { host in
      try host.configure(Self.text(host, "exec = true"))
      #expect(try await host.cli("reload").status == 0)
      try host.configure(Self.text(host, "exec = true").replacing(Self.key, with: Self.key + "max_pending = 0\n"))
      let approved = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(approved.status == 78 && approved.errors.contains("approved, but not in force"), "\(approved)")
      #expect(approved.errors.contains("max_pending"), "\(approved)")
      try host.configure(Self.text(host, "exec = true"))
      #expect(try await host.json("reload")["held"]?.array.isEmpty == true)
      // More than was shown is asked for meanwhile.
      try host.configure(Self.text(host, "exec = true\nnetwork = \"connect\""))
      #expect(try await host.cli("reload").status == 0)
      try host.configure(Self.text(host, "exec = true\nnetwork = \"connect\"\nread = [\"/srv\"]"))
      let less = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(less.status == 78 && less.errors.contains("it asks for more by now: it may read /srv"), "\(less)")
    }
  }

  @Test("without a readable file of approvals nothing is loaded, the status says it, and the file is left as it is")
  func damaged() async throws {
    try await Self.approved { host in
      try host.directory.file("state/approvals.json", "{\"format\": 2, \"approvals\": []}")
      let reload = try await host.cli("reload")
      #expect(reload.status == 78 && reload.errors.contains("format 2"), "\(reload)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try await host.terminate()
      try await host.start()
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("nobody knows what was approved"), "\(status)")
      #expect(try await host.plugin("script.so")["standing"]?.string == "unapproved")
      let approve = try await host.cli("plugins", "approve", "test.script", "--yes")
      #expect(approve.status != 0 && approve.errors.contains("move it away"), "\(approve)")
      #expect(host.directory.text("state/approvals.json") == "{\"format\": 2, \"approvals\": []}")
      try FileManager.default.removeItem(atPath: host.directory("state/approvals.json"))
      #expect(try await host.cli("plugins", "approve", "--all", "--yes").status == 0)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }
}
