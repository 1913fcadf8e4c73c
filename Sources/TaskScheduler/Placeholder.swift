// TaskScheduler
