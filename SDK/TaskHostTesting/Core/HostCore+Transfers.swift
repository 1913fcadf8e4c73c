import MemoryStore
import RecordJSON
import TaskModel
import TaskScheduler

/// Transfers of plugins: nothing is transferred; a test says what becomes of each.
extension HostCore {
  /// What the plugin of a run may have transferred, with the lock held.
  func transferPermission(_ own: [TaskIdentifier], _ run: RunReference) throws(CallFailure) -> TransferPermission {
    guard options.mayTransfer else {
      throw CallFailure(.notPermitted, "\(run.identifier) may have nothing transferred: set mayTransfer of the test host's options")
    }
    let folder: String
    do throws(TestHostError) {
      folder = try DataDirectory.folder(of: run.identifier.rawValue, in: DataDirectory.folder(of: "~transfers", in: dataDirectory))
    } catch { throw CallFailure(.unavailable, error.description) }
    return TransferPermission(identifier: run.identifier, completions: own, folder: folder, network: .connect) { _ in true }
  }

  /// A live transfer of a plugin, with the lock held.
  func liveTransfer(_ id: RequestID, _ own: [TaskIdentifier]) throws(CallFailure) -> RequestRecord {
    let record: RequestRecord?
    do throws(StoreError) { record = try store.request(id) } catch { throw CallFailure(.unavailable, error.description) }
    guard let record, !record.state.isFinal, TransferPermission.owns(record, own) else {
      throw CallFailure(.notFound, "the plugin has no live transfer \(id)")
    }
    return record
  }
}
