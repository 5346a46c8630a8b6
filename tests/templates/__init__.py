"""Chat templates of real models: are they rendered, and their calls read, as their makers mean it?"""
