import TaskModel

/// A run that is handed out a moment ahead, so that it can begin on time.
struct HeldOrder {
  let order: RunOrder
  let due: WallTime
}
