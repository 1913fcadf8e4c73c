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
  private let failed: Guarded<(at: MonotonicTime, error: FleetError)?>

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
    failed = Guarded(failure.map { (SystemClock.now, $0) })
  }

  /// Whether the fleet has requests of one of these identifiers.
  func shares(_ identifiers: [TaskIdentifier]) -> Bool { identifiers.contains(where: self.identifiers.contains) }

  /// The waiting requests of these identifiers, the host's own and those of the fleet, as ``RequestStore/pendingRequests(of:after:)`` gives them.
  /// Blocks for some seconds at most.
  func pendingRequests(
    of identifiers: [TaskIdentifier], after request: RequestID?, besides own: any RequestStore
  ) throws(StoreError) -> PendingPage {
    if let failed = failed.withLock({ $0 }), SystemClock.now - failed.at < Self.failureCounts { throw .away("\(failed.error)") }
    let records: [RequestRecord]
    let payloads: [RequestID: [UInt8]]
    do {
      let session = try FleetSession(address, name: name, patience: Self.patience)
      let scan = RequestView.waiting(of: identifiers, after: request, limit: PendingPage.requestLimit)
      records = try scan.all { (scan) throws(StoreError) in
        let shared: ScannedRequests
        do throws(FleetError) { shared = try session.scan(scan) { _ in true } } catch { throw .away("\(error)") }
        return try own.scan(scan, accepts: { _ in true }).merged(with: shared, by: scan)
      }
      payloads = try session.payloads(of: records.map(\.id).filter { $0.origin == origin })
    } catch let error as FleetError {
      failed.withLock { $0 = (SystemClock.now, error) }
      throw .away("\(error)")
    } catch { throw error as? StoreError ?? .other("\(error)") }
    do { return try PendingPage(of: records) { id in try payloads[id] ?? own.request(id)?.request.payload ?? [] } } catch {
      throw error as? StoreError ?? .other("\(error)")
    }
  }
}
