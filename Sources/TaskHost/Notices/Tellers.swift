import Logging
import TaskModel

/// Who is told from memory of what happens: people, monitors, a collector of traces.
struct Tellers: Sendable {
  private(set) var notifier: Notifier?
  private(set) var pinger: Pinger?
  private(set) var exporter: SpanExporter?

  /// Nobody.
  init() {}

  /// Begins what the configuration asks for.
  init(_ configuration: HostConfiguration, contracts: [HandlerContract], log: Logger) throws(HostFailure) {
    do throws(HostFailure) {
      notifier = try Notifier(configuration, contracts: contracts, log: log)
      pinger = try Pinger(configuration, log: log)
      exporter = try SpanExporter(configuration, log: log)
    } catch {
      stop()
      throw error
    }
  }

  /// Those of another configuration: who is told the same as before goes on, and what waits there is still told.
  func next(
    _ configuration: HostConfiguration, contracts: [HandlerContract], after before: HostConfiguration, _ contractsBefore: [HandlerContract],
    log: Logger
  ) throws(HostFailure) -> Tellers {
    var next = self
    let isSameNotifier = configuration.notify == before.notify && Self.names(contracts) == Self.names(contractsBefore)
    let isSamePinger = configuration.pings == before.pings
    let isSameExporter = configuration.traces == before.traces && configuration.redact == before.redact
    do throws(HostFailure) {
      if !isSameNotifier { next.notifier = try Notifier(configuration, contracts: contracts, log: log) }
      if !isSamePinger { next.pinger = try Pinger(configuration, log: log) }
      if !isSameExporter { next.exporter = try SpanExporter(configuration, log: log) }
    } catch {
      next.stop(except: self)
      throw error
    }
    return next
  }

  private static func names(_ contracts: [HandlerContract]) -> Set<[String]> {
    Set(contracts.map { [$0.identifier.rawValue, $0.kind.rawValue, $0.displayName ?? ""] })
  }

  /// Ends all that `others` do not have. Blocks until their threads have ended; what waits is not told.
  func stop(except others: Tellers = Tellers()) {
    if notifier !== others.notifier { notifier?.stop() }
    if pinger !== others.pinger { pinger?.stop() }
    if exporter !== others.exporter { exporter?.stop() }
  }
}
