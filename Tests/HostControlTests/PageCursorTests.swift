import ControlTestSupport
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("Cursors of lists") struct PageCursorTests {
  private static let id = RequestID(sequence: 77, origin: 5)

  private func refusal(_ cursor: PageCursor, _ text: String) -> String? {
    do throws(RequestRefusal) {
      let _: RequestID? = try cursor.read(text)
      return nil
    } catch { return error.field == "after" && error.code == .invalid ? error.message : "another refusal: \(error)" }
  }

  @Test("what next said is read again, in every list", arguments: PageCursor.Listing.allCases)
  func roundTrip(_ listing: PageCursor.Listing) throws {
    let cursor = PageCursor(listing, selecting: [("filter", "tag:a"), ("state", "failed")])
    #expect(try cursor.read(cursor.text(after: Self.id)) == Self.id)
    #expect(cursor.text(after: RequestID?.none) == nil)
    #expect(try cursor.read(nil) as RequestID? == nil)
  }

  @Test("a cursor of another list or another selection is refused, and the refusal names both")
  func foreign() throws {
    let requests = PageCursor(.requests, selecting: [("filter", "tag:a")])
    let made = try #require(PageCursor(.runs, selecting: [("filter", "tag:a")]).text(after: Self.id))
    #expect(refusal(requests, made)?.contains("comes from the list of runs, and this is the list of requests") == true)
    for selection in [[], [("filter", "tag:b")], [("filter", "tag"), ("a", "")], [("filte", "rtag:a")]] as [[(name: String, value: String)]]
    {
      let other = try #require(PageCursor(.requests, selecting: selection).text(after: Self.id))
      #expect(refusal(requests, other)?.contains("with another selection") == true, "\(selection)")
    }
  }

  @Test(
    "what is not a cursor is refused",
    arguments: ["", "x", "\(id).requests", "\(id).request.0", "x.requests.0", "\(id).requests.0.0", "\u{1B}.."])
  func malformed(_ text: String) {
    let flaw = refusal(PageCursor(.requests, selecting: []), text)
    #expect(flaw?.contains("is not a cursor: send what next said") == true && flaw?.contains("\u{1B}") == false, "\(flaw ?? "")")
  }

  @Test("an id is not a cursor, and the refusal says that it is one")
  func ids() {
    #expect(
      refusal(PageCursor(.requests, selecting: []), Self.id.description)?.contains("is not a cursor but an id: send what next said") == true
    )
  }

  @Test("each list goes on with its own cursor and the same parameters in any order, and refuses those of all others")
  func lists() async throws {
    let host = MemoryHost()
    for identifier in ["a", "a", "org.taskhost.transfers", "org.taskhost.transfers"] {
      let request = TaskRequest(identifier: try TaskIdentifier(identifier), tags: ["t"])
      let id = RequestID(sequence: host.newSequence(), origin: 1)
      host.put(RequestRecord(id: id, request: request, state: .failed, due: .distantFuture, submitted: WallTime(unixMilliseconds: 0)))
    }
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let lists = ["/v1/requests?filter=tag:t&", "/v1/requests?state=failed&tag=t&", "/v1/transfers?tag=t&"]
      var cursors: [String] = []
      for list in lists {
        cursors.append(try #require(try await client.send("GET", list + "limit=1").node["next"]?.string))
      }
      for (number, list) in lists.enumerated() {
        for (other, cursor) in cursors.enumerated() {
          let answer = try await client.send("GET", list + "limit=2&after=\(cursor)")
          #expect(answer.status == (number == other ? 200 : 400), "\(list) \(cursor): \(answer.message ?? "")")
          #expect(answer.node["error"]?["field"]?.string == (number == other ? nil : "after"))
        }
        #expect(try await client.send("GET", "/v1/runs?after=\(cursors[number])").status == 400)
        #expect(try await client.send("POST", "/v1/requests/retry?after=\(cursors[number])").status == 400)
      }
      #expect(try await client.send("GET", "/v1/requests?tag=t&limit=1&after=\(cursors[1])&state=failed").status == 200)
    }
  }
}
