import Glibc
import HostThreads
import PluginTrust
import StrictText
import TaskModel

/// What operators have approved, kept in a file of the state directory, which is replaced as a whole.
///
/// A file that cannot be read or understood approves nothing, and is not replaced: it may be one of a newer version, or the only record of what
/// was approved.
final class ApprovalBook: Sendable {
  static let format: Int64 = 1
  private static let largest = 16 << 20
  /// So that the file stays readable; a host has far fewer plugins.
  private static let most = 10_000

  let path: String
  /// Held while the file changes.
  private let changing = Guarded(())

  init(path: String) { self.path = path }

  /// The approvals, by the first identifier of each plugin; empty if there is no file. Blocks briefly.
  func read() throws(ApprovalBookError) -> [TaskIdentifier: Approval] {
    let bytes: [UInt8]
    do throws(SigningFlaw) {
      bytes = try SmallFile.read(path, trust: .ownedInTrustedDirectory(by: geteuid()), atMost: Self.largest)
    } catch SmallFile.missing { return [:] } catch { throw self.error("it \(error.observed)") }
    do throws(ApprovalFlaw) { return try Self.parse(bytes) } catch { throw self.error(error.clause) }
  }

  static func parse(_ bytes: [UInt8]) throws(ApprovalFlaw) -> [TaskIdentifier: Approval] {
    let node: JSONNode
    do { node = try JSONReader.read(bytes) } catch { throw ApprovalFlaw("it is damaged: \(error)") }
    guard let format = node["format"]?.integer else { throw ApprovalFlaw("it has no format, so it is not a file of approvals") }
    guard format == Self.format else { throw ApprovalFlaw("it has the format \(format), and this taskhost reads \(Self.format)") }
    guard let nodes = node["approvals"]?.array, nodes.count <= most else { throw ApprovalFlaw("it has no list of approvals") }
    var approvals: [TaskIdentifier: Approval] = [:]
    for (index, node) in nodes.enumerated() {
      let approval: Approval
      do throws(ApprovalFlaw) { approval = try Approval(reading: node) } catch {
        throw ApprovalFlaw("approval \(index + 1): \(error.clause)")
      }
      guard approvals.updateValue(approval, forKey: approval.identifier) == nil else {
        throw ApprovalFlaw("\(approval.identifier) is there twice")
      }
    }
    return approvals
  }

  /// Records an approval in place of the plugin's earlier one. Durable when it returns; blocks for that.
  func record(_ approval: Approval) throws(ApprovalBookError) {
    try changing.withLock { (_: inout Void) throws(ApprovalBookError) in
      var approvals = try read()
      approvals[approval.identifier] = approval
      guard approvals.count <= Self.most else { throw error("it has \(Self.most) approvals, which are the most") }
      try write(approvals.values.sorted { $0.identifier < $1.identifier })
    }
  }

  private func write(_ approvals: [Approval]) throws(ApprovalBookError) {
    let bytes = JSONWriter.object(reservingCapacity: 256 + approvals.count * 512) { writer in
      writer.member("format", Self.format)
      writer.array("approvals", approvals) { $1.write(to: &$0) }
    }
    let new = path + ".new"
    // Only the holder of the lock writes this name: what is there was left by a host that was killed.
    unlink(new)
    do throws(WholeFile.Failure) {
      try WholeFile.replace(bytes + [UInt8(ascii: "\n")], at: path, by: new, mode: 0o600)
      try WholeFile.settle(path)
    } catch { throw ApprovalBookError(path: path, observed: "\(error)", remedy: "free some space, or check the state directory's mode") }
  }

  private func error(_ observed: String) -> ApprovalBookError {
    ApprovalBookError(
      path: path, observed: observed,
      remedy: "put the file back from a copy, or move it away and approve the plugins again (taskhost plugins approve --all)")
  }
}

/// Why approvals cannot be read or recorded.
struct ApprovalBookError: Error, CustomStringConvertible {
  let path: String
  let observed: String
  let remedy: String

  var description: String { "the approvals in \(path): \(observed): \(remedy)" }
}
