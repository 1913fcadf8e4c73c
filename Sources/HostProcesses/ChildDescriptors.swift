public import CCrashCell
import CTaskHostSystem
import Glibc

/// Descriptors for a child: closed when this goes out of use, unless they were taken. One thread uses it.
public final class ChildDescriptors {
  private var open: [Int32] = []
  private let first: Int32

  /// None yet.
  ///
  /// - Parameter count: How many descriptors a child gets at most; ``high(_:_:)`` keeps clear of their numbers.
  public init(atMost count: Int32 = 16) { first = max(16, count) }

  deinit { for descriptor in open { close(descriptor) } }

  /// Closes it when nobody has taken it by then. Returns it.
  public func own(_ descriptor: Int32) -> Int32 {
    open.append(descriptor)
    return descriptor
  }

  /// Gives it away: it is the caller's to close.
  public func take(_ descriptor: Int32) -> Int32 {
    open.removeAll { $0 == descriptor }
    return descriptor
  }

  /// In place of an owned descriptor one with a number above those that a child gets, so that none overwrites another on the way there.
  ///
  /// - Parameter what: What it is of, for the error; -1 as `descriptor` is one, of which `errno` tells.
  public func high(_ descriptor: Int32, _ what: String) throws(SystemFailure) -> Int32 {
    guard descriptor >= 0 else { throw SystemFailure(what) }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
    guard copy >= 0 else { throw SystemFailure(what) }
    close(take(descriptor))
    return own(copy)
  }

  /// A pipe whose end to write is for a child; a read of the other answers at once.
  public func pipe() throws(SystemFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemFailure("a pipe") }
    let (reading, writing) = (own(ends[0]), own(ends[1]))
    _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
    _ = taskhost_set_nonblocking(reading)
    return (reading, try high(writing, "a pipe"))
  }

  /// Memory shared with a child, which it can neither cut off nor extend: where it notes what it is doing when it crashes.
  ///
  /// - Returns: The descriptor for the child, and the memory, which is the caller's to unmap.
  public func crashCell() throws(SystemFailure) -> (descriptor: Int32, memory: UnsafeMutablePointer<taskhost_crash_cell>) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let descriptor = try high(own(taskhost_system_memfd("taskhost-crash")), "a crash cell")
    guard ftruncate(descriptor, size) == 0, taskhost_system_seal_size(descriptor) == 0,
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw SystemFailure("a crash cell") }
    return (descriptor, memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1))
  }
}
