import CTaskHost
import Glibc
import TaskModel

/// The table of the extension `org.taskhost.open-files/1`. It lives as long as the process and is read-only memory.
enum OpenFilesTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_open_files>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_open_files {
    var table = taskhost_open_files()
    table.struct_size = UInt32(MemoryLayout<taskhost_open_files>.size)
    table.query = { task, directory, files, count, uses in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        let directory = try OpenFilesTable.directory(directory)
        let questions = try OpenFilesTable.questions(files, count)
        guard !questions.isEmpty else { return }
        guard let uses else { throw CallFailure(.invalid, "uses is NULL") }
        let answers = try run.services.openFiles(questions, in: directory, for: run.context)
        guard answers.count == questions.count else { throw CallFailure(.internal, "an answer about open files is of another length") }
        for (index, answer) in answers.enumerated() { uses[index] = answer.rawValue }
      }
    }
    table.launch_entitlement = { launch, directory, entitled in
      answer { () throws(CallFailure) in
        guard let entitled else { throw CallFailure(.invalid, "entitled is NULL") }
        let session = try LaunchTable.find(launch)
        entitled.pointee = try session.entitlement(to: try OpenFilesTable.directory(directory)).rawValue
      }
    }
    return table
  }

  private static func directory(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> String {
    let path = try Borrowed.text(pointer, named: "directory", limit: Limits.pathBytes)
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw CallFailure(.invalid, "\"\(path.escapingControlCharacters)\" is not absolute: begin with a slash")
    }
    return path
  }

  private static func questions(_ files: UnsafePointer<taskhost_file>?, _ count: Int) throws(CallFailure) -> [FileQuestion] {
    guard count >= 0, count <= Limits.openFiles else {
      throw CallFailure(.tooBig, "\(UInt(bitPattern: count)) files in one question, at most \(Limits.openFiles): ask several times")
    }
    guard count > 0 else { return [] }
    guard let files else { throw CallFailure(.invalid, "files is NULL with a count of \(count)") }
    var questions: [FileQuestion] = []
    questions.reserveCapacity(count)
    var bytes = 0
    for file in UnsafeBufferPointer(start: files, count: count) {
      guard let path = file.path else { throw CallFailure(.invalid, "a file's path is NULL") }
      let length = strnlen(path, Limits.pathBytes + 1)
      guard length > 0, length <= Limits.pathBytes else {
        throw CallFailure(.invalid, "a file's path has no byte or more than \(Limits.pathBytes)")
      }
      bytes += length
      guard bytes <= Limits.openFilePathBytes else {
        throw CallFailure(.tooBig, "more than \(Limits.openFilePathBytes) bytes of paths in one question: ask several times")
      }
      questions.append(
        FileQuestion(device: file.device, inode: file.inode, path: [UInt8](UnsafeRawBufferPointer(start: path, count: length))))
    }
    return questions
  }
}
