import Glibc
import GRDB
import HostThreads
import TaskModel

/// Why a command about a store's files failed. Whatever it was to replace is as it was.
public struct StoreCareError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the file concerned; nil if `observed` says it.
  public let path: String?
  /// What was seen, and why that is wrong.
  public let observed: String
  /// What to do; nil if `observed` says it.
  public let remedy: String?

  /// Creates an error.
  public init(_ path: String?, _ observed: String, remedy: String? = nil) {
    self.path = path
    self.observed = observed
    self.remedy = remedy
  }

  /// The path, what was seen and what to do, as a sentence.
  public var description: String { (path.map { "\($0): " } ?? "") + observed + (remedy.map { ": \($0)" } ?? "") }
}

extension StoreCareError {
  /// Converts an error of a database at `path`.
  init(_ path: String, _ error: any Error) {
    if let error = error as? StoreCareError {
      self = error
      return
    }
    let store = StoreError(error)
    switch store {
    case .corrupt(let detail):
      self.init(path, "it is damaged, or not a store (\(detail))", remedy: "restore a backup: taskhost store restore FILE")
    case .full(let detail): self.init(path, "the disk is full (\(detail))", remedy: "free some space, or name a file elsewhere")
    case .readOnly(let detail):
      self.init(path, "cannot be opened or written (\(detail))", remedy: "check the owner and mode of the file and its folder")
    case .locked(let detail): self.init(path, "another process holds it (\(detail))", remedy: "try again later")
    case .other(let detail): self.init(path, detail)
    default: self.init(path, store.observed, remedy: store.remedy)
    }
  }

  /// Converts an error of the system.
  init(_ path: String, _ what: String, _ reason: ErrorNumber) {
    let remedy: String? =
      switch reason.code {
      case ENOSPC, EDQUOT: "free some space, or name a file elsewhere"
      case EFBIG: FileSizeLimit.remedy
      case EACCES, EPERM: "check the owner and mode of the file and its folder"
      case EROFS: "name a file on a file system that is mounted writable"
      case ENOENT, ENOTDIR: "name a file in a folder that exists"
      default: nil
      }
    self.init(path, "\(what): \(reason)", remedy: remedy)
  }

  /// Converts an error of writing a whole file.
  init(_ failure: WholeFile.Failure) { self.init(failure.path, failure.observed, failure.reason) }
}

/// A step of a command about a store, for a progress display.
public struct StoreStep: Sendable, Hashable {
  /// What is being done, such as "copying".
  public let what: String
  /// How much of it is done, in percent; nil if that is unknown.
  public let percent: Int?

  /// Takes a step's progress.
  public typealias Observer = (StoreStep) -> Void
}

extension StoreStep {
  /// A part of a known number of things.
  package init(_ what: String, done: Int, of total: Int) {
    self.init(what: what, percent: total > 0 ? Int((Double(done) / Double(total) * 100).rounded(.down)) : nil)
  }
}
