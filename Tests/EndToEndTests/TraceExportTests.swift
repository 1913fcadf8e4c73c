import Foundation
import TestSupport
import Testing

/// `[traces]`: spans of a real host, at a real server over HTTP.
@Suite("Traces at a collector", .timeLimit(.minutes(20)))
struct TraceExportTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let parent = "00-\(trace)-b7ad6b7169203331-01"

  private func with(
    _ path: String, _ keys: String = "", isolation: Isolation = .process, _ body: (HostProcess, WebhookServer) async throws -> Void
  ) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      let server = try await WebhookServer.start(host.directory("received"), secret: "x")
      defer { server.end() }
      try host.configure(
        """
        redact = ["secret"]
        [retry]
        initial = "100ms"
        maximum = "1s"
        [traces]
        endpoint = "\(server.address)\(path)"
        \(keys)
        """)
      try await host.start()
      try await body(host, server)
    }
  }

  private func spans(_ lines: [String]) throws -> [JSON] {
    var spans: [JSON] = []
    for line in lines {
      let message = try JSON(parsing: try #require(try JSON(parsing: line)["body"]?.string))
      for resource in message["resourceSpans"]?.array ?? [] {
        for scope in resource["scopeSpans"]?.array ?? [] { spans += scope["spans"]?.array ?? [] }
      }
    }
    return spans
  }

  private func attribute(_ name: String, of span: JSON) -> JSON? {
    span["attributes"]?.array.first { $0["key"]?.string == name }?["value"]
  }

  private func metric(_ name: String, _ host: HostProcess) async throws -> Int? {
    let socket = host.socket
    let text = try await onThread { try SocketClient(socket).request("GET", "/metrics") }.body
    return text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Int($0.split(separator: " ")[1]) }
  }

  @Test("submission, wait and run are spans of the caller's trace; a retry is the root of its own, with a link; payloads stay at home")
  func whole() async throws {
    try await with("", "service_name = \"tasks of a test\"") { host, server in
      let payload = "{\"secret\": \"hunter2\"}"
      let sent = try await host.cli("submit", "test.script", "--payload", payload, "--traceparent", Self.parent, "--after", "1h", "--json")
      #expect(sent.status == 0, "\(sent.errors)")
      let id = try await host.submit("message not yet;result-until 2 3", ["--traceparent", Self.parent])
      try await host.request(id, is: "succeeded")
      let runs = try await host.runs(of: id).compactMap { $0["id"]?.string }
      #expect(try await host.terminate().status == 0)
      let lines = try await server.told.lines(until: runs[0])
      #expect(lines.allSatisfy { $0.contains("\"path\": \"/v1/traces\"") && !$0.contains("hunter2") && !$0.contains("not yet") })
      #expect(lines.allSatisfy { $0.contains("tasks of a test") && $0.contains("application/json") })
      let spans = try spans(lines).filter { attribute("taskhost.request.id", of: $0)?["stringValue"]?.string == id }
      #expect(spans.compactMap { $0["name"]?.string }.sorted() == ["run", "run", "submit", "wait", "wait"].map { "\($0) test.script" })
      func only(_ name: String, attempt: String? = nil) throws -> JSON {
        let found = spans.first { span in
          let hasAttempt = attempt == nil || attribute("taskhost.attempt", of: span)?["intValue"]?.string == attempt
          return hasAttempt && span["name"]?.string == "\(name) test.script"
        }
        return try #require(found)
      }
      let submission = try only("submit")
      #expect(submission["traceId"]?.string == Self.trace && submission["parentSpanId"]?.string == "b7ad6b7169203331")
      #expect(submission["kind"]?.integer == 4 && submission["status"]?["code"] == nil)
      let (first, wait) = (try only("run", attempt: "1"), try only("wait", attempt: "1"))
      for span in [first, wait] {
        #expect(span["traceId"]?.string == Self.trace && span["parentSpanId"]?.string == submission["spanId"]?.string)
      }
      #expect(first["status"]?["code"]?.integer == 2 && first["kind"]?.integer == 5 && first["links"] == nil)
      #expect(attribute("taskhost.outcome", of: first)?["stringValue"]?.string == "retried")
      #expect(wait["endTimeUnixNano"]?.string == first["startTimeUnixNano"]?.string)
      let (second, secondWait) = (try only("run", attempt: "2"), try only("wait", attempt: "2"))
      #expect(second["traceId"]?.string != Self.trace && second["parentSpanId"] == nil && second["status"]?["code"] == nil)
      let link = second["links"]?.array.first
      #expect(link?["traceId"]?.string == Self.trace && link?["spanId"]?.string == "b7ad6b7169203331")
      #expect(secondWait["parentSpanId"]?.string == second["spanId"]?.string && secondWait["traceId"]?.string == second["traceId"]?.string)
      for span in spans {
        let start = try #require(span["startTimeUnixNano"]?.string.flatMap { UInt64($0) })
        let end = try #require(span["endTimeUnixNano"]?.string.flatMap { UInt64($0) })
        #expect(start <= end && start > 1_600_000_000_000_000_000)
      }
    }
  }

  @Test(
    "without a traceparent, a trace begins here, and the handler continues it; sample = 0 records none of these, and a caller's flag counts"
  )
  func roots() async throws {
    try await with("/v1/traces/") { host, server in
      let answer = try await host.run("trace")
      let place = try #require(answer["run"]?["output"]?["traceparent"]?.string)
      let unsampled = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-00"
      _ = try await host.run("result 0", ["--traceparent", unsampled])
      #expect(try await host.terminate().status == 0)
      let lines = try await server.told.lines(until: "run test.script")
      let spans = try spans(lines)
      let (submission, run) = (spans.first { $0["kind"]?.integer == 4 }, spans.first { $0["kind"]?.integer == 5 })
      #expect(submission?["parentSpanId"] == nil && run?["parentSpanId"]?.string == submission?["spanId"]?.string)
      #expect(place == "00-\(run?["traceId"]?.string ?? "")-\(run?["spanId"]?.string ?? "")-01")
      #expect(spans.count == 3 && !spans.contains { $0["traceId"]?.string?.hasSuffix("319d") == true })
    }
    try await with("", "sample = 0.0") { host, server in
      _ = try await host.run("result 0")
      _ = try await host.run("result 0", ["--traceparent", Self.parent])
      #expect(try await host.terminate().status == 0)
      let spans = try spans(try await server.told.lines(until: "run test.script"))
      #expect(spans.count == 3 && spans.allSatisfy { $0["traceId"]?.string == Self.trace })
    }
  }

  @Test(
    "what a handler tells of its parts are spans inside its run's, with its attributes but for what is redacted",
    arguments: Isolation.allCases)
  func inner(_ isolation: Isolation) async throws {
    try await with("", isolation: isolation) { host, server in
      let attributes = "{'files':3,'secret':'hunter2','fast':true,'rate':0.5,'of':[]}"
      let answer = try await host.run("span copy \(attributes);span plain")
      #expect(answer["run"]?["output"]?["span"]?.integer == 0)
      #expect(try await host.terminate().status == 0)
      let lines = try await server.told.lines(until: "run test.script")
      #expect(!lines.contains { $0.contains("hunter2") })
      let spans = try spans(lines)
      let run = try #require(spans.first { $0["kind"]?.integer == 5 })
      let inner = spans.filter { $0["parentSpanId"]?.string == run["spanId"]?.string }
      #expect(
        inner.compactMap { $0["name"]?.string } == ["copy", "plain"] && inner.allSatisfy { $0["traceId"]?.string == run["traceId"]?.string }
      )
      #expect(Set(spans.compactMap { $0["spanId"]?.string }).count == 5)
      let copy = try #require(inner.first)
      #expect(copy["startTimeUnixNano"]?.string == "1700000000000000000" && copy["endTimeUnixNano"]?.string == "1700000001000000000")
      #expect(attribute("files", of: copy)?["intValue"]?.string == "3" && attribute("fast", of: copy)?["boolValue"]?.bool == true)
      #expect(attribute("rate", of: copy)?["doubleValue"] != nil)
      #expect(attribute("secret", of: copy)?["stringValue"]?.string == "•••" && attribute("of", of: copy) == nil)
    }
  }

  @Test("headers_file gives headers with secrets, read for each message")
  func headers() async throws {
    try await with("", "headers_file = \"headers\"") { host, server in
      _ = try await host.run("result 0")
      try await host.current.line(with: "traces: spans are not delivered", "headers_file")
      try "# a key\nx-api-key: s3cret\n".write(toFile: host.directory("headers"), atomically: true, encoding: .utf8)
      let line = try #require(try await server.told.lines(1).first)
      #expect(try JSON(parsing: line)["headers"]?["x-api-key"]?.string == "s3cret")
      try await host.current.line(with: "spans are delivered again")
      #expect(try await host.terminate().status == 0)
      #expect(!host.current.lines.contains { $0.contains("s3cret") })
    }
  }

  @Test("a collector that answers 503 is asked again when its Retry-After says, and gets every span")
  func later() async throws {
    try await with("/later/2/a") { host, server in
      _ = try await host.run("result 0")
      let lines = try await server.told.lines(3)
      #expect(Set(try lines.map { try JSON(parsing: $0)["body"]?.string }).count == 1)
      let times = try lines.map { try #require(try JSON(parsing: $0)["time_ms"]?.integer) }
      #expect(times[1] - times[0] >= 990 && times[2] - times[1] >= 990 && times[2] - times[0] < 20_000, "\(times)")
      try await host.current.line(with: "traces: spans are delivered again")
      #expect(try #require(try await metric("taskhost_spans_exported_total", host)) > 0)
      #expect(try await metric("taskhost_spans_dropped_total", host) == 0)
    }
  }

  @Test("a collector that refuses is named in the log once, and the spans are counted as dropped")
  func refused() async throws {
    try await with("/status/400") { host, server in
      for count in 1...2 {
        _ = try await host.run("result 0")
        _ = try await server.told.lines(count)
      }
      try await host.current.line(with: "traces: spans were dropped", "answers 400")
      #expect(try await host.terminate().status == 0)
      #expect(host.current.lines.count { $0.contains("spans were dropped") } == 1)
    }
  }

  @Test("a collector that never answers holds up neither runs nor, for long, a shutdown")
  func silent() async throws {
    try await with("/silent") { host, server in
      _ = try await host.run("result 0")
      _ = try await server.told.lines(1)
      for _ in 0..<5 { #expect(try await host.run("result 0")["outcome"]?.string == "succeeded") }
      let began = ContinuousClock.now
      #expect(try await host.terminate().status == 0)
      #expect(ContinuousClock.now - began < .seconds(20))
    }
  }

  @Test("without [traces], nothing is counted and no thread waits")
  func none() async throws {
    try await HostProcess.run { host in
      _ = try await host.run("result 0")
      #expect(try await metric("taskhost_spans_exported_total", host) == nil)
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(host.processID)/task")
      let names = threads.compactMap { try? String(contentsOfFile: "/proc/\(host.processID)/task/\($0)/comm", encoding: .utf8) }
      #expect(!names.contains { $0.hasPrefix("traces") } && !names.isEmpty)
    }
  }
}
