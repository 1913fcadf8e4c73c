import Glibc
import HostThreads
public import Logging
public import TaskModel

/// The event sockets of a host: whatever arrives on one is an event. Idle ones cost nothing, no thread of the host wakes for them.
public final class EventSockets: Sendable {
  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: Its name.
  ///   - payload: The datagram's bytes as they came; nil: it was empty.
  ///   - recorded: To be called once, on any thread: whether what the event did is durable.
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

  /// How long ``close()`` waits for the scheduler.
  private static let patience = Duration.seconds(5)

  /// Opens all of `sockets`, at least one, or none. Nothing is read from them before ``start(_:)``: what comes meanwhile waits in the
  /// kernel.
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

  /// Brings the files of sockets back that somebody removes from now on.
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

  /// Takes what has come since they were opened, and what comes from now on. Called once.
  public func start(_ sink: @escaping Sink) {
    for socket in opened { socket.flow.start(sink) }
    reader.start()
  }

  /// What was dropped so far.
  public var counts: EventSocketCounts { opened.reduce(EventSocketCounts()) { $0 + $1.counts } }

  /// A problem for each socket that has dropped something or is not read any more.
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

  /// The ports of the UDP sockets by the names of their events.
  public var ports: [String: Int] {
    var ports: [String: Int] = [:]
    for socket in opened { ports[socket.description.event] = socket.socket.port }
    return ports
  }

  /// Removes the sockets' files, reads what has come, and waits a few seconds at most until that is recorded. May be called more than once.
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
