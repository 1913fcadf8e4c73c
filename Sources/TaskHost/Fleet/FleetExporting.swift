package import FleetStore
import TaskModel
package import TaskStore

/// Writes what a fleet has as an archive of a store: `taskhost fleet export`.
package enum FleetExporting {
  /// Why nothing was exported.
  package enum Failure: Error, Sendable {
    case archive(StoreCareError)
    case fleet(FleetError)
    /// What is exported could run, or change, at the same time.
    case unrest(FleetUnrest)
  }

  /// Exports a fleet without hosts, as it is at one moment.
  ///
  /// - Parameters:
  ///   - path: The file, which gets mode 0600; nil writes to `sink`.
  ///   - sink: Gets the bytes in order, a few lines at a time.
  package static func run(
    _ address: String, program: String?, toFile path: String?, or sink: @escaping ([UInt8]) throws(StoreCareError) -> Void,
    _ step: StoreStep.Observer
  ) throws(Failure) -> StoreExport.Result {
    do {
      let session = try FleetSession(address, name: "fleet export", patience: .seconds(600))
      let unrest = try session.unrest()
      guard unrest.isNone else { throw Failure.unrest(unrest) }
      guard let path else { return try run(session, program: program, to: sink, step) }
      return try StoreExport.write(toFile: path) { try run(session, program: program, to: $0, step) }
    } catch let failure as Failure {
      throw failure
    } catch let error as FleetError {
      throw .fleet(error)
    } catch let error as StoreCareError {
      throw .archive(error)
    } catch { throw .archive(StoreCareError(path, "\(error)")) }
  }

  private static func run(
    _ session: FleetSession, program: String?, to sink: @escaping ([UInt8]) throws(StoreCareError) -> Void, _ step: StoreStep.Observer
  ) throws -> StoreExport.Result {
    let archive = ArchiveWriter { try sink($0) }
    let exported = try session.export(to: archive, program: program) { step(StoreStep("exporting", done: $0, of: $1)) }
    // Applications submit without a host, and somebody may have started one.
    let unrest = try session.unrest(since: exported.live, at: exported.at)
    guard unrest.isNone else { throw Failure.unrest(unrest) }
    return StoreExport.Result(requests: exported.count, runs: 0, lines: archive.lines)
  }
}
