/// A short run that brings the app's data up to date: 30 s.
open class BGAppRefreshTask: BGTask, @unchecked Sendable {}  // reason: has nothing of its own
