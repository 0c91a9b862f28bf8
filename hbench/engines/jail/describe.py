class JailReport: pass
def describe(sandbox="auto"): pass
