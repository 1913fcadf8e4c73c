import ControlTestSupport
import HTTPTransfer
import HostThreads
import TaskModel
import Testing

@Suite("Forms of pages") struct PageFormTests {
  private func with(_ body: @escaping @Sendable (MemoryHost, PageClient, RequestID) async throws -> Void) async throws {
    let host = MemoryHost()
    let id = try await host.submit([TaskRequest(identifier: try TaskIdentifier("a"), tags: ["nightly"])])[0].id
    try await ControlFixture.with(host) { try await body(host, PageClient(socket: $0.socket), id) }
  }

  /// A form that another site makes a browser send.
  static let foreign: [[(name: String, value: String)]] = [
    [], [("sec-fetch-site", "cross-site")], [("sec-fetch-site", "same-site")],
    [("sec-fetch-site", "cross-site"), ("origin", "http://localhost")],
    [("origin", "http://evil.example")], [("origin", "null")], [("origin", "http://localhost:81")],
    [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")], [("origin", "localhost")],
  ]

  @Test("a form that no page of the host has sent does nothing", arguments: foreign.indices)
  func crossSite(_ index: Int) async throws {
    let headers = Self.foreign[index]
    let forms = [
      ("conditions/network/lose", ""), ("submit", "identifier=a"), ("tasks/a/run", ""),
      ("bulk", "filter=tag%3Anightly&action=cancel&confirmed=yes"),
    ]
    try await with { (host: MemoryHost, client: PageClient, id: RequestID) async throws -> Void in
      for (path, form) in forms + [("requests/\(id)/cancel", "")] {
        let answer = try await client.send("POST", "/ui/\(path)", headers, form)
        #expect(answer.status == 403, "\(path)")
      }
      #expect(try await host.request(id).state == .pending && host.submitted.count == 1)
      let report = try await host.conditions()
      #expect(report.states.allSatisfy { $0.holds })
    }
  }

  @Test("a form of the host's own page is taken, by either header")
  func sameSite() async throws {
    for headers in [[("sec-fetch-site", "same-origin")], [("sec-fetch-site", "none")], [("origin", "http://LOCALHOST")]] {
      try await with { (host: MemoryHost, client: PageClient, id: RequestID) async throws -> Void in
        #expect(try await client.send("POST", "/ui/requests/\(id)/cancel", headers, "").status == 303)
        #expect(try await host.request(id).state == .cancelled)
      }
    }
  }

  @Test("actions on a request lead back to its page, which says what was done; what its state forbids is refused")
  func request() async throws {
    try await with { (host: MemoryHost, client: PageClient, id: RequestID) async throws -> Void in
      let page = "/ui/requests/\(id)"
      let snoozed = try await client.post("\(page)/snooze", "delay=1h30m")
      #expect(snoozed.status == 303 && snoozed.location == "\(page)?done=snoozed")
      #expect(try await host.request(id).due > WallTime(unixMilliseconds: 1_700_000_000_000))
      #expect(try await client.post("\(page)/snooze", "delay=soon").status == 400)
      for (form, words) in [("delya=1h", "there is no field"), ("delay=%4", "a field has a %"), ("delay=%ff", "a field is not UTF-8")] {
        let flawed = try await client.post("\(page)/snooze", form)
        #expect(flawed.status == 400 && flawed.text.contains(words) && !flawed.text.contains("query"), "\(flawed.text)")
      }
      #expect(try await client.post("\(page)/pause").location == "\(page)?done=paused")
      #expect(try await host.request(id).paused?.by.hasSuffix("in the dashboard") == true)
      #expect(try await client.post("\(page)/resume").status == 303)
      let refused = try await client.post("\(page)/retry")
      #expect(refused.status == 409 && refused.text.contains("only a failed request can be retried"))
      #expect(refused.text.contains("href=\"\(page)\""))
      host.change(id, to: .failed)
      #expect(try await client.get(page).text.contains("action=\"\(page)/retry\""))
      #expect(try await client.post("\(page)/retry").location == "\(page)?done=retried")
      #expect(try await client.get("\(page)?done=retried").text.contains("The request is pending again."))
      host.change(id, to: .failed)
      #expect(try await client.post("\(page)/discard").status == 303)
      #expect(try await host.request(id).state == .cancelled)
      #expect(try await client.post("\(page)/nonsense").status == 404)
      #expect(try await client.post("/ui/requests/01976c1e-0000-7000-8000-000000000000/cancel").status == 404)
    }
  }

  @Test("run now, release and conditions ask the host")
  func others() async throws {
    try await with { (host: MemoryHost, client: PageClient, _: RequestID) async throws -> Void in
      let started = try await client.post("/ui/tasks/a/run")
      #expect(started.status == 303 && started.location?.hasSuffix("?done=started") == true && host.submitted.count == 2)
      let contract = HandlerContract(identifier: try TaskIdentifier("a"), kind: .processing, budget: .seconds(60), grace: .seconds(5))
      host.setPlugins([PluginStatus(file: "a.so", health: .registered, contract: contract, isQuarantined: true)])
      #expect(try await client.get("/ui/plugins").text.contains("action=\"/ui/plugins/a/release\""))
      #expect(try await client.post("/ui/plugins/a/release").location == "/ui/plugins?done=released")
      #expect(await host.plugins()[0].health == .registered)
      #expect(try await client.post("/ui/conditions/network/lose").location == "/ui/conditions?done=overridden")
      #expect(try await host.conditions()[.network]?.holds == false)
      #expect(try await client.get("/ui/conditions").text.contains("action=\"/ui/conditions/network/clear\""))
      #expect(try await client.post("/ui/conditions/network/clear").status == 303)
      #expect(try await host.conditions()[.network]?.isOverridden == false)
      #expect(try await client.post("/ui/conditions/weather/lose").status == 400)
      #expect(try await client.post("/ui/conditions/clear").status == 303)
    }
  }

  @Test("a bulk action is counted first, and carried out when it is confirmed")
  func bulk() async throws {
    try await with { (host: MemoryHost, client: PageClient, id: RequestID) async throws -> Void in
      let counted = try await client.post("/ui/bulk", "filter=tag%3Anightly&action=cancel&delay=")
      #expect(counted.status == 200 && counted.text.contains("Cancel 1 request?"))
      #expect(try await host.request(id).state == .pending)
      let done = try await client.post("/ui/bulk", "filter=tag%3Anightly&action=cancel&delay=&confirmed=yes")
      #expect(done.status == 303 && done.location == "/ui/requests?filter=tag%3Anightly&done=bulk&count=1")
      #expect(try await host.request(id).state == .cancelled)
      let page = try #require(done.location)
      #expect(try await client.get(page).text.contains("1 request was changed"))
      #expect(try await client.post("/ui/bulk", "filter=&action=cancel").status == 400)
      #expect(try await client.post("/ui/bulk", "filter=tag%3Ax&action=burn").status == 400)
      #expect(try await client.post("/ui/bulk", "filter=tag%3Ax&action=snooze").status == 400)
    }
  }

  @Test("a form submits JSON as it was typed; what is refused is asked again with what was typed")
  func submission() async throws {
    try await with { (host: MemoryHost, client: PageClient, _: RequestID) async throws -> Void in
      let form = "identifier=b&payload=%7B%22n%22%3A+12345678901234567890%7D&delay=15m&key=k&tag=one%2C+two"
      let done = try await client.post("/ui/submit", form)
      #expect(done.status == 303 && done.location?.hasSuffix("?done=created") == true)
      let request = try #require(host.submitted.last)
      #expect(request.payload == Array("{\"n\": 12345678901234567890}".utf8) && request.uniqueKey == "k" && request.tags == ["one", "two"])
      #expect(request.delay == .seconds(900))
      for (field, value) in [("payload", "%7B%22a%22%3A"), ("delay", "tomorrow"), ("tag", String(repeating: "x", count: 5000))] {
        let refused = try await client.post("/ui/submit", "identifier=b&key=kept&\(field)=\(value)")
        #expect(refused.status == 400 && refused.text.contains("role=\"alert\"") && refused.text.contains("value=\"kept\""), "\(field)")
      }
      #expect(host.submitted.count == 2)
    }
  }

  @Test("the form of a typed handler has its arguments, and sends them as what they are")
  func typed() async throws {
    try await with { (host: MemoryHost, client: PageClient, _: RequestID) async throws -> Void in
      var contract = HandlerContract(identifier: try TaskIdentifier("t"), kind: .refresh, budget: nil, grace: .seconds(5))
      contract.typed = TypedContract(signature: "i32(str account, i64 horizon?, bool dry, f64 ratio, task)", success: .zero)
      host.setPlugins([PluginStatus(file: "t.so", health: .registered, contract: contract)])
      let page = try await client.get("/ui/submit?identifier=t")
      for name in ["account", "horizon", "dry", "ratio"] { #expect(page.text.contains("name=\"argument.\(name)\""), "\(name)") }
      let sent = try await client.post(
        "/ui/submit", "identifier=t&argument.account=007&argument.horizon=&argument.dry=true&argument.ratio=0.5")
      #expect(sent.status == 303, "\(sent.text)")
      #expect(host.submitted.last?.payload == Array("{\"account\":\"007\",\"dry\":true,\"ratio\":0.5}".utf8))
      _ = try await client.post("/ui/submit", "identifier=t&argument.account=&argument.dry=false&argument.ratio=fast")
      #expect(host.submitted.last?.payload == Array("{\"account\":\"\",\"dry\":false,\"ratio\":\"fast\"}".utf8))
    }
  }

  @Test("an open page is told of changes at most four times a second, and at once of the first")
  func changes() async throws {
    try await with { (host: MemoryHost, client: PageClient, id: RequestID) async throws -> Void in
      let stream = HTTPTestClient(socket: client.socket).parts("/ui/changes")
      var parts = stream.makeAsyncIterator()
      let first = try #require(try await parts.next())
      #expect(first.head.status == 200 && first.text == ": subscribed\n\n")
      let began = ContinuousClock.now
      for _ in 0..<20_000 { host.change(id) { $0.losses += 1 } }
      host.finish()
      var text = ""
      while let part = try await parts.next() { text += part.text }
      let most = Int((ContinuousClock.now - began) / .milliseconds(250)) + 2
      #expect(text.components(of: "event: change\ndata:\n\n") * "event: change\ndata:\n\n".count == text.count)
      #expect((1...most).contains(text.components(of: "event: change")), "\(text.components(of: "event: change")) of \(most)")
    }
  }
}
