def notes_of(config, problem):
    return ()
