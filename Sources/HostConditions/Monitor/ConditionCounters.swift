/// Counters of the monitor's thread, for tests.
package struct ConditionCounters: Sendable, Hashable {
  /// How often it woke.
  package var wakeUps = 0
  /// How often it read all interfaces and routes.
  package var dumps = 0
  /// How often the kernel had lost messages about them.
  package var overruns = 0
  /// How many readings of conditions it took.
  package var readings = 0
}
