import Glibc
import Testing

@testable import HTTPTransfer

/// Bodies that are read from a file while they are sent.
@Suite("Upload") struct UploadTests {
  private func withFile(_ text: String, _ body: (Int32) throws -> Void) throws {
    var path = Array("/tmp/http-transfer-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    try #require(file >= 0)
    defer { close(file) }
    unlink(path)
    try #require(write(file, text, text.utf8.count) == text.utf8.count)
    try body(file)
  }

  private func send(_ request: TransferRequest) throws -> TransferHead {
    let group = try TransferGroup()
    try group.add(request, id: 1) { _, _ in true }
    while true {
      for ended in try group.step(milliseconds: 10_000) { return try ended.result.get() }
    }
  }

  @Test("a part of a file is sent, and its position stays as it is")
  func part() throws {
    let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    try withFile("0123456789") { (file) throws in
      var request = TransferRequest(url: server.address)
      request.method = "PATCH"
      request.upload = .init(descriptor: file, start: 3, size: 4)
      #expect(try send(request).status == 200)
      #expect(try #require(server.requests.last).hasSuffix("\r\n\r\n3456"))
      #expect(lseek(file, 0, SEEK_CUR) == 10)
    }
  }

  @Test("a file that became shorter ends the upload, and says so")
  func shorter() throws {
    let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    try withFile("0123456789") { (file) throws in
      var request = TransferRequest(url: server.address)
      request.method = "PUT"
      request.upload = .init(descriptor: file, size: 11)
      #expect(throws: TransferFailure.unreadable(code: 0)) { try send(request) }
    }
    var request = TransferRequest(url: server.address)
    request.method = "PUT"
    request.upload = .init(descriptor: -1, size: 11)
    #expect(throws: TransferFailure.unreadable(code: EBADF)) { try send(request) }
  }

  @Test("interim answers are told, whoever gives the last one")
  func interim() throws {
    let server = try RawServer(
      "HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /here\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
        + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let group = try TransferGroup()
    var told: [TransferHead] = []
    try group.add(TransferRequest(url: server.address + "/x"), id: 1, interim: { told.append($0) }) { _, _ in true }
    while try group.step(milliseconds: 10_000).isEmpty {}
    #expect(told.map(\.status) == [104, 102])
    #expect(told.first?.values("location") == ["/here"] && told.first?.url == server.address + "/x")
  }
}
