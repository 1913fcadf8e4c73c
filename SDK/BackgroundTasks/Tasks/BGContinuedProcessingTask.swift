public import Foundation
import Synchronization

/// A run of work that a person started. It has no fixed budget: it expires when ``progress`` has not risen for 60 s.
open class BGContinuedProcessingTask: BGTask, ProgressReporting, @unchecked Sendable {  // reason: what changes is behind a lock
  private let titles: Mutex<(title: String, subtitle: String)>
  private let forwarded: ForwardedProgress

  init(_ run: TaskRun, title: String, subtitle: String) {
    titles = Mutex((title, subtitle))
    forwarded = ForwardedProgress(run)
    super.init(run)
  }

  deinit { forwarded.stop() }

  /// The title of the work, for people.
  open var title: String { titles.withLock { $0.title } }

  /// Details of the work, for people.
  open var subtitle: String { titles.withLock { $0.subtitle } }

  /// The progress of the work. Changes here reach the host at once; changes by children within 10 s.
  open var progress: Progress { forwarded }

  /// Changes the titles that people see, in the run's message and in a line of its log.
  open func updateTitle(_ title: String, subtitle: String) {
    titles.withLock { $0 = (title, subtitle) }
    run.show(title: title, subtitle: subtitle)
  }
}
