print("taskhost")
