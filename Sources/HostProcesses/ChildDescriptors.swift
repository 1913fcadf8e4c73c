public import CCrashCell
import CTaskHostSystem
import Glibc

/// Descriptors for a child process. Those that nobody has taken are closed at deinit. Only one thread may use it.
public final class ChildDescriptors {
  private var open: [Int32] = []
  private let first: Int32

  /// Creates an empty set of descriptors.
  ///
  /// - Parameter count: The maximum number of descriptors that a child gets; ``high(_:_:)`` avoids their numbers.
  public init(atMost count: Int32 = 16) { first = max(16, count) }

  deinit { for descriptor in open { close(descriptor) } }

  /// Takes ownership of a descriptor and returns it. Closes it at deinit unless it was taken.
  public func own(_ descriptor: Int32) -> Int32 {
    open.append(descriptor)
    return descriptor
  }

  /// Releases a descriptor from ownership and returns it. The caller must close it.
  public func take(_ descriptor: Int32) -> Int32 {
    open.removeAll { $0 == descriptor }
    return descriptor
  }

  /// Replaces an owned descriptor with one whose number is above those that a child gets, so that setting up the child overwrites none of
  /// them.
  ///
  /// - Parameters:
  ///   - descriptor: An owned descriptor, or -1 if its creation failed, with the error in `errno`.
  ///   - what: What the descriptor belongs to, for the error.
  public func high(_ descriptor: Int32, _ what: String) throws(SystemFailure) -> Int32 {
    guard descriptor >= 0 else { throw SystemFailure(what) }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, first)
    guard copy >= 0 else { throw SystemFailure(what) }
    close(take(descriptor))
    return own(copy)
  }

  /// Creates a pipe whose write end is for a child. Reads from the other end do not block.
  public func pipe() throws(SystemFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemFailure("a pipe") }
    let (reading, writing) = (own(ends[0]), own(ends[1]))
    _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
    _ = taskhost_set_nonblocking(reading)
    return (reading, try high(writing, "a pipe"))
  }

  /// Creates memory shared with a child, which cannot change its size. The child notes there what it is doing, in case it crashes.
  ///
  /// - Returns: The descriptor for the child, and the memory, which the caller must unmap.
  public func crashCell() throws(SystemFailure) -> (descriptor: Int32, memory: UnsafeMutablePointer<taskhost_crash_cell>) {
    let size = MemoryLayout<taskhost_crash_cell>.size
    let descriptor = try high(own(taskhost_system_memfd("taskhost-crash")), "a crash cell")
    guard ftruncate(descriptor, size) == 0, taskhost_system_seal_size(descriptor) == 0,
      let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw SystemFailure("a crash cell") }
    return (descriptor, memory.bindMemory(to: taskhost_crash_cell.self, capacity: 1))
  }
}
