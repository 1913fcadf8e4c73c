import ControlTestSupport
import HTTPTransfer
import HostThreads
import TaskModel
import Testing

@Suite("The page of the pauses") struct PausePageTests {
  private func with(_ body: @escaping @Sendable (MemoryHost, PageClient) async throws -> Void) async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { try await body(host, PageClient(socket: $0.socket)) }
  }

  @Test("a form pauses what its filter selects; the page says who, why and until when, and a button resumes it")
  func life() async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      #expect(try await client.get("/ui/pauses").text.contains("Nothing is paused"))
      let made = try await client.post("/ui/pauses", "selection=filter&filter=tag%3Anightly&until=2h&why=the+database+moves")
      #expect(made.status == 303 && made.location == "/ui/pauses?done=pause_begun&count=2")
      let pause = try #require(await host.pauses().first)
      #expect(pause.order.filter == "tag:nightly" && pause.order.reason == "the database moves")
      #expect(pause.order.by.hasSuffix("in the dashboard") && pause.order.user != nil)
      let until = try #require(pause.order.until)
      #expect((.seconds(7100)...Duration.seconds(7200)).contains(until - SystemClock().wallTime))
      let page = try await client.get("/ui/pauses?done=pause_begun&count=2").text
      #expect(page.contains("2 requests wait now") && page.contains(">tag:nightly</a>") && page.contains("the database moves"))
      #expect(page.contains("in the dashboard") && page.contains("action=\"/ui/pauses/1/resume\"") && !page.contains("Resume all"))
      let ended = try await client.post("/ui/pauses/1/resume")
      #expect(ended.status == 303 && ended.location == "/ui/pauses?done=pause_ended&count=1")
      #expect(await host.pauses().isEmpty)
      #expect(try await client.post("/ui/pauses/1/resume").status == 404)
      #expect(try await client.post("/ui/pauses/x/resume").status == 404)
    }
  }

  @Test(
    "everything is paused only when it was chosen and confirmed",
    arguments: ["selection=everything", "selection=filter&filter=identifier%3A*"])
  func everything(_ selection: String) async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      let asked = try await client.post("/ui/pauses", "\(selection)&until=3h&why=fire+%22drill%22")
      #expect(asked.status == 200 && asked.text.contains("Pause everything?") && asked.text.contains("2 requests wait now. 1 run is live"))
      #expect(asked.text.contains("name=\"until\" value=\"3h\"") && asked.text.contains("value=\"fire &quot;drill&quot;\""))
      #expect(await host.pauses().isEmpty)
      let done = try await client.post("/ui/pauses", "\(selection)&until=3h&why=x&confirmed=yes")
      #expect(done.status == 303)
      #expect(await host.pauses().count == 1)
      #expect(try await client.get("/").text.contains("pauses in force"))
    }
  }

  @Test(
    "a form that does not say what it means pauses nothing, says why, and keeps what was typed",
    arguments: [
      ("", "nothing is chosen"), ("filter=tag%3Ax", "nothing is chosen"), ("selection=filter&filter=+", "the filter is empty"),
      ("selection=everything&filter=tag%3Ax", "everything is chosen, and a filter is written"),
      ("selection=filter&filter=tga%3Ax", "at character 1"), ("selection=filter&filter=tag%3Ax&until=tomorrow", "is not a moment"),
      ("selection=filter&filter=tag%3Ax&until=2001-01-01T00:00:00Z", "a time to come"),
    ])
  func refusals(_ form: String, _ sentence: String) async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      let answer = try await client.post("/ui/pauses", "\(form)\(form.isEmpty ? "" : "&")why=kept")
      #expect(answer.status == 400 && answer.text.contains("role=\"alert\"") && answer.text.contains(sentence), "\(answer.text)")
      #expect(answer.text.contains("value=\"kept\"") && !answer.text.contains("Pause everything?"))
      #expect(await host.pauses().isEmpty)
    }
  }

  @Test("several pauses end together")
  func all() async throws {
    try await with { (host: MemoryHost, client: PageClient) async throws -> Void in
      for tag in ["a", "b"] { #expect(try await client.post("/ui/pauses", "selection=filter&filter=tag%3A\(tag)").status == 303) }
      #expect(try await client.get("/ui/pauses").text.contains("action=\"/ui/pauses/resume\""))
      #expect(try await client.post("/ui/pauses/resume").location == "/ui/pauses?done=pause_ended&count=2")
      #expect(await host.pauses().isEmpty)
    }
  }

  @Test("an open page is told of a pause that a client of the API begins")
  func told() async throws {
    try await with { (_: MemoryHost, client: PageClient) async throws -> Void in
      let api = HTTPTestClient(socket: client.socket)
      var parts = api.parts("/ui/changes").makeAsyncIterator()
      #expect(try await parts.next()?.text == ": subscribed\n\n")
      _ = try await api.send("DELETE", "/v1/conditions?name=power")
      #expect(try await parts.next()?.text == "event: change\ndata:\n\n")
    }
  }
}
