import SchedulingLimits
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

extension World {
  /// The plugin that the limits are not about.
  static let other = TaskIdentifier.sample("org.example.other")

  /// Two plugins with eight runs each; `change` sets what the operator limits for the host, and for the first of them.
  static func limited(_ change: (inout SchedulingPolicy, inout PluginLimits) throws -> Void) throws -> World {
    var policy = SchedulingPolicy()
    var limits = PluginLimits()
    try change(&policy, &limits)
    policy.limits[.sample()] = limits
    return try World(policy, handlers: [.sample(runs: 8), .sample(other, runs: 8)])
  }
}
