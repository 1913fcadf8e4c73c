import CTaskHost
import TaskModel

/// A plugin's function that receives JSON texts. Called on the thread that asked for them, without any lock held.
struct TextVisitor {
  private let visit: (UnsafePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Void
  private let context: UnsafeMutableRawPointer?

  /// Throws `invalid` for NULL.
  init(_ visit: taskhost_text_visitor?, _ context: UnsafeMutableRawPointer?) throws(CallFailure) {
    guard let visit else { throw CallFailure(.invalid, "visit is NULL") }
    self.visit = visit
    self.context = context
  }

  /// Visits the answer to a question that has one page.
  func visit(_ task: taskhost_task, _ question: PluginQuestion) throws(CallFailure) {
    let run = try RunTable.shared.forRequests(task)
    for text in try run.services.answer(to: question, for: run.context).texts { show(text) }
  }

  /// Visits the texts of all pages, at most `left`, from which it takes away what it has visited.
  ///
  /// - Parameter question: The question for the page after an id; nil: for the first one.
  func visitAll(
    _ task: taskhost_task, _ left: inout Int, question: (_ next: String?) throws(CallFailure) -> PluginQuestion
  ) throws(CallFailure) {
    var next: String?
    repeat {
      // Looked up again for each page, because the run may be over by now.
      let run = try RunTable.shared.forRequests(task)
      let page = try run.services.answer(to: try question(next), for: run.context)
      for text in page.texts.prefix(left) { show(text) }
      left -= min(left, page.texts.count)
      next = page.next
    } while next != nil && left > 0
  }

  private func show(_ text: [UInt8]) {
    // One additional zero byte, so that it can be read as a C string.
    (text + [0]).withUnsafeBytes { bytes in visit(bytes.assumingMemoryBound(to: CChar.self).baseAddress, text.count, context) }
  }
}
