// TaskModel
