internal import CCleanup
internal import Glibc
internal import TaskHostSDK

/// A file claimed for removal. If the kernel grants a lease, no other process can open the file while this object lives.
final class FileClaim {
  private let descriptor: Descriptor
  private let answer: Int32
  let inode: UInt64

  /// - Parameter takesLease: False for a dry run, which takes no lock and no lease, because others could notice them.
  /// - Throws: The error of opening the file.
  init(_ name: [UInt8], in directory: DirectoryHandle, takesLease: Bool) throws(SystemError) {
    var canRead = true
    do throws(SystemError) {
      descriptor = try directory.openFile(name, reference: false)
    } catch  where error.code == EACCES || error.code == EPERM {
      descriptor = try directory.openFile(name, reference: true)
      canRead = false
    }
    inode = try FileStatus(descriptor: descriptor.raw).identity.inode
    if !canRead {
      answer = Int32(CLEANUP_CLAIM_UNKNOWN)
    } else if takesLease {
      answer = taskhost_cleanup_claim(descriptor.raw)
    } else {
      answer = Int32(taskhost_cleanup_is_record_locked(descriptor.raw) != 0 ? CLEANUP_CLAIM_IN_USE : CLEANUP_CLAIM_UNKNOWN)
    }
  }

  /// The resulting verdict; nil if the file can be removed.
  func verdict(_ use: FileUse, removesUnsure: Bool) -> RemovalVerdict? {
    switch answer {
    case Int32(CLEANUP_CLAIM_FREE): nil
    case Int32(CLEANUP_CLAIM_IN_USE): .inUse
    default: use == .unknown && !removesUnsure ? .unknownUse : nil
    }
  }
}
