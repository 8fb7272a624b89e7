# Looks inside a pass through the C interface: python3 trace.py libtril.so.0 models/de "a dog runs"
import ctypes, sys

tril = ctypes.CDLL(sys.argv[1])
handle, text, size, error = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)
for name, result, arguments in [
    ("tril_model_open", handle, [text, handle, error]),
    ("tril_options_new", handle, []),
    ("tril_options_set", None, [handle, text, text]),
    ("tril_options_free", None, [handle]),
    ("tril_tracer_new", handle, [handle, handle, error]),
    ("tril_trace", handle, [handle, text, text, handle, error]),
    ("tril_traced_size", size, [handle]),
    ("tril_traced_name", text, [handle, size]),
    ("tril_traced_shape", ctypes.POINTER(ctypes.c_int64), [handle, size, ctypes.POINTER(size)]),
    ("tril_traced_type", ctypes.c_int, [handle, size]),
    ("tril_traced_data", handle, [handle, size]),
    ("tril_traced_free", None, [handle]),
    ("tril_tracer_free", None, [handle]),
    ("tril_error_message", text, [handle]),
    ("tril_error_free", None, [handle]),
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
tril.tril_options_set(options, b"only", b"decoder.*.self.weights")
tracer = call(tril.tril_tracer_new, model, options)
traced = call(tril.tril_trace, tracer, sys.argv[3].encode(), None, None)
for i in range(tril.tril_traced_size(traced)):
    rank = size()
    shape = tril.tril_traced_shape(traced, i, ctypes.byref(rank))[: rank.value]
    count = 1
    for n in shape:
        count *= n
    element = {1: ctypes.c_float, 2: ctypes.c_int32, 3: ctypes.c_uint8}[tril.tril_traced_type(traced, i)]
    values = (element * count).from_address(tril.tril_traced_data(traced, i))
    print(tril.tril_traced_name(traced, i).decode(), shape, f"{sum(values):.4f}")
tril.tril_traced_free(traced)
tril.tril_tracer_free(tracer)
tril.tril_options_free(options)
tril.tril_model_free(model)
