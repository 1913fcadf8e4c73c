import Glibc
import HostThreads
public import Logging
public import TaskModel

/// A host's event sockets: every datagram is an event. Idle sockets wake no thread.
public final class EventSockets: Sendable {
  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: The event's name.
  ///   - payload: The datagram's bytes unchanged; nil if it is empty.
  ///   - recorded: Call it once, on any thread, with whether the event's effect is durable.
  public typealias Sink = @Sendable (_ event: String, _ payload: [UInt8]?, _ recorded: @escaping @Sendable (Bool) -> Void) -> Void

  private struct Opened: Sendable {
    let description: EventSocket
    let socket: BoundSocket
    let flow: EventSocketFlow

    var counts: EventSocketCounts {
      var counts = flow.tally.counts
      counts.overflowed += socket.kernelDrops
      return counts
    }
  }

  private let opened: [Opened]
  private let reader: EventSocketReader
  private let log: Logger

  private static let patience = Duration.seconds(5)

  /// Opens all `sockets` (at least one) or none. Nothing is read before ``start(_:)``; until then datagrams wait in the kernel.
  public init(_ sockets: [EventSocket], log: Logger) throws(EventSocketError) {
    var opened: [Opened] = []
    do throws(EventSocketError) {
      for socket in sockets {
        let flow = EventSocketFlow(event: socket.event, tally: EventSocketTally(socket, log: log))
        opened.append(Opened(description: socket, socket: try BoundSocket(socket), flow: flow))
      }
      let sources = opened.map { EventSocketReader.Source(name: $0.description.event, socket: $0.socket, flow: $0.flow) }
      guard let reader = EventSocketReader(sources, log: log) else {
        throw EventSocketError(
          socket: sockets.first ?? EventSocket(event: "", address: .udp(host: "", port: 0)), problem: .system("\(ErrorNumber.last)"))
      }
      self.reader = reader
    } catch {
      for socket in opened { socket.socket.unpublish() }
      throw error
    }
    self.opened = opened
    self.log = log
    for socket in opened {
      var shown = socket.description
      if case .udp(let host, _) = shown.address, let port = socket.socket.port { shown.address = .udp(host: host, port: port) }
      log.info("event socket open", metadata: ["event": "\(shown.event)", "socket": "\(shown)"])
      guard shown.isOpenToOthers else { continue }
      log.warning(
        "event \(shown.event): everyone who reaches \(shown) may send it, from an address that may be false: use 127.0.0.1 or ::1, or a firewall"
      )
    }
  }

  /// Restores socket files that are removed from now on.
  ///
  /// - Parameter watch: Called with each file.
  public func keep(watch: @escaping ControlServer.Watch) {
    for socket in opened {
      guard case .unix(let place) = socket.description.address else { continue }
      let renewal = SocketRenewal(of: place.path, name: "event \(socket.description.event): its socket", watch: watch, log: log)
      watch(place.path) { self.look(after: socket, renewal) }
    }
  }

  private func look(after socket: Opened, _ renewal: SocketRenewal) {
    if socket.socket.look(renewal) { renew(socket, renewal) }
  }

  private func renew(_ socket: Opened, _ renewal: SocketRenewal) {
    do throws(EventSocketError) {
      guard try socket.socket.renew() else { return }
      reader.wake()
      renewal.succeed()
    } catch { renewal.fail(error, changed: { self.look(after: socket, renewal) }, retry: { self.renew(socket, renewal) }) }
  }

  /// Takes the datagrams that arrived since the sockets were opened, and all later ones. Call it once.
  public func start(_ sink: @escaping Sink) {
    for socket in opened { socket.flow.start(sink) }
    reader.start()
  }

  /// The datagrams dropped so far.
  public var counts: EventSocketCounts { opened.reduce(EventSocketCounts()) { $0 + $1.counts } }

  /// One problem for each socket that has dropped datagrams or is no longer read.
  public var problems: [Problem] {
    let failures = reader.failures
    return opened.flatMap { socket in
      let name = "event \(socket.description.event) (\(socket.description))"
      let event = socket.description.event
      var problems: [Problem] = []
      if let failure = failures[event] {
        problems.append(
          Problem(
            .eventSocket, of: event, "\(name): its socket is not read any more: \(failure.reason)", remedy: "restart the host",
            since: failure.since))
      }
      let sentences = socket.counts.sentences
      guard !sentences.isEmpty else { return problems }
      problems.append(
        Problem(
          .eventSocket, of: event, "\(name): \(sentences.joined(separator: "; "))",
          remedy: "the counts are of this host process; send less, or submit through the control socket, which answers", needsAction: false)
      )
      return problems
    }
  }

  /// The ports of the UDP sockets, by event name.
  public var ports: [String: Int] {
    var ports: [String: Int] = [:]
    for socket in opened { ports[socket.description.event] = socket.socket.port }
    return ports
  }

  /// Removes the sockets' files, reads what has arrived, and waits a few seconds for it to be recorded. May be called again.
  public func close() async {
    for socket in opened { socket.socket.unpublish() }
    await reader.stop()
    let late = Task { [opened] in
      try await Task.sleep(for: Self.patience)
      for socket in opened { socket.flow.giveUp() }
    }
    for socket in opened { await socket.flow.rest() }
    late.cancel()
  }
}
