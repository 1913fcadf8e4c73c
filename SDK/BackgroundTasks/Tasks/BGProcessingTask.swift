/// A run of minutes: 10, unless the operator's configuration says otherwise.
open class BGProcessingTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own
