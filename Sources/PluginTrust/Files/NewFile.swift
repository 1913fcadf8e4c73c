import Glibc
import HostThreads
import StrictText

/// Writes key and signature files completely or not at all.
enum NewFile {
  /// Fails if the file exists.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(SigningFileError) {
    do throws(WholeFile.Failure) { try WholeFile.make(bytes, at: path, mode: mode) } catch {
      throw error.reason.code == EEXIST
        ? SigningFileError(path, "already exists", "Choose another name, or remove the file if it is no longer needed.")
        : unwritable(path, error)
    }
  }

  /// Creates the file or replaces it atomically.
  static func replace(_ bytes: [UInt8], at path: String, mode: mode_t) throws(SigningFileError) {
    let temporary = "\(path).\(Hex.text((0..<8).map { _ in UInt8.random(in: 0...255) }))"
    do throws(WholeFile.Failure) { try WholeFile.replace(bytes, at: path, by: temporary, mode: mode) } catch {
      throw unwritable(path, error)
    }
  }

  private static func unwritable(_ path: String, _ failure: WholeFile.Failure) -> SigningFileError {
    SigningFileError(path, "cannot be written: \(failure.reason)", "Check the directory and the disk.")
  }
}
