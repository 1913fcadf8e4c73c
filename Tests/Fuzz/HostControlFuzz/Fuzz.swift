import CalendarTime
import StrictText
import TaskFilters
import TaskModel

@testable import HostControl

/// Feeds bytes to the readers of what clients send: JSON, bodies of submissions, queries, moments and base64.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : size))
  if let node = try? JSONReader.read(bytes) {
    precondition(JSONReader.isValid(bytes), "read, and not valid")
    check(node, bytes)
  }
  if let requests = try? SubmissionReader.read(bytes).requests {
    precondition(requests.allSatisfy { Limits.priorities.contains($0.priority) && $0.payload.count <= Limits.payloadBytes })
  }
  if let approved = try? ApprovalReader.read(bytes) {
    precondition((try? JSONReader.read(bytes))?["fingerprint"]?.string == approved.fingerprint)
  }
  guard let text = String(validating: bytes, as: UTF8.self) else { return 0 }
  if let decoded = Base64.decode(text) { precondition(Base64.encode(decoded) == text, "base64 is written otherwise") }
  if let time = RFC3339.parse(text), let written = RFC3339.format(time) {
    precondition(RFC3339.parse(written) == time, "a moment does not survive")
  }
  checkQuery(text)
  checkFilter(text)
  return 0
}

/// A filter is read or refused at a place inside it, and never accepts what the store would not find.
private func checkFilter(_ text: String) {
  let now = WallTime(unixMilliseconds: 1_700_000_000_000)
  do throws(FilterError) {
    let filter = try RequestFilter(text, now: now)
    guard let identifier = try? TaskIdentifier("com.example.a") else { return }
    var request = TaskRequest(identifier: identifier)
    request.payload = Array(#"{"account": ["x", {"id": 7}], "b": null}"#.utf8)
    request.tags = ["nightly"]
    let record = RequestRecord(id: RequestID(sequence: 1, origin: 1), request: request, state: .pending, due: now, submitted: now)
    if filter.accepts(record) { precondition(filter.scan.covers(record), "accepted, and not searched for") }
  } catch { precondition((1...text.unicodeScalars.count + 1).contains(error.position), "the place is outside of the filter") }
  do throws(FilterError) { _ = try RunQuery(filter: text, now: now) } catch {
    precondition((1...text.unicodeScalars.count + 1).contains(error.position), "the place is outside of the filter")
  }
}

/// What is read from a value's own range is the same value.
private func check(_ node: JSONNode, _ bytes: [UInt8]) {
  precondition((try? JSONReader.read(Array(bytes[node.range])))?.kind == node.kind, "a value is another by itself")
  for element in node.array ?? [] {
    precondition(element.range.lowerBound > node.range.lowerBound && element.range.upperBound < node.range.upperBound)
  }
}

private func checkQuery(_ text: String) {
  guard let query = try? QueryParameters(text, known: ["state", "identifier", "limit", "request"]) else { return }
  if let limit = try? query.limit(preset: 1) { precondition((1...QueryParameters.maximumLimit).contains(limit)) }
  _ = try? query.identifier()
  _ = try? query.id("request", ofA: "request") as RequestID?
  _ = try? query.states()
}
