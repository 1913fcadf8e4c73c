package import TaskModel

/// A unique key of an identifier, which one live request of the fleet has at most.
package struct FleetUniqueKey: Sendable, Hashable {
  package let identifier: TaskIdentifier
  package let key: String

  package init(_ identifier: TaskIdentifier, _ key: String) { (self.identifier, self.key) = (identifier, key) }
}
