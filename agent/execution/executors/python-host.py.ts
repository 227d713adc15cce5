/**
 * The program that keeps a Python script loaded during an execution and calls its functions, for Python 3.6 and later.
 * Reads calls as frames from descriptor 3, and writes answers to descriptor 4.
 */
export const pythonHostProgram = String.raw`
import importlib.machinery
import importlib.util
import io
import json
import os
import sys

path = sys.argv[1]
calls = os.fdopen(3, 'rb')
os.set_inheritable(3, False)
os.set_inheritable(4, False)


def write(frame):
    data = frame.encode('utf-8') + b'\n'
    while data:
        data = data[os.write(4, data):]


def stack(error):
    rows = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename != __file__ and not code.co_filename.startswith('<frozen'):
            rows.append('%s:%d in %s' % (os.path.basename(code.co_filename), trace.tb_lineno, code.co_name))
            if len(rows) > 200:
                del rows[100]
        trace = trace.tb_next
    return rows


def described(error, depth=0):
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    causes = [described(cause, depth + 1)] if cause is not None and depth < 10 else []
    try:
        message = str(error)[:65536]
    except Exception:
        message = ''
    if isinstance(error, SystemExit):
        message = 'It called sys.exit(%s).' % ('' if error.code is None else repr(error.code))
    return {'message': message, 'type': type(error).__name__, 'stack': stack(error), 'causes': causes, 'info': None}


def load():
    sys.path.insert(0, os.path.dirname(path))
    sys.argv[:] = [path]
    spec = importlib.util.spec_from_file_location('script', path, loader=importlib.machinery.SourceFileLoader('script', path))
    module = importlib.util.module_from_spec(spec)
    sys.modules['script'] = module
    spec.loader.exec_module(module)
    return module


def answer(module, frame):
    function = getattr(module, frame['function'], None)
    if not callable(function):
        return '{"unknown":true}'
    before = dict(os.environ)
    os.environ.update(frame['environment'])
    sys.stdin = io.StringIO(frame['stdin'] or '')
    try:
        value = function(*frame['args'], **frame['kwargs'])
        return '{"value":%s}' % json.dumps(value, allow_nan=False)
    finally:
        os.environ.clear()
        os.environ.update(before)


def main():
    module = None
    for line in calls:
        frame = json.loads(line.decode('utf-8'))
        try:
            if module is None:
                module = load()
            reply = answer(module, frame)
        except BaseException as error:
            reply = json.dumps({'error': described(error)})
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        write(reply)
    os._exit(0)


main()
`;
