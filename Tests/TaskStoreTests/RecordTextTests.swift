import StoreTestSupport
import TaskModel
import TaskStore
import Testing

/// Requests as texts, for a database that several hosts share.
@Suite("Requests as texts") struct RecordTextTests {
  @Test("requests with the same text, read one after the other, have their own ids and payloads")
  func reader() throws {
    let sample = RequestRecord.sample(1, origin: 7, payload: [1])
    var other = sample
    other.request.priority = 5
    let (text, otherText) = (Array(RecordText.text(of: sample).utf8), Array(RecordText.text(of: other).utf8))
    var reader = RecordText.RequestReader()
    for (number, priority, payload) in [(1, 0, [1]), (2, 0, []), (3, 0, [2, 3]), (4, 5, [2, 3]), (5, 0, [4])] as [(Int64, Int, [UInt8])] {
      let id = RequestID(sequence: number, origin: 7)
      let read = try reader.request(priority == 0 ? text : otherText, id: id, payload: payload)
      #expect(read.id == id && read.request.payload == payload && read.request.priority == priority && read.due == sample.due)
    }
    #expect(throws: RecordText.Flaw.self) { _ = try reader.request(Array("{}".utf8), id: sample.id, payload: []) }
    #expect(try reader.request(text, id: sample.id, payload: [1]) == sample, "what cannot be read stands for nothing")
  }
}
