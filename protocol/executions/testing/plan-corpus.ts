import type { PlanCode } from '../plan-faults.ts';

/** A plan, its expected error code (0 if the plan can run) and the paths of its expected faults. */
export interface CorpusPlan {
  name: string;
  /** The plan as JSON text. */
  text: string;
  code: PlanCode | 0;
  paths: string[];
}

/** Platforms of the machine on which the plans of the corpus would run. */
export const corpusPlatforms = {
  Application: { version: '2.0.0' },
  Bash: { version: '5.2.15' },
  Python: { version: '3.11.2' },
  Puppet: { version: '7.23.0' },
};

/** JSON text in place of a value that `JSON.stringify` cannot write, such as a deeply nested array. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the JSON text of an object that contains `levels` levels of arrays. */
function nested(levels: number): Raw {
  return new Raw(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
}

type Row = [name: string, plan: unknown, code: PlanCode | 0, paths?: string[]];

const v2 = (rest: object = {}) => ({ FormatVersion: '2.0.0', ...rest });
const format = (version: unknown) => ({ FormatVersion: version });
const file = (rest: object = {}) => ({ Name: 'a.sh', BodyType: 'Text', Body: 'true\n', ...rest });
const script = (rest: object = {}) => ({ Type: 'Bash', EntryPoint: 'f1', ...rest });
const withFile = (rest: object) => v2({ Files: { f1: file(rest) } });
const withScript = (rest: object, files: object = { f1: file() }) =>
  v2({ Scripts: { hello: script(rest) }, Files: files });
const withOptions = (options: unknown, type = 'Bash') => withScript({ Type: type, Options: options });
const long = 'x'.repeat(257);
const named = (name: string) => withFile({ Name: name });
const uri = (body: string) => withFile({ BodyType: 'URI', Body: body });
const at = {
  format: ['/FormatVersion'],
  name: ['/Files/f1/Name'],
  body: ['/Files/f1/Body'],
  option: (name: string) => [`/Scripts/hello/Options/${name}`],
};
const command = (rest: object = {}) => ({ Name: 'Install', Arguments: {}, ...rest });

const formats: Row[] = [
  ['format 2.0.0 without anything else', v2(), 0],
  ['format 2.0.0 with a build', format('2.0.0+x'), 0],
  ['format 2.1.0', format('2.1.0'), 0],
  ['format 2.99.0', format('2.99.0'), 0],
  ['format 2.0.1-rc.1', format('2.0.1-rc.1'), 0],
  ['format 3.0.0', format('3.0.0'), 9, at.format],
  ['format 3.0.0-alpha', format('3.0.0-alpha'), 9, at.format],
  ['format 10.1.2', format('10.1.2'), 9, at.format],
  ['format 3.0.0 with other faults', { ...format('3.0.0'), Action: 7, Scripts: [] }, 9, at.format],
  ['format 2', format('2'), 2, at.format],
  ['format 2.0', format('2.0'), 2, at.format],
  ['format 2.0 as a number', format(2), 2, at.format],
  ['format v2.0.0', format('v2.0.0'), 2, at.format],
  ['format with a space', format(' 2.0.0'), 2, at.format],
  ['format 02.0.0', format('02.0.0'), 2, at.format],
  ['format with too many numbers', format('2.0.0.0'), 2, at.format],
  ['empty format', format(''), 2, at.format],
  ['format null', format(null), 2, at.format],
  ['format of 9,999 digits', format('9'.repeat(9_999)), 2, at.format],
  ['format below 2.0.0 without commands', format('2.0.0-rc.1'), 2, ['/Commands']],
];

const topLevel: Row[] = [
  ['no object', [v2()], 2, ['']],
  ['a text', 'plan', 2, ['']],
  ['null', null, 2, ['']],
  ['a Body', v2({ Body: 'return' }), 0],
  ['an empty Body', v2({ Body: '' }), 0],
  ['empty scripts', v2({ Body: 'return', Scripts: {} }), 0],
  ['a Body that is a list', v2({ Body: ['return'] }), 2, ['/Body']],
  ['a Body that is null', v2({ Body: null }), 2, ['/Body']],
  ['the action Execute', v2({ Action: 'Execute' }), 0],
  ['the action execute', v2({ Action: 'execute' }), 0],
  ['the action EXECUTE', v2({ Action: 'EXECUTE' }), 0],
  ['another action', v2({ Action: 'Configure' }), 2, ['/Action']],
  ['an empty action', v2({ Action: '' }), 2, ['/Action']],
  ['an action that is a number', v2({ Action: 1 }), 2, ['/Action']],
  ['a name with a line end', v2({ Name: 'a\nb' }), 0],
  ['a name that is a number', v2({ Name: 1 }), 2, ['/Name']],
  ['a name of 256 characters', v2({ Name: 'é'.repeat(256) }), 0],
  ['a name of 257 characters', v2({ Name: long }), 2, ['/Name']],
  ['a name of 128 KiB', v2({ Name: 'x'.repeat(131_072) }), 2, ['/Name']],
  ['a version', v2({ Version: '1.2.3-rc.1+b' }), 0],
  ['a version that is none', v2({ Version: '1.2' }), 2, ['/Version']],
  ['a service', v2({ Service: 'web' }), 0],
  ['a service of 256 characters', v2({ Service: 'x'.repeat(256) }), 0],
  ['a name and a service of 257 characters', v2({ Name: long, Service: long }), 2, ['/Name', '/Service']],
  ['a service that is an object', v2({ Service: {} }), 2, ['/Service']],
  ['an ID', v2({ ID: '../../x' }), 0],
  ['an ID of 256 bytes', v2({ ID: 'é'.repeat(128) }), 0],
  ['an ID of 257 bytes', v2({ ID: `${'é'.repeat(128)}x` }), 2, ['/ID']],
  ['an empty ID', v2({ ID: '' }), 2, ['/ID']],
  ['an ID with a control character', v2({ ID: 'a\u0007' }), 2, ['/ID']],
  ['an ID that is a number', v2({ ID: 7 }), 2, ['/ID']],
  ['a stamp', v2({ Stamp: 17_952_189_823_586 }), 0],
  ['a stamp that is a text', v2({ Stamp: '1' }), 2, ['/Stamp']],
  ['a stamp below 0', v2({ Stamp: -1 }), 2, ['/Stamp']],
  ['a stamp with a fraction', v2({ Stamp: 1.5 }), 2, ['/Stamp']],
  ['unknown properties', v2({ ReplyTo: 'q', Comment: { any: ['thing'] } }), 0],
  ['parameters', v2({ Parameters: { who: 'w', items: 1, class: null } }), 0],
  ['parameters that are a list', v2({ Parameters: [] }), 2, ['/Parameters']],
  ['parameters beyond their limit', v2({ Parameters: { a: 'x'.repeat(262_144) } }), 2, ['/Parameters']],
  ['half of a surrogate pair', v2({ Parameters: { a: '\ud800' } }), 2, ['/Parameters/a']],
  ['a NUL character', v2({ Parameters: { a: 'a\u0000b' } }), 2, ['/Parameters/a']],
  ['a NUL character in a name', v2({ Parameters: { 'a\u0000': 1 } }), 2, ['/Parameters/0']],
  ['a mark of direction in a name', v2({ Parameters: { 'a\u202e': 1 } }), 0],
  ['64 levels', v2({ Parameters: nested(62) }), 0],
  ['65 levels', v2({ Parameters: nested(63) }), 2, ['']],
  ['10,000 levels', v2({ Parameters: nested(9_998) }), 2, ['']],
];

const scripts: Row[] = [
  ['a script', withScript({}), 0],
  ['scripts that are a list', v2({ Scripts: [] }), 2, ['/Scripts']],
  ['a script that is a text', v2({ Scripts: { hello: 'x' } }), 2, ['/Scripts/hello']],
  [
    'a script without a type',
    v2({ Scripts: { hello: { EntryPoint: 'f1' } }, Files: { f1: file() } }),
    2,
    ['/Scripts/hello/Type'],
  ],
  ['a script without an entry point', v2({ Scripts: { hello: { Type: 'Bash' } } }), 2, ['/Scripts/hello/EntryPoint']],
  ['a script without both', v2({ Scripts: { hello: {} } }), 2, ['/Scripts/hello/Type', '/Scripts/hello/EntryPoint']],
  ['a script whose type is a number', withScript({ Type: 1 }), 2, ['/Scripts/hello/Type']],
  ['a missing entry point', withScript({}, {}), 7, ['/Scripts/hello/EntryPoint']],
  ['a missing file', withScript({ Files: ['f2'] }), 7, ['/Scripts/hello/Files/0']],
  ['the entry point __proto__', withScript({ EntryPoint: '__proto__' }), 7, ['/Scripts/hello/EntryPoint']],
  ['the entry point constructor', withScript({ EntryPoint: 'constructor' }), 7, ['/Scripts/hello/EntryPoint']],
  ['an entry point that is a number', withScript({ EntryPoint: 1 }), 2, ['/Scripts/hello/EntryPoint']],
  ['an entry point that is a list', withScript({ EntryPoint: ['f1'] }), 2, ['/Scripts/hello/EntryPoint']],
  ['files that are an object', withScript({ Files: {} }), 2, ['/Scripts/hello/Files']],
  [
    'files that are numbers',
    withScript({ Files: [1, 'f1', null] }),
    2,
    ['/Scripts/hello/Files/0', '/Scripts/hello/Files/2'],
  ],
  ['the entry point among the files', withScript({ Files: ['f1'] }), 0],
  ['two files', withScript({ Files: ['f2'] }, { f1: file(), f2: file({ Name: 'lib/b.sh' }) }), 0],
  ['two files with one name', withScript({ Files: ['f2'] }, { f1: file(), f2: file() }), 2, ['/Scripts/hello/Files/0']],
  [
    'case 8: a file that is the folder of another',
    withScript({ Files: ['f2'] }, { f1: file({ Name: 'lib' }), f2: file({ Name: 'lib/b.sh' }) }),
    2,
    ['/Scripts/hello/Files/0'],
  ],
  ['the script args', v2({ Scripts: { args: script() }, Files: { f1: file() } }), 2, ['/Scripts/args']],
  ['the script api', v2({ Scripts: { api: script() }, Files: { f1: file() } }), 2, ['/Scripts/api']],
  ['a script without a name', v2({ Scripts: { '': script() }, Files: { f1: file() } }), 2, ['/Scripts/']],
  ['the script scripts', v2({ Scripts: { scripts: script() }, Files: { f1: file() } }), 0],
  ['the script class', v2({ Scripts: { class: script() }, Files: { f1: file() } }), 0],
  ['the script __body__', v2({ Scripts: { __body__: script() }, Files: { f1: file() } }), 0],
  ['the script constructor', v2({ Scripts: { constructor: script() }, Files: { f1: file() } }), 0],
  [
    'the script __proto__',
    v2({ Scripts: new Raw('{"__proto__":{"Type":"Bash"}}') }),
    2,
    ['/Scripts/__proto__/EntryPoint'],
  ],
  ['100 scripts', v2({ Scripts: many(100, script()), Files: { f1: file() } }), 0],
  ['101 scripts', v2({ Scripts: many(101, script()), Files: { f1: file() } }), 2, ['/Scripts']],
  ['100,000 scripts', v2({ Scripts: many(100_000, script()), Files: { f1: file() } }), 2, ['/Scripts']],
];

function many(count: number, value: object): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, value]));
}

const platforms: Row[] = [
  ['a type that nothing runs', withScript({ Type: 'VBScript' }), 3, ['/Scripts/hello/Type']],
  ['a type in another case', withScript({ Type: 'bash' }), 3, ['/Scripts/hello/Type']],
  ['a type that this machine does not run', withScript({ Type: 'PowerShell' }), 3, ['/Scripts/hello/Type']],
  ['the type __proto__', withScript({ Type: '__proto__' }), 3, ['/Scripts/hello/Type']],
  ['the version of the machine', withScript({ Version: '5.2.15' }), 0],
  ['a shorter version', withScript({ Version: '5' }), 0],
  ['an older version', withScript({ Version: '4.10.3' }), 0],
  ['a newer version', withScript({ Version: '5.10' }), 3, ['/Scripts/hello/Version']],
  ['a version that is none', withScript({ Version: 'new' }), 2, ['/Scripts/hello/Version']],
  ['a version that is a number', withScript({ Version: 5 }), 2, ['/Scripts/hello/Version']],
  ['a class of Puppet', { ...withScript({ Type: 'Puppet', EntryPoint: 'web::server' }), FormatVersion: '2.1.0' }, 0],
  [
    'a class of Puppet in format 2.0.0',
    withScript({ Type: 'Puppet', EntryPoint: 'web::server' }),
    7,
    ['/Scripts/hello/EntryPoint'],
  ],
  [
    'a class of Bash',
    { ...withScript({ EntryPoint: 'web::server' }), FormatVersion: '2.1.0' },
    7,
    ['/Scripts/hello/EntryPoint'],
  ],
];

const options: Row[] = [
  ['no options', withOptions({}), 0],
  ['options that are a list', withOptions([]), 5, ['/Scripts/hello/Options']],
  ['options that are null', withOptions(null), 5, ['/Scripts/hello/Options']],
  [
    'all common options',
    withOptions({
      timeout: 1.5,
      verifyExitcode: false,
      captureStdout: true,
      captureStderr: false,
      environment: { A: '{0}' },
      stdin: '{a}',
      reboots: true,
    }),
    0,
  ],
  ['a timeout that is a text', withOptions({ timeout: 'x' }), 5, at.option('timeout')],
  ['a timeout below 0', withOptions({ timeout: -1 }), 5, at.option('timeout')],
  ['a timeout of a week', withOptions({ timeout: 604_800 }), 0],
  ['a timeout of a billion seconds', withOptions({ timeout: 1e9 }), 5, at.option('timeout')],
  ['an unknown option', withOptions({ retry: 3 }), 5, at.option('retry')],
  ['two unknown options', withOptions({ retry: 3, wait: 1 }), 5, [...at.option('retry'), ...at.option('wait')]],
  ['an option of another type', withOptions({ commandLine: 'x' }), 5, at.option('commandLine')],
  ['verifyExitcode as a text', withOptions({ verifyExitcode: 'true' }), 5, at.option('verifyExitcode')],
  ['a shell', withOptions({ shell: 'sh' }), 0],
  ['another shell', withOptions({ shell: 'zsh' }), 5, at.option('shell')],
  ['an environment that is a list', withOptions({ environment: [] }), 5, at.option('environment')],
  ['a variable that is a number', withOptions({ environment: { A: 1 } }), 5, at.option('environment/A')],
  ['a variable with an invalid name', withOptions({ environment: { 'A=B': '' } }), 5, at.option('environment/A=B')],
  ['a variable with an open brace', withOptions({ environment: { A: '{0' } }), 5, at.option('environment/A')],
  ['an open brace in stdin', withOptions({ stdin: '}' }), 5, at.option('stdin')],
  ['a command line', withOptions({ commandLine: '--to {0} "{name} x" {*}' }, 'Application'), 0],
  [
    'a command line with an open quote and brace',
    withOptions({ commandLine: '"{0' }, 'Application'),
    5,
    at.option('commandLine'),
  ],
  ['a command line with an open quote', withOptions({ commandLine: "'x" }, 'Application'), 5, at.option('commandLine')],
  ['a command line with an argument that may be missing', withOptions({ commandLine: '{9}' }, 'Application'), 0],
  ['a command line that is a list', withOptions({ commandLine: [] }, 'Application'), 5, at.option('commandLine')],
  ['options of Puppet', withOptions({ noop: true }, 'Puppet'), 0],
  [
    'options of a type that the machine lacks',
    withOptions({ useBerkshelf: 1 }, 'Chef'),
    3,
    ['/Scripts/hello/Type', '/Scripts/hello/Options/useBerkshelf'],
  ],
];

const files: Row[] = [
  ['files that are a list', v2({ Files: [] }), 2, ['/Files']],
  ['a file that is a text', v2({ Files: { f1: 'x' } }), 2, ['/Files/f1']],
  ['a file without anything', v2({ Files: { f1: {} } }), 2, ['/Files/f1/Name', '/Files/f1/BodyType', '/Files/f1/Body']],
  ['200 files', v2({ Files: many(200, file()) }), 0],
  ['201 files', v2({ Files: many(201, file()) }), 2, ['/Files']],
  ['a name with folders', named('a/b/c.sh'), 0],
  ['a name with a space', named('my file.sh'), 0],
  ['a name with dots', named('..a/b..c/...'), 0],
  ['a name outside of the folder', named('../../etc/cron.d/x'), 2, at.name],
  ['an absolute name', named('/etc/x'), 2, at.name],
  ['a name with backslashes', named('a\\..\\b'), 2, at.name],
  ['a name with a drive', named('C:x'), 2, at.name],
  ['a name of 2,000 bytes', named('x'.repeat(2_000)), 2, at.name],
  ['a name of 1,024 bytes', named('x'.repeat(1_024)), 0],
  ['a name with a dot as a part', named('a/./b'), 2, at.name],
  ['a name with an empty part', named('a//b'), 2, at.name],
  ['a name that ends with a slash', named('a/'), 2, at.name],
  ['an empty name', named(''), 2, at.name],
  ['a name with a control character', named('a\u0001'), 2, at.name],
  ['a body type in another case', withFile({ BodyType: 'text' }), 2, ['/Files/f1/BodyType']],
  ['a body that is a number', withFile({ Body: 1 }), 2, at.body],
  ['an empty text', withFile({ Body: '' }), 0],
  ['case 9: base64 with spaces and line ends', withFile({ BodyType: 'Base64', Body: 'aGVs\r\nbG8 =\n' }), 0],
  ['empty base64', withFile({ BodyType: 'Base64', Body: '' }), 0],
  ['case 9: base64 with other letters', withFile({ BodyType: 'Base64', Body: 'aGV_' }), 2, at.body],
  ['base64 that is too short', withFile({ BodyType: 'Base64', Body: 'aGV' }), 2, at.body],
  ['base64 with padding in the middle', withFile({ BodyType: 'Base64', Body: 'aG==aGVs' }), 2, at.body],
  ['a file by its id', withFile({ BodyType: 'ID', Body: 'certificates/root' }), 0],
  ['a file by an empty id', withFile({ BodyType: 'ID', Body: '' }), 2, at.body],
  ['a file by an id with a line end', withFile({ BodyType: 'ID', Body: 'a\n' }), 2, at.body],
  ['a file by a long id', withFile({ BodyType: 'ID', Body: 'x'.repeat(257) }), 2, at.body],
  ['an https address', uri('https://example.com/a?b=c'), 0],
  ['an http address', uri('HTTP://example.com'), 0],
  ['a file address', uri('file:///etc/passwd'), 2, at.body],
  ['an ftp address', uri('ftp://example.com/x'), 2, at.body],
  ['a data address', uri('data:,x'), 2, at.body],
  ['a relative address', uri('/x'), 2, at.body],
  ['a checksum', withFile({ BodyType: 'URI', Body: 'https://example.com/a', Sha256: 'A'.repeat(64) }), 0],
  [
    'a checksum that is not valid',
    withFile({ BodyType: 'URI', Body: 'https://example.com/a', Sha256: 'abc' }),
    2,
    ['/Files/f1/Sha256'],
  ],
  ['the file __proto__', v2({ Files: new Raw('{"__proto__":{"Name":"a","BodyType":"Text","Body":""}}') }), 0],
];

const vCurrent: Row[] = [
  ['vCurrent with a command', { Commands: [command()], Scripts: ['eA=='] }, 3, ['/Scripts/ps/Type']],
  ['vCurrent 1.0.0', { FormatVersion: '1.0.0', Commands: [command()] }, 3, ['/Scripts/ps/Type']],
  ['vCurrent without commands', { Commands: [] }, 3, ['/Scripts/ps/Type']],
  ['an empty object', {}, 2, at.format],
  ['a Body without a format', { Body: 'return' }, 2, at.format],
  ['commands that are an object', { Commands: {} }, 2, ['/Commands']],
  ['a command that is a text', { Commands: ['x'] }, 2, ['/Commands/0']],
  ['a command without a name', { Commands: [{}] }, 2, ['/Commands/0/Name']],
  ['a command with an empty name', { Commands: [command({ Name: '' })] }, 2, ['/Commands/0/Name']],
  ['a command whose arguments are a list', { Commands: [command({ Arguments: [] })] }, 2, ['/Commands/0/Arguments']],
  ['a script that is a number', { Commands: [], Scripts: [1] }, 2, ['/Scripts/0']],
  ['a script that is not base64', { Commands: [], Scripts: ['%'] }, 2, ['/Scripts/0']],
  ['another way to restart', { Commands: [], RebootOnCompletion: 3 }, 2, ['/RebootOnCompletion']],
];

const several: Row[] = [
  [
    'codes 2, 7, 3 and 5',
    v2({
      Action: 'x',
      Scripts: { a: script({ EntryPoint: 'f9' }), b: script({ Type: 'Salt' }), c: script({ Options: { x: 1 } }) },
      Files: { f1: file() },
    }),
    2,
    ['/Action', '/Scripts/a/EntryPoint', '/Scripts/b/Type', '/Scripts/c/Options/x'],
  ],
  [
    'codes 7, 3 and 5',
    v2({
      Scripts: { c: script({ Options: { x: 1 } }), b: script({ Type: 'Salt' }), a: script({ EntryPoint: 'f9' }) },
      Files: { f1: file() },
    }),
    7,
    ['/Scripts/c/Options/x', '/Scripts/b/Type', '/Scripts/a/EntryPoint'],
  ],
  [
    'codes 3 and 5',
    v2({ Scripts: { c: script({ Options: { x: 1 } }), b: script({ Type: 'Salt' }) }, Files: { f1: file() } }),
    3,
    ['/Scripts/c/Options/x', '/Scripts/b/Type'],
  ],
];

/** Plans for which the portal and the agent must return the same code and faults (MU-21). */
export const planCorpus: readonly CorpusPlan[] = [
  ...formats,
  ...topLevel,
  ...scripts,
  ...platforms,
  ...options,
  ...files,
  ...vCurrent,
  ...several,
].map(([name, plan, code, paths = []]) => ({ name, text: textOf(plan), code, paths }));

/** Returns the JSON text of a plan; a `Raw` value is written as its text. */
function textOf(plan: unknown): string {
  const raws: string[] = [];
  const text = JSON.stringify(plan, (_, value: unknown) => {
    if (!(value instanceof Raw)) return value;
    raws.push(value.text);
    return `@raw${raws.length - 1}@`;
  });
  return text.replaceAll(/"@raw(\d+)@"/g, (_, index: string) => raws[Number(index)] ?? '');
}
