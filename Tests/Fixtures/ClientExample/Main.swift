// The example of Documentation/clients.md; ClientExampleTests runs it against a real host.
import TaskHostClient

@main struct Example {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    // TASKHOST_SOCKET or state/control.sock; or over TCP: the address, and perhaps the authority of its certificate.
    let host =
      try arguments.first.map { try TaskHostClient(url: $0, certificateAuthority: arguments.dropFirst().first) } ?? TaskHostClient()

    let events = try await host.follow()  // everything that happens from here on
    var options = TaskHostClient.Options()
    options.tags = ["nightly"]
    let report = try await host.submit("test.script", payload: .json(#""output [1,2]; result 0""#), options: options)
    let ended = try await host.wait(report.id, timeout: .seconds(60))
    print(ended.state, ended.output.map { String(decoding: $0, as: UTF8.self) } ?? "-")
    for try await event in events where event.name == "run" {
      print("a run:", event.json.count, "bytes of JSON")
      break
    }

    let receipt = try await host.notify("test.orders", payload: .json(#"{"count": 3}"#))  // wakes what waits for that event
    print("woken: \(receipt.woken)")
    try await host.hold("writing the index", for: .seconds(30)) {  // a host that drains waits for this block
      print("held")
    }
    do {
      _ = try await host.submit("test.nobody")
    } catch { print(error.kind, error.why, error.remedy ?? "") }

    options.delay = .seconds(3600)
    let later = try await host.submit("test.script", options: options)
    print(try await host.cancel(later.id).state, try await host.request(later.id).state)
  }
}
