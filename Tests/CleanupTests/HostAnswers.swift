import OpenFiles
import TaskHostSDK
import TaskModel

/// What the host's own code answers about open files, in the words of the SDK.
enum HostAnswers {
  /// - Parameter files: Paths relative to `directory`.
  static func uses(_ files: [(device: UInt64, inode: UInt64, path: [UInt8])], in directory: String) -> [TaskHostSDK.FileUse] {
    let questions = files.map { FileQuestion(device: $0.device, inode: $0.inode, path: $0.path) }
    let answers = (try? OpenFileLook.answer(questions, in: directory)) ?? []
    return answers.map { answer in
      switch answer {
      case .unknown: .unknown
      case .open: .open
      case .notOpen: .notOpen
      }
    }
  }
}
