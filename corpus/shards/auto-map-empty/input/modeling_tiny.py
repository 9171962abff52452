class TinyModel:
    pass
