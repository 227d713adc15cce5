/**
 * The program that runs a Body in its own process, for Python 3.6 and later. Reads frames from descriptor 3, and writes
 * frames to descriptor 4. Puts the syntax tree of the Body into a function, so that `return` works and line numbers do
 * not change.
 */
export const bodyProgram = String.raw`
import _thread
import json
import os
import sys

# Every import delays the start of the Body, so other modules are not imported here.
_Module = type(sys)
_Generator = type((lambda: (yield))())
_only_ast = 0x400
_from_agent = os.fdopen(3, 'rb')
_lock = _thread.RLock()
_reserve = [bytearray(1 << 20)]
os.set_inheritable(3, False)
os.set_inheritable(4, False)


def _close_pipes():
    for number in (3, 4):
        try:
            os.close(number)
        except OSError:
            pass


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_close_pipes)


def _write(frame):
    data = frame.encode('utf-8', 'surrogatepass') + b'\n'
    with _lock:
        while data:
            data = data[os.write(4, data):]


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in dict.items(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


_encode = json.JSONEncoder(allow_nan=False).encode


def _json(value):
    try:
        return _encode(value)
    except TypeError:
        # A parameter named "items" hides the method that the encoder calls.
        return _encode(_plain(value))


class MissingParameter(AttributeError, KeyError):
    """The plan does not have this parameter."""

    def __init__(self, name):
        AttributeError.__init__(self, 'The plan has no parameter %r.' % (name,))
        self.parameter = name

    def __str__(self):
        return 'The plan has no parameter %r.' % (self.parameter,)


class PlanError(Exception):
    """A call of the Body failed."""

    def __init__(self, message, code=1, kind=None, info=None, stack=(), causes=()):
        Exception.__init__(self, message)
        self.code = code
        self.kind = kind
        self.info = info
        self.remote_stack = list(stack)
        self.remote_causes = list(causes)

    def __getattr__(self, name):
        info = self.__dict__.get('info')
        names = {'exit_code': 'exitCode', 'exitCode': 'exitCode', 'stdout': 'stdout', 'stderr': 'stderr'}
        if name in names and isinstance(info, dict):
            return info.get(names[name])
        raise AttributeError(name)


class ScriptError(PlanError):
    """A script failed."""


class ScriptTimeout(ScriptError):
    """A script timed out."""


class FileUnavailable(PlanError):
    """A file is not available."""


class StateUnavailable(PlanError):
    """The plan has no Service, and therefore no state."""


class CustomException(Exception):
    """Ends the plan with error code 100 + code, as in the murano-agent."""

    def __init__(self, code, message='', additional_data=None):
        Exception.__init__(self, message)
        self.code = code
        self.additional_data = additional_data


_errors = {cls.__name__: cls for cls in (ScriptError, ScriptTimeout, FileUnavailable, StateUnavailable)}


def _error_of(frame):
    cls = _errors.get(frame.get('type'), PlanError)
    return cls(frame.get('message', ''), frame.get('code', 1), frame.get('type'), frame.get('info'),
               frame.get('stack') or (), frame.get('causes') or ())


class Parameters(dict):
    """Parameters, by attribute and by index. A parameter hides a method with the same name."""

    def __getattribute__(self, name):
        if not (name.startswith('__') and name.endswith('__')):
            if dict.__contains__(self, name):
                return dict.__getitem__(self, name)
        try:
            return dict.__getattribute__(self, name)
        except AttributeError:
            raise MissingParameter(name) from None

    def __missing__(self, name):
        raise MissingParameter(name)

    def __setattr__(self, name, value):
        self[name] = value


def _wrapped(value):
    if isinstance(value, dict):
        return Parameters((key, _wrapped(each)) for key, each in value.items())
    if isinstance(value, list):
        return [_wrapped(each) for each in value]
    return value


class ExitCode(int):
    """The exit code of a script, with the output as attributes."""

    def __new__(cls, facts):
        self = int.__new__(cls, facts['code'])
        self.stdout = facts.get('stdout')
        self.stderr = facts.get('stderr')
        self.truncated = bool(facts.get('truncated'))
        if 'changed' in facts:
            self.changed = facts['changed']
        return self

    @property
    def exitCode(self):
        return int(self)

    exit_code = exitCode

    def __getitem__(self, name):
        try:
            return getattr(self, name)
        except (AttributeError, TypeError):
            raise KeyError(name)


class Output(dict):
    """The JSON object that a script wrote, with the script's exit code."""

    def __init__(self, value, code):
        dict.__init__(self, value)
        self.exitCode = self.exit_code = code


_count = [0]


def _line():
    here = sys._getframe(1)
    while here is not None and here.f_code.co_filename != '<plan>':
        here = here.f_back
    return None if here is None else here.f_lineno


def _ask(frame, args, kwargs):
    with _lock:
        number = _count[0] + 1
        frame = dict(frame, n=number, args=list(args), kwargs=kwargs, line=_line())
        text = _json(frame)
        _count[0] = number
        _write(text)
        line = _from_agent.readline()
        if not line:
            os._exit(3)
        answer = json.loads(line.decode('utf-8'))
        if 'error' in answer:
            raise _error_of(answer['error'])
        if 'exit' in answer:
            return ExitCode(answer['exit'])
        value = answer.get('value')
        return Output(value, answer['exitCode']) if 'exitCode' in answer and isinstance(value, dict) else value


class _Function(object):
    def __init__(self, script, name):
        self._script = script
        self._name = name

    def __call__(self, *args, **kwargs):
        return _ask({'call': 'script', 'script': self._script, 'function': self._name}, args, kwargs)


class Script(object):
    """A script of the plan. The Body can call the whole script or one of its functions."""

    def __init__(self, name):
        object.__setattr__(self, '__name__', name)

    def __call__(self, *args, **kwargs):
        return _ask({'call': 'script', 'script': self.__name__, 'function': None}, args, kwargs)

    def __getattr__(self, name):
        if name.startswith('__') and name.endswith('__'):
            raise AttributeError(name)
        return _Function(self.__name__, name)


class Scripts(object):
    """All scripts of the plan, by index and by attribute."""

    def __init__(self, names):
        object.__setattr__(self, '__dict__', {name: Script(name) for name in names})

    def __getitem__(self, name):
        return self.__dict__[name]

    def __contains__(self, name):
        return name in self.__dict__

    def __iter__(self):
        return iter(self.__dict__)

    def __len__(self):
        return len(self.__dict__)


def _shown(value):
    if isinstance(value, str):
        return value
    try:
        return _json(value)
    except Exception:
        return str(value)


class Api(object):
    """The functions that the agent offers to plans."""

    def _log(self, level, value, exception_info, notify):
        frame = {'log': level, 'body': _shown(value), 'notify': bool(notify)}
        if exception_info:
            error = exception_info if isinstance(exception_info, BaseException) else sys.exc_info()[1]
            if error is not None:
                frame['except'] = _described(error)
        _write(_json(frame))

    def logDebug(self, object, exception_info=False, notify=True):
        self._log('debug', object, exception_info, notify)

    def logInfo(self, object, exception_info=False, notify=True):
        self._log('info', object, exception_info, notify)

    def logWarning(self, object, exception_info=False, notify=True):
        self._log('warning', object, exception_info, notify)

    def logError(self, object, exception_info=False, notify=True):
        self._log('error', object, exception_info, notify)

    def logFatalError(self, object, exception_info=True, notify=True):
        self._log('fatal', object, exception_info, notify)

    def __getattr__(self, name):
        if name not in _api_calls:
            raise AttributeError('api has no %r.' % (name,))

        def call(*args, **kwargs):
            return _ask({'call': 'api', 'name': name}, args, kwargs)

        return call


_api_calls = ('setState', 'getState', 'removeState', 'reboot', 'waitReboot', 'expectReboots', 'putFile', 'addFile',
              'version', 'setExitCode')
_lines = []


def _stack(error):
    rows = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == '<plan>':
            number = trace.tb_lineno
            name = 'Body' if code.co_name == '__body__' else code.co_name
            text = _lines[number - 1].strip() if 0 < number <= len(_lines) else ''
            rows.append('<plan>:%d in %s: %s' % (number, name, text[:500]))
            if len(rows) > 200:
                del rows[100]
        trace = trace.tb_next
    return rows


def _message(error):
    if isinstance(error, SystemExit):
        return 'The Body called sys.exit(%s).' % ('' if error.code is None else repr(error.code))
    try:
        text = str(error)
    except Exception:
        text = ''
    return text[:65536]


def _info(error):
    info = getattr(error, 'info', None) if isinstance(error, PlanError) else None
    if isinstance(error, CustomException):
        info = error.additional_data
    if isinstance(error, MissingParameter):
        info = {'parameter': error.parameter}
    if isinstance(error, SyntaxError):
        info = {'line': error.lineno, 'column': error.offset}
    try:
        _json(info)
        return info
    except Exception:
        return None


def _type(error):
    if isinstance(error, PlanError) and error.kind:
        return error.kind
    return type(error).__name__


def _described(error, depth=0, seen=()):
    causes = []
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    if cause is not None and depth < 10 and id(cause) not in seen:
        causes.append(_described(cause, depth + 1, seen + (id(error),)))
    if isinstance(error, PlanError):
        causes = error.remote_causes + causes
    return {'message': _message(error), 'type': _type(error), 'stack': _stack(error), 'causes': causes,
            'info': _info(error)}


def _code(error):
    if isinstance(error, PlanError):
        return error.code
    if isinstance(error, CustomException):
        code = error.code
        return 100 + code if isinstance(code, int) and 0 <= code <= 2147483547 else 1
    if isinstance(error, MissingParameter):
        return 6
    return 4 if isinstance(error, ImportError) else 1


def _tree(source):
    return compile(source, '<plan>', 'exec', _only_ast, dont_inherit=True)


def _parsed(body):
    try:
        return _tree(body)
    except IndentationError as error:
        first = next((index for index, line in enumerate(body.split('\n')) if line.strip()), 0)
        if error.lineno != first + 1:
            raise
        import textwrap
        return _tree(textwrap.dedent(body))


def _compiled(body):
    tree = _parsed(body)
    wrapper = _tree('def __body__(): pass')
    wrapper.body[0].body = tree.body or wrapper.body[0].body
    return compile(wrapper, '<plan>', 'exec', dont_inherit=True)


def _namespace(plan):
    names = {'__builtins__': __builtins__, '__name__': '__plan__'}
    for cls in (MissingParameter, ScriptError, ScriptTimeout, FileUnavailable, StateUnavailable):
        names[cls.__name__] = cls
    scripts = Scripts(plan['scripts'])
    names['scripts'] = scripts
    return names, scripts


def _murano_module():
    package = _Module('muranoagent')
    package.__path__ = []
    module = _Module('muranoagent.exceptions')
    module.CustomException = CustomException
    package.exceptions = module
    sys.modules['muranoagent'] = package
    sys.modules['muranoagent.exceptions'] = module


def _run(plan):
    body = plan['body']
    _lines.extend(body.split('\n'))
    names, scripts = _namespace(plan)
    try:
        exec(_compiled(body), names)
    except Exception as error:
        return {'failed': dict(_described(error), code=4, stack=[], causes=[])}
    function = names.pop('__body__')
    for name in plan['scripts']:
        names[name] = scripts[name]
    names['args'] = _wrapped(plan['parameters'])
    names['api'] = Api()
    try:
        value = function()
    except MemoryError as error:
        del _reserve[:]
        stack = _stack(error)
        error.__traceback__ = None
        return {'failed': {'message': 'The Body has no memory left.', 'type': 'MemoryError', 'stack': stack,
                           'causes': [], 'info': None, 'code': 1}}
    except BaseException as error:
        return {'failed': dict(_described(error), code=_code(error))}
    if isinstance(value, _Generator):
        value = NotImplemented
    try:
        return '{"done":%s}' % _json(value)
    except Exception as error:
        message = 'The Body returned a value that JSON cannot carry: %s.' % (str(error).rstrip('.') or type(error).__name__)
        return {'failed': {'message': message, 'type': type(error).__name__, 'stack': [], 'causes': [], 'info': None,
                           'code': 1}}


def _main():
    _murano_module()
    plan = json.loads(_from_agent.readline().decode('utf-8'))['plan']
    end = _run(plan)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    _write(end if isinstance(end, str) else _json(end))
    os._exit(0)


_main()
`;
