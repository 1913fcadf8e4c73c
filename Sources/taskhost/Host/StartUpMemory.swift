import CProgramCode
import Glibc

/// The program code and constants that a host needs only at start: more than a third of its memory while it is idle.
enum StartUpMemory {
  /// Gives it back.
  ///
  /// - Parameter excluded: Folders to leave alone, because a plugin's author may have changed a file since it was loaded.
  static func giveBack(exceptBelow excluded: [String]) {
    let folders = excluded.compactMap { strdup($0) }
    defer { for folder in folders { free(folder) } }
    folders.map { UnsafePointer($0) as UnsafePointer<CChar>? }.withUnsafeBufferPointer {
      taskhost_program_code_give_back($0.baseAddress, $0.count)
    }
  }
}
