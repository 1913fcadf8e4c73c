import WorkerSandbox

/// What the kernel under the tests can do.
enum Kernel {
  static let landlockABI = WorkerSandbox.support(landlockLimit: nil).landlockABI

  /// Every ABI that can be tried here.
  static var abis: [Int] { landlockABI == 0 ? [] : Array(1...landlockABI) }
}
