"""The C interface from Python without any package: translate.py LIBTRIL MODEL < text"""
import ctypes, sys

tril = ctypes.CDLL(sys.argv[1])
handle, text, error = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
for name, result, arguments in [
    ("tril_model_open", handle, [text, handle, error]),
    ("tril_options_new", handle, []),
    ("tril_options_set", None, [handle, text, text]),
    ("tril_options_free", None, [handle]),
    ("tril_translator_new", handle, [handle, handle, error]),
    ("tril_translate", handle, [handle, text, error]),
    ("tril_error_message", text, [handle]),
    ("tril_error_free", None, [handle]),
    ("tril_string_free", None, [handle]),
    ("tril_translator_free", None, [handle]),
    ("tril_model_free", None, [handle]),
]:
    function = getattr(tril, name)
    function.restype, function.argtypes = result, arguments


def call(function, *arguments):
    """Calls a function that can fail. Raises the error's message."""
    error = ctypes.c_void_p()
    result = function(*arguments, ctypes.byref(error))
    if result:
        return result
    message = tril.tril_error_message(error).decode()
    tril.tril_error_free(error)
    raise RuntimeError(message)


model = call(tril.tril_model_open, sys.argv[2].encode(), None)
options = tril.tril_options_new()
tril.tril_options_set(options, b"beam-size", b"4")
translator = call(tril.tril_translator_new, model, options)
for line in sys.stdin:
    result = call(tril.tril_translate, translator, line.rstrip("\n").encode())
    print(ctypes.string_at(result).decode())
    tril.tril_string_free(result)
tril.tril_translator_free(translator)
tril.tril_options_free(options)
tril.tril_model_free(model)
