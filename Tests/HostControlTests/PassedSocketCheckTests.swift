import Glibc
import Testing

@testable import HostControl

/// What a service manager may pass.
@Suite("Passed sockets") struct PassedSocketCheckTests {
  @Test("only what is meant for this process counts")
  func process() throws {
    #expect(try PassedSockets.count(process: nil, number: nil, own: 7) == nil)
    #expect(try PassedSockets.count(process: "7", number: nil, own: 7) == nil)
    #expect(try PassedSockets.count(process: "8", number: "1", own: 7) == nil)
    #expect(try PassedSockets.count(process: "8", number: "x", own: 7) == nil)
    #expect(try PassedSockets.count(process: "7x", number: "1", own: 7) == nil)
    #expect(try PassedSockets.count(process: "7", number: "0", own: 7) == nil)
    #expect(try PassedSockets.count(process: "7", number: "1", own: 7) == 1)
  }

  @Test("a count that is none, or more than one socket, is refused", arguments: ["", "-1", "x", "2", "1000", "9999999999999", " 1", "+1"])
  func counts(_ text: String) {
    #expect(throws: PassedSockets.Flaw.self) { try PassedSockets.count(process: "7", number: text, own: 7) }
  }

  @Test("one name for each, and that is control")
  func names() throws {
    try PassedSockets.check(names: nil, count: 1)
    try PassedSockets.check(names: "", count: 1)
    try PassedSockets.check(names: "control", count: 1)
    for names in ["control:control", "taskhost.socket", "Control", "control:", ":"] {
      #expect(throws: PassedSockets.Flaw.self) { try PassedSockets.check(names: names, count: 1) }
    }
  }

  @Test("a file, a pipe, a datagram socket, one of the network or one that does not listen is no control socket")
  func kinds() throws {
    func refused(_ descriptor: Int32) {
      #expect(descriptor >= 0)
      #expect(throws: PassedSockets.Flaw.self) { try PassedSockets.check(descriptor) }
      close(descriptor)
    }
    refused(open("/dev/null", O_RDONLY))
    refused(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    refused(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
    let network = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #expect(listen(network, 1) == 0)
    refused(network)
    #expect(throws: PassedSockets.Flaw.self) { try PassedSockets.check(-1) }
  }
}
