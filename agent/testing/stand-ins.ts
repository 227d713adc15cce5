import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Stand-ins for programs that Debian does not package, and for Puppet, which takes seconds to start. They check their
 * arguments and speak the protocol of the real programs. They do not run PowerShell, Puppet, Chef or Salt.
 */
const standIns: Readonly<Record<string, string>> = {
  pwsh: String.raw`
import json, os, re, sys, time
if sys.argv[1:] == ['--version']:
    print('PowerShell 7.4.6')
    sys.exit(0)
assert sys.argv[1:4] == ['-NoProfile', '-NonInteractive', '-File'], sys.argv
host, entry = sys.argv[4:]
assert open(host).read().lstrip().startswith('param([string] $annexPath)')

def read(path):
    text = open(path).read()
    sourced = re.findall(r'^\. "\$PSScriptRoot/(.*)"$', text, re.M)
    return text + ''.join('\n' + read(os.path.join(os.path.dirname(path), each)) for each in sourced)

loaded = None
def answer(frame):
    global loaded
    name = frame['function']
    if name is not None and loaded is None:
        loaded = {key: [body, 0] for key, body in re.findall(r'^function (\S+) \{(.*)\}$', read(entry), re.M)}
    if name is not None and name not in loaded:
        return {'unknown': True}
    body = read(entry) if name is None else loaded[name][0]
    print('host: ' + str(name), flush=True)
    code = re.search(r'exit (\d+)', body)
    if code and name is None:
        return {'exit': int(code.group(1))}
    if code:
        os._exit(int(code.group(1)))
    if 'throw' in body:
        return {'error': {'message': 'thrown', 'type': 'RuntimeException', 'stack': ['at ' + name], 'causes': [], 'info': None}}
    if 'Start-Sleep' in body:
        time.sleep(300)
    count = 0
    if name is not None:
        loaded[name][1] += 1
        count = loaded[name][1]
    return {'value': [dict(frame, count=count)]}

for line in os.fdopen(3, 'rb'):
    os.write(4, json.dumps(answer(json.loads(line)), separators=(',', ':')).encode() + b'\n')
`,
  puppet: String.raw`
import json, os, re, sys
if sys.argv[1:] == ['--version']:
    print('7.23.0')
    sys.exit(0)
manifest = open(sys.argv[-1]).read()
facts = {key[7:]: value for key, value in os.environ.items() if key.startswith('FACTER_')}
print(json.dumps({'arguments': sys.argv[1:-1], 'facts': facts, 'manifest': manifest}))
code = re.search(r'# exit (\d+)', manifest)
sys.exit(int(code.group(1)) if code else 0)
`,
  'chef-solo': String.raw`
import json, os, re, sys
if sys.argv[1:] == ['--version']:
    print('Chef Infra Client: 18.2.7')
    sys.exit(0)
assert sys.argv[1] == '-c' and sys.argv[3] == '-j' and sys.argv[5:] == ['--no-color'], sys.argv
settings = dict(line.rstrip().split(' ', 1) for line in open(sys.argv[2]))
node = json.load(open(sys.argv[4]))
recipe = re.fullmatch(r'recipe\[(.*)::(.*)\]', node.pop('run_list')[0])
for folder in re.findall(r"'([^']*)'", settings['cookbook_path']):
    path = os.path.join(folder, recipe.group(1), 'recipes', recipe.group(2) + '.rb')
    if os.path.exists(path):
        text = open(path).read()
        print(json.dumps({'recipe': text, 'node': node}))
        code = re.search(r'# exit (\d+)', text)
        sys.exit(int(code.group(1)) if code else 0)
print('no such recipe', file=sys.stderr)
sys.exit(1)
`,
  berks: `
import os, sys
assert sys.argv[1] == 'vendor' and sys.argv[3] == '-b', sys.argv
name = open(sys.argv[4]).read().strip()
if name == 'none':
    sys.exit(4)
os.makedirs(os.path.join(sys.argv[2], name, 'recipes'))
open(os.path.join(sys.argv[2], name, 'recipes', 'default.rb'), 'w').write('vendored')
`,
  'salt-call': String.raw`
import json, os, re, sys
if sys.argv[1:] == ['--version']:
    print('salt-call 3006.9 (Sulfur)')
    sys.exit(0)
options = dict(each.split('=', 1) for each in sys.argv if each.startswith('--') and '=' in each)
for flag in ('--local', '--retcode-passthrough', '--out=json', '--no-color'):
    assert flag in sys.argv, sys.argv
name, *given = [each for each in sys.argv[1:] if not each.startswith('--')]
def yaml(text):
    return text if '#' in text else json.loads(text)
if name == 'state.apply':
    text = open(os.path.join(options['--file-root'], given[0].replace('.', '/') + '.sls')).read()
    folder = options['--pillar-root']
    top = json.loads(open(os.path.join(folder, 'top.sls')).read().split('\n', 1)[1])
    pillar = json.loads(open(os.path.join(folder, top['base']['*'][0] + '.sls')).read().split('\n', 1)[1])
    value = {'pillar': pillar, 'test': 'test=True' in given}
else:
    text = 'not JSON' if name == 'test.broken' else ''
    pairs = [re.fullmatch(r'([^\W\d]\w*)=(.*)', each) for each in given]
    value = {'function': name, 'modules': os.listdir(options['--module-dirs']),
             'args': [yaml(each) for each, pair in zip(given, pairs) if not pair],
             'kwargs': {pair.group(1): yaml(pair.group(2)) for pair in pairs if pair}}
print(text if text == 'not JSON' else json.dumps({'local': value}, indent=4))
code = re.search(r'# exit (\d+)', text)
sys.exit(int(code.group(1)) if code else 0)
`,
};

/** Writes the stand-ins into a folder, and returns a PATH that begins with this folder. */
export function writeStandIns(folder: string, names: readonly string[] = Object.keys(standIns)): string {
  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    const file = join(folder, name);
    writeFileSync(file, `#!/usr/bin/env python3${standIns[name] ?? ''}`);
    chmodSync(file, 0o755);
  }
  return `${folder}:${process.env.PATH}`;
}
