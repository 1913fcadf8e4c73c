import Foundation
import TestSupport
import Testing

/// The pages of a real host over its real socket, without a browser.
@Suite("Dashboard", .timeLimit(.minutes(20)))
struct DashboardTests {
  private func get(_ host: HostProcess, _ path: String) async throws -> PageAnswer { try await host.page("GET", path) }

  @Test("a failing schedule is on the overview, with its reason and its runs; a form mends it")
  func failing() async throws {
    try await HostProcess.prepare { host in
      let mark = host.directory("allowed")
      try host.configure(
        """
        [command."backup.nightly"]
        run = ["sh", "-c", "test -e \(mark) || { echo no such device >&2; exit 1; }; echo saved"]
        schedule = "cron 30 2 * * * Europe/Berlin"
        """)
      try await host.start()
      for _ in 0..<3 {
        let id = try await host.json("simulate", "launch", "backup.nightly", "--json")["id"]?.string ?? ""
        _ = try await host.request(id) { $0["last_outcome"]?.string == "failed" && $0["state"]?.string == "pending" }
      }
      let overview = try await get(host, "/")
      #expect(overview.status == 200 && overview.text.contains(">failing</span> <a href=\"/ui/tasks/backup.nightly\">"))
      #expect(overview.text.contains("no such device"))
      let schedule = try await get(host, "/ui/tasks/backup.nightly")
      #expect(schedule.text.contains("3 failures in a row") && schedule.text.ranges(of: "<ol>").count == 1)
      #expect(FileManager.default.createFile(atPath: mark, contents: nil))
      let page = try await host.sendForm("/ui/tasks/backup.nightly/run")
      let id = try #require(page.firstMatch(of: /requests\/([^?]+)/).map { String($0.1) })
      _ = try await host.request(id) { $0["last_outcome"]?.string == "succeeded" }
      #expect(try await get(host, page).text.contains("saved"))
      #expect(try await get(host, "/").text.contains("No problems"))
    }
  }

  @Test("what a plugin says is text on every page")
  func hostile() async throws {
    try await HostProcess.run { host in
      let hostile = "<script>alert(1)</script>'&"
      let script = "log error \(hostile);message \(hostile);output \(hostile);result 4"
      let id = try await host.submit(script, ["--key", hostile, "--tag", hostile])
      _ = try await host.request(id, is: "failed")
      let run = try #require(try await host.runs(of: id).first?["id"]?.string)
      for path in ["/", "/ui/requests", "/ui/requests/\(id)", "/ui/runs", "/ui/runs/\(run)", "/ui/tasks"] {
        let text = try await get(host, path).text
        #expect(!text.contains("<script>alert") && text.ranges(of: "<script").count == 1, "\(path)")
        #expect(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "\(path)")
      }
    }
  }

  @Test("forms act on the real host, and those of other sites do not")
  func forms() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--after", "1h"])
      for headers in [[], ["sec-fetch-site: cross-site"], ["origin: http://evil.example"]] {
        #expect(try await host.page("POST", "/ui/requests/\(id)/cancel", headers).status == 403)
      }
      _ = try await host.request(id, is: "pending")
      #expect(try await host.sendForm("/ui/requests/\(id)/snooze", "delay=3h") == "/ui/requests/\(id)?done=snoozed")
      #expect(try await host.sendForm("/ui/requests/\(id)/pause") == "/ui/requests/\(id)?done=paused")
      #expect(try await get(host, "/ui/requests/\(id)").text.contains(">paused</span>"))
      #expect(try await host.sendForm("/ui/requests/\(id)/cancel") == "/ui/requests/\(id)?done=cancelled")
      _ = try await host.request(id, is: "cancelled")
      let submitted = try await host.sendForm("/ui/submit", "identifier=test.script&payload=%22log+info+from+a+form%22&tag=form")
      let made = try #require(submitted.firstMatch(of: /requests\/([^?]+)/).map { String($0.1) })
      _ = try await host.request(made, is: "succeeded")
      #expect(try await get(host, "/ui/requests/\(made)").text.contains("from a form"))
      let gone = try await get(host, "/ui/requests/01976c1e-0000-7000-8000-000000000000")
      #expect(gone.status == 404 && gone.text.contains("The history has no run of it either"))
      #expect(try await get(host, "/ui/plugins").text.contains("it may not use the network"))
    }
  }

  @Test("a page of a store with many requests costs as little as one of a few")
  func many() async throws {
    try await HostProcess.run { host in
      let one = #"{"identifier": "test.script", "delay_ms": 3600000, "tags": ["many"]}"#
      for _ in 0..<3 {
        let body = "[\(Array(repeating: one, count: 3000).joined(separator: ","))]"
        #expect(try await host.post("/v1/requests", body).status == 201)
      }
      for path in ["/", "/ui/requests", "/ui/requests?filter=tag%3Amany", "/ui/tasks", "/ui/forecast"] {
        let text = try await get(host, path).text
        #expect(text.utf8.count < 262_144 && text.ranges(of: "<tr>").count <= 101, "\(path): \(text.utf8.count) bytes")
      }
    }
  }
}
