import StoreTestSupport
import TaskFilters
import TaskModel
import Testing

@Suite("A filter of requests") struct RequestFilterTests {
  private static let now = WallTime(unixMilliseconds: 1_700_000_000_000)

  private static func record(
    _ identifier: String = "com.example.report", state: RequestState = .failed, tags: [String] = [], payload: String = "",
    ago: Duration = .zero, key: String? = nil
  ) throws -> RequestRecord {
    var request = TaskRequest(identifier: try TaskIdentifier(identifier))
    (request.tags, request.payload, request.uniqueKey) = (tags, Array(payload.utf8), key)
    var record = RequestRecord.sample(1, origin: 1, identifier: request.identifier, state: state, due: now)
    (record.request, record.submitted) = (request, now + (.zero - ago))
    return record
  }

  private static func accepts(_ text: String, _ record: RequestRecord) throws -> Bool {
    try RequestFilter(text, now: now).accepts(record)
  }

  @Test("selects by every word at once")
  func all() throws {
    let text = #"state:failed identifier:com.example.* tag:nightly payload.account:"x" since:2h"#
    func made(_ identifier: String, _ state: RequestState, _ tag: String, _ account: String, _ ago: Duration) throws -> RequestRecord {
      try Self.record(identifier, state: state, tags: ["a", tag], payload: #"{"account": "\#(account)"}"#, ago: ago)
    }
    #expect(try Self.accepts(text, made("com.example.report", .failed, "nightly", "x", .seconds(7200))))
    #expect(try !Self.accepts(text, made("com.example", .failed, "nightly", "x", .zero)))
    #expect(try !Self.accepts(text, made("com.example.report", .pending, "nightly", "x", .zero)))
    #expect(try !Self.accepts(text, made("com.example.report", .failed, "weekly", "x", .zero)))
    #expect(try !Self.accepts(text, made("com.example.report", .failed, "nightly", "y", .zero)))
    #expect(try !Self.accepts(text, made("com.example.report", .failed, "nightly", "x", .seconds(7201))))
  }

  @Test("takes one of the values between commas; pending includes claimed, and two tags must both be there")
  func values() throws {
    #expect(try Self.accepts("state:failed,pending", Self.record(state: .claimed)))
    #expect(try !Self.accepts("state:failed,pending", Self.record(state: .running)))
    #expect(try Self.accepts("tag:a,b tag:c", Self.record(tags: ["b", "c"])))
    #expect(try !Self.accepts("tag:a,b tag:c", Self.record(tags: ["a", "b"])))
    #expect(try Self.accepts(#"key:"a,b","#.dropLast().description, Self.record(key: "a,b")))
    #expect(try Self.accepts(#"tag:"say \"hi\" \\ x""#, Self.record(tags: [#"say "hi" \ x"#])))
  }

  @Test("state:paused means live requests that somebody holds back; beside other states, these too")
  func paused() throws {
    var paused = try Self.record(state: .pending)
    paused.paused = RequestPause(by: "user 1", since: Self.now)
    var ended = try Self.record(state: .failed)
    ended.paused = paused.paused
    #expect(try Self.accepts("state:paused", paused))
    #expect(try !Self.accepts("state:paused", ended))
    #expect(try !Self.accepts("state:paused", Self.record(state: .pending)))
    #expect(try Self.accepts("state:paused,failed", Self.record(state: .failed)))
    #expect(try Self.accepts("state:failed,paused", paused))
    #expect(try !Self.accepts("state:paused,failed", Self.record(state: .running)))
    #expect(try !Self.accepts("state:paused identifier:other", paused))
    #expect(try !RequestFilter("state:paused", now: Self.now).selectsAll)
    #expect(throws: FilterError.self) { try RequestFilter("state:pausd", now: Self.now) }
  }

  @Test(
    "finds members of the payload",
    arguments: [
      ("payload.n:7", true), (#"payload.n:"7""#, false), ("payload.s:x", true), (#"payload.s:"x""#, true), ("payload.t:true", true),
      ("payload.z:null", true), ("payload.o.deep:1.50", true), ("payload.o.deep:1.5", false), ("payload.list:b", true),
      ("payload.list:c", false), ("payload.items.id:2", true), ("payload.items.id:3", false), (#"payload."a.b":y"#, true),
      ("payload.a.b:y", false), ("payload.o:x", false), ("payload.none:x", false), (#"payload.u:é"#, true), (#"payload.e:"""#, true),
    ])
  func payload(_ text: String, _ isFound: Bool) throws {
    let payload = #"""
      {"n": 7, "s": "x", "t": true, "z": null, "o": {"deep": 1.50}, "list": ["a", "b"], "items": [{"id": 1}, {"id": 2}],
       "a.b": "y", "u": "\u00e9", "e": ""}
      """#
    #expect(try Self.accepts(text, Self.record(payload: payload)) == isFound)
  }

  @Test("finds nothing in a payload that is no JSON, or absent", arguments: ["", "{", "x"])
  func noJSON(_ payload: String) throws { #expect(try !Self.accepts("payload.a:x", Self.record(payload: payload))) }

  @Test("compares bytes: letters that only look the same differ")
  func bytes() throws { #expect(try !Self.accepts("tag:e\u{301}", Self.record(tags: ["\u{e9}"]))) }

  @Test("selects all if it is empty", arguments: ["", "  \n"])
  func empty(_ text: String) throws {
    let filter = try RequestFilter(text, now: Self.now)
    #expect(filter.selectsAll)
    #expect(try filter.accepts(Self.record()))
    #expect(try !RequestFilter("key:a", now: Self.now).selectsAll)
    #expect(try !RequestFilter("payload.a:a", now: Self.now).selectsAll)
  }

  @Test(
    "says where it is wrong and what is meant",
    arguments: [
      ("stat:failed", 1, #""stat" is not a word of filters; did you mean "state"?"#),
      ("tag:a stats:x", 7, #"did you mean "state"?"#),
      ("state:faild", 7, #"there is no state "faild"; did you mean "failed"?"#),
      ("state:failed,claimed", 14, "there is no state \"claimed\""),
      ("state", 1, #""state" has no value: write state:VALUE"#),
      ("failed", 1, #""failed" has no word before it: write state:failed"#),
      ("com.example.sync", 1, #""com.example.sync" has no word before it: write identifier:com.example.sync"#),
      ("tag:", 5, "tag has no value here, but the filter ends"),
      ("tag:a,, tag:b", 7, #"tag has no value here, not ",""#),
      ("tag: a", 5, "not a blank"),
      (#"tag:"a"#, 5, "the quote that begins here does not end"),
      (#"tag:"a"b"#, 8, "a blank is expected"),
      (#"tag:a"b""#, 6, "a quote may stand only around"),
      (#"tag:"\n""#, 7, "after \\ in quotes"),
      ("tag:\u{1B}[31m", 5, "the control character U+001B"),
      ("state:failed state:pending", 14, "state comes twice"),
      ("payload:x", 1, "payload needs the name of a member"),
      ("payload.:x", 9, "the name of a member is expected"),
      ("state.x:failed", 1, "state has no parts"),
      ("since:yesterday", 7, #""yesterday" is not a moment"#),
      ("since:99999999999999999999d", 7, "is not a moment"),
      ("since:1h,2h", 10, "since has one value"),
      ("id:xyz", 4, "no id begins with \"xyz\": ids look like"), ("id:01,02", 7, "id has one value"),
      ("identifier:a*b", 12, "identifier"),
      ("request:x", 1, #"requests cannot be selected by "request""#),
      (":x", 1, "a word is expected"),
      ("é:x", 1, "\"é\" is not a word of filters"),
    ])
  func errors(_ text: String, _ position: Int, _ sentence: String) {
    let error = #expect(throws: FilterError.self) { try RequestFilter(text, now: Self.now) }
    #expect(error?.position == position)
    #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
  }

  @Test("refuses what is too long, before it is read")
  func limits() {
    for text in [
      String(repeating: "x", count: 4097), String(repeating: "tag:a ", count: 33),
      "tag:" + String(repeating: "a,", count: 65) + "a", "payload" + String(repeating: ".a", count: 65) + ":x",
    ] {
      #expect(throws: FilterError.self) { try RequestFilter(text, now: Self.now) }
    }
  }

  @Test("a since before all times counts as the first one")
  func saturates() throws {
    let longest = Int64(106_751_991_167) * 86_400_000
    let filter = try RequestFilter("since:106751991167d", now: Self.now)
    #expect(filter.scan.since == WallTime(unixMilliseconds: Self.now.unixMilliseconds.subtracting(saturating: longest)))
  }
}
