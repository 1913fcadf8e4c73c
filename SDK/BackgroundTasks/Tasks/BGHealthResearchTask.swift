/// A run of minutes in a health research study.
open class BGHealthResearchTask: BGProcessingTask, @unchecked Sendable {}  // reason: has nothing of its own
