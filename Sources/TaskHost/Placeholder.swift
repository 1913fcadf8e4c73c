// TaskHost
