import Glibc

/// Kernel notifications that tasks wait for a processor or disk.
///
/// The kernel reports that a machine becomes busy, every two seconds, but never that it becomes idle. So the monitor listens only while the
/// machine is idle.
final class PressureTriggers {
  private let directory: String
  /// The waiting time within ``window`` that triggers a report, in milliseconds.
  private let threshold: Int
  private(set) var descriptors: [Int32] = []
  private var isRefused = false

  /// Milliseconds; the shortest window that the kernel grants to users other than root.
  private static let window = 2000

  init(directory: String, percent: Double) {
    self.directory = directory
    threshold = max(1, min(Self.window, Int(Double(Self.window) * max(0, min(100, percent)) / 100)))
  }

  deinit { close() }

  /// Starts or stops listening. If the kernel grants no trigger, load and pressure are read periodically only.
  func watch(_ wanted: Bool) {
    guard wanted else { return close() }
    // A substitute file would be overwritten.
    guard descriptors.isEmpty, !isRefused, directory == ConditionSources.kernelPressure else { return }
    descriptors = ["cpu", "io"].compactMap { open("\(directory)/\($0)") }
  }

  /// Stops listening for good: kernel errors would wake the thread endlessly.
  func giveUp() {
    isRefused = true
    close()
  }

  private func open(_ path: String) -> Int32? {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    // The kernel requires the final zero byte.
    let order = Array("some \(threshold * 1000) \(Self.window * 1000)".utf8) + [0]
    guard write(descriptor, order, order.count) == order.count else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }

  private func close() {
    for descriptor in descriptors { Glibc.close(descriptor) }
    descriptors = []
  }
}
