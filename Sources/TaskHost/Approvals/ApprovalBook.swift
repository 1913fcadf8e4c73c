import Glibc
import HostThreads
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

  /// The approvals by the first identifiers of the plugins; none if there is no file. Blocks briefly.
  func read() throws(ApprovalBookError) -> [TaskIdentifier: Approval] {
    // Opening a pipe that nobody writes to must not block.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [:] }
      throw error(errno == ELOOP ? "it is a symbolic link" : "\(ErrorNumber.last)")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw error("\(ErrorNumber.last)") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw error("it is not a regular file") }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw error("user \(status.st_uid) owns it") }
    guard status.st_mode & 0o022 == 0 else { throw error("other users may write it") }
    let bytes: [UInt8]
    do { bytes = try WholeTransfer.read(from: descriptor, atMost: Self.largest + 1) } catch { throw self.error("\(error)") }
    guard bytes.count <= Self.largest else { throw error("it has more than \(Self.largest) bytes") }
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
