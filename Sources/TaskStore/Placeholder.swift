// TaskStore
