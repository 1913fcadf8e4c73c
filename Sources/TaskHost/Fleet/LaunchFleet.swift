import FleetStore
import HostThreads
import TaskModel

/// The fleet as launching plugins see it, before the host joins it: what waits there of their identifiers.
final class LaunchFleet: Sendable {
  private let address: String
  private let name: String
  private let origin: UInt64
  private let identifiers: Set<TaskIdentifier>
  /// When the database could not be asked last, and why: plugins that launch one after the other do not all wait for the same.
  private let failed: Guarded<(at: MonotonicTime, error: StoreError)?>

  /// How long that counts, and how long an answer may take.
  private static let failureCounts = Duration.seconds(30)
  private static let patience = Duration.seconds(5)

  /// Nil if the host is in no fleet.
  ///
  /// - Parameters:
  ///   - origin: What the ids of the fleet's requests share.
  ///   - failure: Why the database could not be asked just now.
  init?(_ configuration: HostConfiguration, origin: UInt64?, failure: FleetError?) {
    guard let origin, let address = configuration.fleet.url else { return nil }
    (self.address, self.origin) = (address, origin)
    (name, identifiers) = (configuration.fleetName, configuration.fleetIdentifiers)
    failed = Guarded(failure.map { (SystemClock.now, .away("\($0)")) })
  }

  /// Whether the fleet has requests of one of these identifiers.
  func shares(_ identifiers: [TaskIdentifier]) -> Bool { identifiers.contains(where: self.identifiers.contains) }

  /// The waiting requests of these identifiers, the host's own and those of the fleet, as ``RequestStore/pendingRequests(of:after:)`` gives them.
  /// Blocks for some seconds at most.
  func pendingRequests(
    of identifiers: [TaskIdentifier], after request: RequestID?, besides own: any RequestStore
  ) throws(StoreError) -> PendingPage {
    if let failed = failed.withLock({ $0 }), SystemClock.now - failed.at < Self.failureCounts { throw failed.error }
    do throws(StoreError) { return try page(of: identifiers, after: request, besides: own) } catch {
      if case .away = error { failed.withLock { $0 = (SystemClock.now, error) } }
      throw error
    }
  }

  private func page(
    of identifiers: [TaskIdentifier], after request: RequestID?, besides own: any RequestStore
  ) throws(StoreError) -> PendingPage {
    let session = try Self.asking { () throws(FleetError) in try FleetSession(address, name: name, patience: Self.patience) }
    let scan = RequestView.waiting(of: identifiers, after: request, limit: PendingPage.requestLimit)
    let records = try scan.all { (scan) throws(StoreError) in
      let shared = try Self.asking { () throws(FleetError) in try session.scan(scan) { _ in true } }
      return try own.scan(scan, accepts: { _ in true }).merged(with: shared, by: scan)
    }
    let ids = records.map(\.id).filter { $0.origin == origin }
    let payloads = try Self.asking { () throws(FleetError) in try session.payloads(of: ids) }
    return try PendingPage(of: records, payloads, besides: own)
  }

  private static func asking<Value>(_ body: () throws(FleetError) -> Value) throws(StoreError) -> Value {
    do throws(FleetError) { return try body() } catch { throw .away("\(error)") }
  }
}
