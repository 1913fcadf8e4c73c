import Glibc

/// The kernel's word that something begins to wait for a processor or a disk.
///
/// It tells that a machine gets busy, never that it gets idle, and it tells it again each two seconds: so it is listened to only while the
/// machine is idle.
final class PressureTriggers {
  private let directory: String
  /// Milliseconds of waiting within ``window`` that are told.
  private let threshold: Int
  private(set) var descriptors: [Int32] = []
  private var isRefused = false

  /// Milliseconds; the shortest that the kernel grants to those who are not root, and the longest of which it is a multiple.
  private static let window = 2000

  /// Triggers at that share of time, in percent.
  init(directory: String, percent: Double) {
    self.directory = directory
    threshold = max(1, min(Self.window, Int(Double(Self.window) * max(0, min(100, percent)) / 100)))
  }

  deinit { close() }

  /// Begins or ends to listen. Where the kernel grants no trigger, load and pressure are read at times only.
  func watch(_ wanted: Bool) {
    guard wanted else { return close() }
    // A file that stands for the kernel's would be written over.
    guard descriptors.isEmpty, !isRefused, directory == ConditionSources.kernelPressure else { return }
    descriptors = ["cpu", "io"].compactMap { open("\(directory)/\($0)") }
  }

  /// Never listens again: the kernel answers with errors, which would wake without end.
  func giveUp() {
    isRefused = true
    close()
  }

  private func open(_ path: String) -> Int32? {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    // The kernel wants the zero at the end to be written too.
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
